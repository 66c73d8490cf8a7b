//! Tries the lying shop: real instances behind real nginx, over real stores, with the whole experiment.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Error, Result};
use loadtest::deployment::Deployment;
use loadtest::experiment::{Experiment, LockServices, RunObserver, Standing, Testbed, longest};
use loadtest::facts::Urls;
use loadtest::plan::{Round, Wanted, rounds};
use loadtest::result::environment::Environment;
use loadtest::result::{RoundResult, RunResult, SCHEMA_VERSION};
use loadtest::sale::{Load, Names};
use loadtest::shop::Address;
use loadtest::threats;
use loadtest::trust::Trust;
use loadtest::workers::{self, Coordinator, Listening};
use stack::{Parts, Shop, ShopOptions, Stores};
use tokio::runtime::Runtime;
use tokio::sync::SetOnce;

/// The load of a trial without another one.
pub const LOAD: Load = Load {
    buyers: 8,
    requests: 24,
    stock: 12,
    items: 1,
    quantity: 1,
    work_ms: 0,
};

pub const ADMIN_TOKEN: &str = "open sesame";

const WORKERS_TOKEN: &str = "known to the workers alone";

/// The pause between two looks for an instance that has died.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The trials that [`try_each`] plays at the same time: most of a trial is waiting.
const AT_ONCE: usize = 2;

/// Real stores, over which any number of shops can be tried.
pub struct TrialRunner {
    pub stores: Stores,
    pub runtime: Runtime,
    /// The workers that send the load of each attack; without any it is sent here.
    pub workers: usize,
    /// The longest time of a run, if it is not to follow from the plan.
    pub within: Option<Duration>,
}

/// One trial: the shop, the threats and the load.
#[derive(Clone)]
pub struct Trial<'a> {
    /// The lie of the shop.
    pub lie: &'a str,
    /// The threats.
    pub threats: &'a [&'a str],
    pub instances: usize,
    pub load: Load,
    /// How often each round is played.
    pub repeats: u32,
}

/// The result of a trial.
pub struct Tried {
    pub run: RunResult,
    /// The reason why it ended early, if it did.
    pub error: Option<String>,
    /// The sales that could not be closed, with the reasons.
    pub left_open: Vec<(String, String)>,
}

/// An observer that keeps what is in no result.
#[derive(Default)]
pub struct Observer {
    left_open: Mutex<Vec<(String, String)>>,
}

impl RunObserver for Observer {
    fn begins(&self, _: &Round, _: Standing) {}

    fn begins_final_checks(&self, _: usize) {}

    fn leaves_open(&self, sales: &[(String, Error)]) {
        let sales = sales.iter().map(|(item, error)| (item.clone(), format!("{error:#}")));
        self.left_open.lock().unwrap().extend(sales);
    }

    fn keeps_round(&self, _: &RunResult, _: usize, _: &RoundResult) -> Result<()> {
        Ok(())
    }

    fn keeps_run(&self, _: &RunResult) -> Result<()> {
        Ok(())
    }
}

/// Restarts instances that have died, until it is dropped.
struct Supervisor {
    over: Arc<AtomicBool>,
    at_work: Option<JoinHandle<()>>,
}

impl Supervisor {
    fn of(shop: &Arc<Shop>) -> Self {
        let (shop, over) = (shop.clone(), Arc::new(AtomicBool::new(false)));
        let stop = over.clone();
        let at_work = std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                // A shop that does not become ready is part of the trial.
                let _ = shop.revive();
                std::thread::sleep(LOOK_EVERY);
            }
        });
        Self {
            over,
            at_work: Some(at_work),
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(at_work) = self.at_work.take() {
            at_work.join().unwrap();
        }
    }
}

/// Returns the path of the lying shop's program.
pub fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join("examples/lying_shop");
    assert!(path.exists(), "build it first: cargo build -p loadtest --examples");
    path
}

/// Returns every honest kind and every lie of the program, as (kind, name).
pub fn known() -> Vec<(String, String)> {
    let listed = Command::new(program()).arg("--list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let words = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        (words.next().unwrap(), words.next().unwrap())
    };
    listed.lines().map(words).collect()
}

/// Tries shops side by side, a few at a time and each of these over stores of its own, and returns what `try_one`
/// returned for each of them, in no order.
pub fn try_each<T: Sync, R: Send>(shops: &[T], try_one: impl Fn(&TrialRunner, &T) -> R + Sync) -> Vec<R> {
    let left = Mutex::new(shops.iter());
    let one_after_the_other = || {
        let runner = TrialRunner::open();
        let next = || left.lock().unwrap().next();
        std::iter::from_fn(next)
            .map(|shop| try_one(&runner, shop))
            .collect::<Vec<R>>()
    };
    std::thread::scope(|scope| {
        let tries: Vec<_> = (0..AT_ONCE.min(shops.len()))
            .map(|_| scope.spawn(one_after_the_other))
            .collect();
        tries.into_iter().flat_map(|tried| tried.join().unwrap()).collect()
    })
}

