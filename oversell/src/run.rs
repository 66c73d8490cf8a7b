//! `oversell run`: the main job.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use app::strategies::Entry;
use chrono::{SecondsFormat, Utc};
use loadtest::catalogue::Strategy;
use loadtest::cell::{ClaimCheck, claim_check};
use loadtest::deployment::Deployment;
use loadtest::environment::Environment;
use loadtest::experiment::{Experiment, MakeWorld, World};
use loadtest::facts::STORES;
use loadtest::load::Load;
use loadtest::plan::{self, Wanted};
use loadtest::result::{RunResult, SCHEMA_VERSION};
use loadtest::threats::{self, Threat};
use stack::ServerKind;

use crate::exit::{AS_DESIGNED, INCONCLUSIVE, INTERRUPTED, NOT_AS_DESIGNED, Usage};
use crate::interrupt::Stop;
use crate::options::{RunOptions, StackOptions};
use crate::report::{Form, shown};
use crate::result_writer::ResultWriter;
use crate::selection::select;
use crate::stdout::Terminal;
use crate::{deployment, interrupt, say, stdout};

/// Instance counts of a run that names none; a third instance shows nothing that two do not, only more of it.
const INSTANCES: [usize; 2] = [1, 2];

/// The same for a run of all strategies.
const INSTANCES_OF_ALL: [usize; 3] = [1, 2, 3];

/// The threats of a run that names none: what the project is about, in little time. A run of all strategies plays all.
const THREATS: [&str; 5] = [
    "one-buyer",
    "crowd",
    "second-instance",
    "crashed-holder",
    "paused-holder",
];

/// Buyers at once, where their number is not given.
const BUYERS: u64 = 32;

/// Puts strategies on trial, prints the tables; the status says whether all was as designed.
pub fn run(options: RunOptions) -> Result<u8> {
    if let Some(contradiction) = contradiction(&options) {
        return Err(contradiction.into());
    }
    // Before anything is started for nothing.
    select("threat", &options.threat, &threats::names())?;
    let began = Utc::now();
    let writer = Arc::new(ResultWriter::new(
        &options.results,
        &began.format("%Y%m%dT%H%M%S%3fZ").to_string(),
        options.quiet,
    )?);
    let quiet = options.quiet;
    let form = Form::of(options.json, options.verbose, Terminal::of_stdout());
    let started_at = began.to_rfc3339_opts(SecondsFormat::Secs, true);
    let mut stdout = stdout::keep_aside().context("stdout cannot be kept aside for the result")?;
    let trial = |stop| trial(options, started_at, writer.clone(), stop);
    let Some(result) = interrupt::unless_interrupted(trial) else {
        writer.clear();
        match writer.folder().exists() {
            true => say::aside(format_args!(
                "interrupted: the rounds that were over are in {}",
                writer.folder().display()
            )),
            false => say::aside("interrupted before any round was over"),
        }
        return Ok(INTERRUPTED);
    };
    writer.clear();
    let run = result?;
    say::result_to(&mut stdout, &shown(&run, form, writer.folder()))?;
    if !quiet {
        say::aside(format_args!("kept in {}", writer.folder().display()));
    }
    Ok(match claim_check(&run) {
        ClaimCheck::AsDesigned => AS_DESIGNED,
        ClaimCheck::NotAsDesigned => NOT_AS_DESIGNED,
        ClaimCheck::Inconclusive | ClaimCheck::Skipped => INCONCLUSIVE,
    })
}

/// What two options that are right alone say together.
fn contradiction(options: &RunOptions) -> Option<Usage> {
    let RunOptions {
        quantity,
        stock,
        requests,
        items,
        ..
    } = *options;
    if i64::from(quantity) > stock {
        return Some(Usage(format!(
            "--quantity {quantity} is more than --stock {stock}: nothing could be sold"
        )));
    }
    if items > requests {
        return Some(Usage(format!(
            "--items {items} is more than --requests {requests}: nobody would ask for some of them; add --requests {items}"
        )));
    }
    let buyers = options.buyers.filter(|buyers| *buyers > requests)?;
    Some(Usage(format!(
        "--buyers {buyers} is more than --requests {requests}: some would have nothing to ask for; add --requests {buyers}"
    )))
}

async fn trial(options: RunOptions, started_at: String, writer: Arc<ResultWriter>, stop: Stop) -> Result<RunResult> {
    let mut world = tokio::select! {
        world = open_world(&options) => world?,
        _ = stop.wait() => bail!("interrupted"),
    };
    let deployment = &mut world.deployment;
    let counts = counts(&options, deployment);
    let threats = named_threats(&options, &counts)?;
    let first = counts.first().copied().unwrap_or(1);
    let catalogue = deployment.running(first, &[])?.client.strategies().await?;
    threats::check_claims(&catalogue)?;
    let rounds = plan::rounds(
        &chosen(&options, &catalogue)?,
        &Wanted {
            threats,
            instances: counts,
            load: load(&options),
            repeats: options.repeat,
        },
    );
    let versions = world.reader.versions().await?;
    let nginx = match &world.deployment {
        Deployment::Local(_) => Some(stack::locate(ServerKind::Nginx, false)?.version()?),
        Deployment::Foreign(_) => None,
    };
    let mut run = RunResult {
        schema_version: SCHEMA_VERSION,
        ended_early: None,
        command: command(),
        started_at,
        environment: Environment::here(versions, nginx),
        as_designed: None,
        rounds: Vec::new(),
    };
    let run_id = format!("trial-{}", uuid::Uuid::new_v4().simple());
    let more = further_worlds(&options);
    let experiment = Experiment {
        world,
        more: more.as_deref(),
        rounds: &rounds,
        run_id: &run_id,
        observer: writer.as_ref(),
        stop: &stop,
    };
    experiment.play(&mut run).await?;
    Ok(run)
}

