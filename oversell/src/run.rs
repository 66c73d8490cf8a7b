//! `oversell run`: puts strategies on trial.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use chrono::{SecondsFormat, Utc};
use loadtest::deployment::requirement;
use loadtest::deployment::{Deployment, TrialLock};
use loadtest::experiment::{Experiment, LockServices, MakeTestbed, RunObserver, Testbed, in_words, longest};
use loadtest::plan::soak::Soak;
use loadtest::result::cell::{ClaimCheck, claim_check};
use loadtest::result::environment::Environment;
use loadtest::result::{RunResult, SCHEMA_VERSION};
use loadtest::sale::Names;
use loadtest::threats;
use loadtest::workers::{self, Coordinator, Listening};
use stack::ServerKind;

use crate::exit::{AS_DESIGNED, INCONCLUSIVE, INTERRUPTED, NOT_AS_DESIGNED, Usage};
use crate::interrupt::Stop;
use crate::options::{RunOptions, StackOptions};
use crate::report::{self, Form, shown};
use crate::result_writer::ResultWriter;
use crate::selection::select;
use crate::stdout::Terminal;
use crate::{command_line, console, deployment, interrupt, plan, run_folder, stdout, token, workers_token};

/// Puts strategies on trial and prints the result. The status says whether all is as designed.
pub fn run(options: RunOptions) -> Result<u8> {
    let workers_token = workers_token::given(&options)?;
    if let Some(run) = &options.load_only {
        return load(run, &workers_token.unwrap_or_default());
    }
    if let Some(contradiction) = contradiction(&options) {
        return Err(contradiction.into());
    }
    // A wrong name should be refused before anything is started.
    select("threat", &options.threat, &threats::names())?;
    let began = Utc::now();
    let writer = Arc::new(ResultWriter::new(
        &options.results,
        &run_folder::id(began),
        options.quiet,
    )?);
    let (quiet, allow_skipped) = (options.quiet, options.allow_skipped);
    let form = Form::of(options.json, options.verbose, Terminal::of_stdout());
    let started_at = began.to_rfc3339_opts(SecondsFormat::Secs, true);
    let mut stdout = stdout::keep_aside().context("stdout cannot be kept aside for the result")?;
    let observer = writer.clone();
    let begun = Begun {
        started_at,
        command: command_line::shown(),
    };
    let trial = |stop| async move { trial(options, begun, observer.as_ref(), stop).await };
    let Some(result) = interrupt::unless_interrupted(trial) else {
        writer.clear();
        match writer.folder().exists() {
            true => {
                let folder = writer.folder();
                console::note(format_args!(
                    "interrupted: the rounds that were over are in {}\n",
                    folder.display()
                ));
                console::note(report::of_interrupted(folder)?.trim_end());
            }
            false => console::note("interrupted before any round was over"),
        }
        return Ok(INTERRUPTED);
    };
    writer.clear();
    let run = result?;
    console::print_to(&mut stdout, &shown(&run, form, writer.folder()))?;
    if !quiet {
        console::note(format_args!("kept in {}", writer.folder().display()));
    }
    Ok(match claim_check(&run) {
        ClaimCheck::AsDesigned => AS_DESIGNED,
        ClaimCheck::NotAsDesigned => NOT_AS_DESIGNED,
        // Where everything was skipped, nothing is as designed.
        ClaimCheck::Skipped if allow_skipped && run.rounds.iter().any(|round| round.why_unplayed().is_none()) => {
            AS_DESIGNED
        }
        ClaimCheck::Inconclusive | ClaimCheck::Skipped | ClaimCheck::NotPlayable => INCONCLUSIVE,
    })
}

/// Sends load for a run on another machine until that run is over.
fn load(run: &str, token: &str) -> Result<u8> {
    let _stdout = stdout::keep_aside().context("stdout cannot be kept aside")?;
    let (run, token) = (run.trim_end_matches('/').to_owned(), token.to_owned());
    let worked = interrupt::unless_interrupted(|_| async move { workers::work(&run, &token).await });
    Ok(match worked {
        None => INTERRUPTED,
        Some(worked) => {
            worked?;
            AS_DESIGNED
        }
    })
}

/// Finds two options that contradict each other.
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
            "--items {items} is more than --requests {requests}: some items would have no buyer; add --requests {items}"
        )));
    }
    let buyers = options.buyers.filter(|buyers| *buyers > requests)?;
    Some(Usage(format!(
        "--buyers {buyers} is more than --requests {requests}: some buyers would have nothing to ask for; add --requests {buyers}"
    )))
}

/// The begin of a run, as its result says it.
pub struct Begun {
    /// The time.
    pub started_at: String,
    /// The command, without secrets.
    pub command: String,
}