impl TrialRunner {
    pub fn open() -> Self {
        let stores = Stores::start(&Parts {
            redis_url: None,
            sql_url: None,
            fetch: true,
        });
        Self {
            stores: stores.unwrap(),
            runtime: Runtime::new().unwrap(),
            workers: 0,
            within: None,
        }
    }

    /// Plays each threat once, over each store of the lie.
    pub fn try_shop(&self, trial: &Trial<'_>) -> Tried {
        let options = ShopOptions {
            program: program(),
            args: vec!["--lie".to_owned(), trial.lie.to_owned()],
            env: vec![("OVERSELL_ADMIN_TOKEN".to_owned(), ADMIN_TOKEN.to_owned())],
            instances: trial.instances,
            fetch: true,
            port: None,
            relays: Vec::new(),
            retrying: false,
        };
        let shop = Arc::new(self.stores.shop(&options).unwrap());
        let _supervisor = Supervisor::of(&shop);
        let mut run = RunResult {
            schema_version: SCHEMA_VERSION,
            ended_early: None,
            command: "a test".to_owned(),
            soak: None,
            started_at: "2026-01-02T03:04:05Z".to_owned(),
            environment: Environment::here(Default::default(), None),
            as_designed: None,
            rounds: Vec::new(),
        };
        let observer = Observer::default();
        let playing = self.play(&shop, trial, &observer, &mut run);
        let played = self.runtime.block_on(playing);
        // Whatever a shop does, its result agrees with itself.
        let read = RunResult::parse(&serde_json::to_vec(&run).unwrap());
        assert!(read.is_ok(), "{}: {:#}", trial.lie, read.unwrap_err());
        Tried {
            run,
            error: played.err().map(|error| format!("{error:#}")),
            left_open: observer.left_open.into_inner().unwrap(),
        }
    }

    async fn play(&self, shop: &Shop, trial: &Trial<'_>, observer: &Observer, run: &mut RunResult) -> Result<()> {
        let urls = Urls::from([
            ("redis", self.stores.redis_url().to_owned()),
            ("sql", self.stores.sql_url().to_owned()),
        ]);
        // nginx would handle an unannounced close in its own way, so this shop is tried without nginx.
        let host = match trial.lie {
            "closes-connections" => shop.publics()[0].clone(),
            "prefix" => format!("{}/shop", shop.host()),
            _ => shop.host(),
        };
        let at = Address {
            host,
            admin: shop.admins()[0].clone(),
            admin_token: ADMIN_TOKEN.to_owned(),
            trust: Trust::System,
        };
        let mut deployment = Deployment::remote(at, shop.admins(), urls).await?;
        let catalogue = deployment.running(trial.instances, &[])?.client.strategies().await?;
        threats::check_claims(&catalogue)?;
        let named = trial.threats.iter().map(|name| threats::find(name).unwrap());
        let wanted = Wanted {
            threats: named.collect(),
            instances: vec![trial.instances],
            load: trial.load,
            repeats: trial.repeats,
        };
        let rounds = rounds(&catalogue, &wanted);
        let coordinator = match self.workers {
            0 => None,
            workers => Some(with_workers(workers).await?),
        };
        let longest = longest(&rounds, &deployment, coordinator.is_some());
        let experiment = Experiment {
            testbed: Testbed::of(deployment, LockServices::All).await?,
            more: None,
            rounds: &rounds,
            names: Names::draw(),
            coordinator: coordinator.as_ref(),
            observer,
            within: self.within.unwrap_or(longest),
            stop: &SetOnce::new(),
        };
        let played = experiment.play(run).await;
        if let Some(coordinator) = coordinator {
            coordinator.close().await;
        }
        played
    }
}

/// Starts the coordinator and so many workers, here.
async fn with_workers(workers: usize) -> Result<Coordinator> {
    let listening = Listening {
        at: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        token: WORKERS_TOKEN.to_owned(),
        workers,
    };
    let coordinator = Coordinator::open(listening).await?;
    for _ in 0..workers {
        let run = format!("http://{}", coordinator.at());
        tokio::spawn(async move { workers::work(&run, WORKERS_TOKEN).await });
    }
    Ok(coordinator)
}

/// Returns the root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}
