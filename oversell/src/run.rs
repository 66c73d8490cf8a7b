//! `oversell run`: the main job.

use std::sync::Arc;

use anyhow::Result;
use chrono::{SecondsFormat, Utc};
use loadtest::cell::{Standing, standing};
use loadtest::environment::Environment;
use loadtest::experiment;
use loadtest::facts::Books;
use loadtest::ground::Ground;
use loadtest::plan::{self, Load, Wanted};
use loadtest::result::RunResult;
use loadtest::shop::Strategy;
use stack::Part;

use crate::exit::{AS_DESIGNED, INCONCLUSIVE, INTERRUPTED, NOT_AS_DESIGNED, Usage};
use crate::keeper::Keeper;
use crate::options::RunOptions;
use crate::{ground, interrupt, report};

/// Instance counts of a run that names none.
const INSTANCES: [usize; 3] = [1, 2, 3];

/// Puts strategies on trial, prints the tables; the status says whether all was as designed.
pub fn run(options: RunOptions) -> Result<u8> {
    if i64::from(options.quantity) > options.stock {
        return Err(Usage(format!(
            "--quantity {} is more than --stock {}: nothing could be sold",
            options.quantity, options.stock
        ))
        .into());
    }
    let began = Utc::now();
    let keeper = Arc::new(Keeper::new(
        &options.results,
        &began.format("%Y%m%dT%H%M%S%3fZ").to_string(),
    )?);
    let json = options.json;
    let started_at = began.to_rfc3339_opts(SecondsFormat::Secs, true);
    let trial = trial(options, started_at, keeper.clone());
    let Some(result) = interrupt::unless_interrupted(trial) else {
        keeper.clear();
        match keeper.folder().exists() {
            true => eprintln!(
                "interrupted: the rounds that were over are in {}",
                keeper.folder().display()
            ),
            false => eprintln!("interrupted before any round was over"),
        }
        return Ok(INTERRUPTED);
    };
    keeper.clear();
    let run = result?;
    report::print(&run, json)?;
    eprintln!("kept in {}", keeper.folder().display());
    Ok(match standing(&run) {
        Standing::AsDesigned => AS_DESIGNED,
        Standing::NotAsDesigned => NOT_AS_DESIGNED,
        Standing::Inconclusive | Standing::Skipped => INCONCLUSIVE,
    })
}

async fn trial(options: RunOptions, started_at: String, keeper: Arc<Keeper>) -> Result<RunResult> {
    let mut ground = open_ground(&options).await?;
    let counts = counts(&options, &ground);
    let first = counts.first().copied().unwrap_or(1);
    let catalogue = ground.site(first)?.shop.strategies().await?;
    let rounds = plan::rounds(
        &chosen(&options, &catalogue)?,
        &Wanted {
            instances: counts,
            load: load(&options),
            repeats: options.repeat,
        },
    );
    let books = Books::open(&ground.urls()).await?;
    let (redis, mariadb) = books.versions().await?;
    let nginx = match &ground {
        Ground::Local(_) => Some(stack::locate(Part::Nginx, false)?.version()?),
        Ground::Foreign { .. } => None,
    };
    let mut run = RunResult {
        schema_version: 1,
        command: command(),
        started_at,
        environment: Environment::here(redis, mariadb, nginx),
        as_designed: None,
        rounds: Vec::new(),
    };
    let run_id = format!("trial-{}", uuid::Uuid::new_v4().simple());
    experiment::play(&mut ground, &books, &rounds, &run_id, &mut run, keeper.as_ref()).await?;
    Ok(run)
}

async fn open_ground(options: &RunOptions) -> Result<Ground> {
    if let Some(foreign) = ground::foreign(&options.foreign, &options.stack).await? {
        return Ok(foreign);
    }
    let stack = options.stack.clone();
    let local = tokio::task::spawn_blocking(move || ground::local(&stack)).await??;
    Ok(Ground::Local(Box::new(local)))
}

fn counts(options: &RunOptions, ground: &Ground) -> Vec<usize> {
    let mut counts: Vec<usize> = options.instances.iter().copied().map(usize::from).collect();
    if counts.is_empty() {
        counts = match ground {
            Ground::Local(_) => INSTANCES.to_vec(),
            Ground::Foreign { instances, .. } => vec![*instances],
        };
    }
    counts.sort_unstable();
    counts.dedup();
    counts
}

fn load(options: &RunOptions) -> Load {
    Load {
        buyers: options.buyers.min(options.requests) as usize,
        requests: options.requests as usize,
        stock: options.stock,
        quantity: options.quantity,
        work_ms: options.work_ms,
    }
}

fn chosen(options: &RunOptions, catalogue: &[Strategy]) -> Result<Vec<Strategy>> {
    if options.strategy.is_empty() {
        return Ok(if options.all {
            catalogue.to_vec()
        } else {
            plan::one_per_mechanism(catalogue)
        });
    }
    let find = |name: &String| {
        let found = catalogue.iter().find(|strategy| strategy.name == *name);
        found.cloned().ok_or_else(|| {
            let known: Vec<_> = catalogue.iter().map(|strategy| strategy.name.as_str()).collect();
            Usage(format!("no strategy is called {name}; there are: {}", known.join(", "))).into()
        })
    };
    options.strategy.iter().map(find).collect()
}

/// The command line as it can be shown: without URLs and tokens that hold secrets.
fn command() -> String {
    let hidden = ["--admin-token", "--redis", "--sql"];
    let mut words = vec!["oversell".to_owned()];
    let mut hide = false;
    for word in std::env::args().skip(1) {
        let (name, value) = word
            .split_once('=')
            .map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        let is_hidden = hidden.contains(&name);
        words.push(match (hide, is_hidden, value) {
            (true, ..) => "...".to_owned(),
            (_, true, Some(_)) => format!("{name}=..."),
            _ => word.clone(),
        });
        hide = !hide && is_hidden && value.is_none();
    }
    words.join(" ")
}