/// Plays a run and shows it to `observer`.
///
/// # Errors
/// When it cannot be played to its end, or is stopped.
pub async fn trial(options: RunOptions, begun: Begun, observer: &dyn RunObserver, stop: Stop) -> Result<RunResult> {
    let mut testbed = tokio::select! {
        testbed = open_testbed(&options) => testbed?,
        _ = stop.wait() => bail!("interrupted"),
    };
    // Nobody else reaches what is started here.
    let _alone = match &testbed.deployment {
        Deployment::Remote(remote) => Some(TrialLock::take(&remote.urls).await?),
        Deployment::Local(_) => None,
    };
    let deployment = &mut testbed.deployment;
    let soak = options.soak.map(|purchases| Soak::new(purchases, options.seed));
    let rounds = plan::rounds(&options, soak, deployment).await?;
    if let Some(Soak { seed, .. }) = soak
        && !options.quiet
    {
        console::note(format_args!("{} rounds, drawn with --seed {seed}", rounds.len()));
    }
    let versions = testbed.reader.versions().await?;
    let nginx = match &testbed.deployment {
        Deployment::Local(_) => Some(stack::locate(ServerKind::Nginx, false)?.version()?),
        Deployment::Remote(_) => None,
    };
    let mut run = RunResult {
        schema_version: SCHEMA_VERSION,
        ended_early: None,
        command: begun.command,
        soak,
        started_at: begun.started_at,
        environment: Environment {
            insecure: options.remote.tls.insecure,
            ..Environment::here(versions, nginx)
        },
        as_designed: None,
        rounds: Vec::new(),
    };
    let within = longest(&rounds, &testbed.deployment, options.workers.is_some());
    // Our own shop answers: there the bound would say nothing.
    if matches!(testbed.deployment, Deployment::Remote(_)) && !options.quiet {
        let (rounds, within) = (rounds.len(), in_words(within));
        console::note(format_args!(
            "rounds: {rounds}; at most {within}, whatever the shop does"
        ));
    }
    let coordinator = coordinator(&options).await?;
    let more = further_testbeds(&options);
    let experiment = Experiment {
        testbed,
        more: more.as_deref(),
        rounds: &rounds,
        names: Names::draw(),
        coordinator: coordinator.as_ref(),
        observer,
        within,
        stop: &stop,
    };
    let played = experiment.play(&mut run).await;
    if let Some(coordinator) = coordinator {
        coordinator.close().await;
    }
    played?;
    Ok(run)
}

/// Opens the listener of the workers, if the run has workers. A token that is drawn here is printed, even with `--quiet`:
/// no worker could come without it.
async fn coordinator(options: &RunOptions) -> Result<Option<Coordinator>> {
    let Some(workers) = options.workers else {
        return Ok(None);
    };
    let given = workers_token::given(options)?;
    let is_drawn = given.is_none();
    let token = given.unwrap_or_else(token::drawn);
    let listening = Listening {
        at: options.workers_listen,
        token: token.clone(),
        workers: workers as usize,
    };
    let coordinator = Coordinator::open(listening).await?;
    if is_drawn {
        let (program, at) = (console::program(), coordinator.at());
        // The name of this machine for others is not known here.
        let host = if at.ip().is_unspecified() {
            format!("THIS-MACHINE:{}", at.port())
        } else {
            at.to_string()
        };
        let worker = format!("OVERSELL_WORKERS_TOKEN={token} {program} run --load-only http://{host}");
        console::note(format_args!("waiting for {workers} workers; start each with: {worker}"));
    }
    Ok(Some(coordinator))
}

async fn open_testbed(options: &RunOptions) -> Result<Testbed> {
    match deployment::remote(&options.remote, &options.stack.stores).await? {
        Some(remote) => Testbed::of(remote, LockServices::All).await,
        None => local_testbed(options.stack.clone(), plan::needs(options), LockServices::All).await,
    }
}

async fn local_testbed(stack: StackOptions, mut needs: Vec<&'static str>, services: LockServices) -> Result<Testbed> {
    if services == LockServices::None {
        needs.retain(|need| !requirement::is_lock_service(need));
    }
    let local = deployment::local(stack, needs).await?;
    Testbed::of(Deployment::Local(Box::new(local)), services).await
}

/// Returns how to start further stores and shops: only where everything is started here.
fn further_testbeds(options: &RunOptions) -> Option<Box<MakeTestbed>> {
    if options.remote.host.is_some() || !options.stack.stores.urls().is_empty() {
        return None;
    }
    let (stack, needs) = (options.stack.clone(), plan::needs(options));
    Some(Box::new(move |services| {
        Box::pin(local_testbed(stack.clone(), needs.clone(), services))
    }))
}