async fn open_world(options: &RunOptions) -> Result<World> {
    match deployment::foreign(&options.foreign, &options.stack).await? {
        Some(foreign) => World::of(foreign).await,
        None => local_world(options.stack.clone(), needs(options)).await,
    }
}

async fn local_world(stack: StackOptions, needs: Vec<&'static str>) -> Result<World> {
    let local = deployment::local(stack, needs).await?;
    World::of(Deployment::Local(Box::new(local))).await
}

/// Where everything is started here, it can be started more than once.
fn further_worlds(options: &RunOptions) -> Option<Box<MakeWorld>> {
    if options.foreign.host.is_some() || !options.stack.urls().is_empty() {
        return None;
    }
    let (stack, needs) = (options.stack.clone(), needs(options));
    Some(Box::new(move || Box::pin(local_world(stack.clone(), needs.clone()))))
}

/// What the chosen strategies need, as far as that is known before a shop is asked. Those that are played without
/// being chosen need nothing but the stores.
fn needs(options: &RunOptions) -> Vec<&'static str> {
    let all = Entry::all();
    let names: Vec<_> = all.iter().map(|entry| entry.name.as_str()).collect();
    // What nobody knows is said once the shop has named its strategies.
    let selected = select("strategy", &options.strategy, &names).unwrap_or_default();
    let mut needs: Vec<_> = all
        .iter()
        .filter(|entry| options.all || selected.contains(&entry.name.as_str()))
        .flat_map(|entry| entry.needs.iter().copied())
        .collect();
    needs.sort_unstable();
    needs.dedup();
    needs
}

fn counts(options: &RunOptions, deployment: &Deployment) -> Vec<usize> {
    let mut counts: Vec<usize> = options.instances.iter().copied().map(usize::from).collect();
    if counts.is_empty() {
        counts = match deployment {
            Deployment::Local(_) if options.all => INSTANCES_OF_ALL.to_vec(),
            Deployment::Local(_) => INSTANCES.to_vec(),
            Deployment::Foreign(foreign) => vec![foreign.running.count],
        };
    }
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// In the order of the list, whatever the order of the options. One that is named is played, or refused.
fn named_threats(options: &RunOptions, counts: &[usize]) -> Result<Vec<&'static dyn Threat>> {
    if options.threat.is_empty() {
        let played = threats::all().iter().copied();
        return Ok(played
            .filter(|threat| options.all || THREATS.contains(&threat.name()))
            .collect());
    }
    let names = select("threat", &options.threat, &threats::names())?;
    let is_named = |threat: &&'static dyn Threat| names.contains(&threat.name());
    let named: Vec<_> = threats::all().iter().copied().filter(is_named).collect();
    if let Some(unplayed) = named.iter().find(|threat| threat.instances(counts).is_empty()) {
        let counts: Vec<_> = counts.iter().map(usize::to_string).collect();
        let (name, counts) = (unplayed.name(), counts.join(" or "));
        let wrong = format!("{name} is not played on {counts} instances; --instances chooses others");
        return Err(Usage(wrong).into());
    }
    Ok(named)
}

fn load(options: &RunOptions) -> Load {
    Load {
        buyers: options.buyers.unwrap_or(BUYERS.min(options.requests)) as usize,
        requests: options.requests as usize,
        stock: options.stock,
        items: options.items as usize,
        quantity: options.quantity,
        work_ms: options.work_ms,
    }
}

fn chosen(options: &RunOptions, catalogue: &[Strategy]) -> Result<Vec<Strategy>> {
    if options.strategy.is_empty() {
        return Ok(if options.all {
            catalogue.to_vec()
        } else {
            plan::one_per_family(catalogue)
        });
    }
    let known: Vec<_> = catalogue.iter().map(|strategy| strategy.name.as_str()).collect();
    let selected = select("strategy", &options.strategy, &known)?;
    let named = |name: &&str| catalogue.iter().find(|strategy| strategy.name == **name).cloned();
    Ok(selected.iter().filter_map(named).collect())
}

/// The command line as it can be shown: without URLs and tokens that hold secrets.
fn command() -> String {
    let is_secret = |name: &str| {
        let name = name.strip_prefix("--");
        name.is_some_and(|name| name == "admin-token" || STORES.contains(&name))
    };
    let mut words = vec!["oversell".to_owned()];
    let mut hide = false;
    for word in std::env::args().skip(1) {
        let (name, value) = word
            .split_once('=')
            .map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        let is_hidden = is_secret(name);
        words.push(match (hide, is_hidden, value) {
            (true, ..) => "...".to_owned(),
            (_, true, Some(_)) => format!("{name}=..."),
            _ => word.clone(),
        });
        hide = !hide && is_hidden && value.is_none();
    }
    words.join(" ")
}
