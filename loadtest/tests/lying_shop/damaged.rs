//! A store that damages a table during a round: the round is played once more in another testbed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use futures_util::FutureExt;
use loadtest::attack::{AttackControl, Injection};
use loadtest::audit::Verdict;
use loadtest::deployment::Deployment;
use loadtest::experiment::{Experiment, LockServices, MakeTestbed, Testbed, longest};
use loadtest::facts::Urls;
use loadtest::plan::{Round, Wanted, rounds};
use loadtest::result::environment::Environment;
use loadtest::result::{RunResult, SCHEMA_VERSION};
use loadtest::sale::Names;
use loadtest::shop::Address;
use loadtest::threats::Threat;
use loadtest::trust::Trust;
use sqlx::Connection;
use sqlx::mysql::MySqlConnection;
use stack::{Shop, ShopOptions};
use tokio::runtime::Runtime;
use tokio::sync::SetOnce;

use crate::runner::{ADMIN_TOKEN, LOAD, Observer, TrialRunner, program};

const SCHEMA: &str = include_str!("../../../sql/schema.sql");

/// The servers of which the next rounds damage a table, one after the other.
static DAMAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The loss of power of MariaDB without the loss: it damages a table, and the tables are checked as they are after a loss.
static TABLES_CHECKED: Threat = Threat {
    name: "sql-power-loss",
    is_about: |strategy| strategy.name == "lie@redis",
    injection: Some(Injection::new(|control| check(control).boxed())),
    ..Threat::PLAIN
};

async fn check(control: &AttackControl<'_>) -> Result<bool> {
    control.release_buyers();
    let damaged = DAMAGES.lock().unwrap().pop();
    if let Some(url) = &damaged {
        sent(url, "drop table orders").await;
    }
    let checked = control.attack.sale.sales[0].reader.check().await;
    if let Some(url) = &damaged {
        // Without the table the shop could not close its sale.
        sent(url, SCHEMA).await;
    }
    checked?;
    control.prove("sql", "its tables were checked");
    Ok(true)
}

async fn sent(url: &str, statements: &'static str) {
    let mut connection = MySqlConnection::connect(url).await.unwrap();
    sqlx::raw_sql(statements).execute(&mut connection).await.unwrap();
}

/// The parts of a testbed: an honest shop over stores of its own.
#[derive(Clone)]
struct Parts {
    shop: Arc<Shop>,
    urls: Urls,
}

impl Parts {
    fn over(runner: &TrialRunner) -> Self {
        let options = ShopOptions {
            program: program(),
            args: ["--lie", "plain"].map(str::to_owned).to_vec(),
            env: vec![("OVERSELL_ADMIN_TOKEN".to_owned(), ADMIN_TOKEN.to_owned())],
            instances: 2,
            fetch: true,
            port: None,
            relays: Vec::new(),
            retrying: false,
        };
        let [redis, sql] = [runner.stores.redis_url(), runner.stores.sql_url()].map(str::to_owned);
        Self {
            shop: Arc::new(runner.stores.shop(&options).unwrap()),
            urls: Urls::from([("redis", redis), ("sql", sql)]),
        }
    }

    async fn testbed(self) -> Result<Testbed> {
        let at = Address {
            host: self.shop.host(),
            admin: self.shop.admins()[0].clone(),
            admin_token: ADMIN_TOKEN.to_owned(),
            trust: Trust::System,
        };
        let deployment = Deployment::remote(at, self.shop.admins(), self.urls).await?;
        Testbed::of(deployment, LockServices::All).await
    }

    async fn rounds(&self) -> Vec<Round> {
        let mut testbed = self.clone().testbed().await.unwrap();
        let shop = testbed.deployment.running(2, &[]).unwrap();
        let wanted = Wanted {
            threats: vec![&TABLES_CHECKED],
            instances: vec![2],
            load: LOAD,
            repeats: 1,
        };
        rounds(&shop.client.strategies().await.unwrap(), &wanted)
    }
}

/// Plays one round over the first parts, and damages a table of each of `damaged` in its turn. Returns the verdicts, how often
/// the second parts were asked for, and the error.
async fn played(first: &Parts, second: Option<&Parts>, damaged: &[&Parts]) -> (Vec<Verdict>, usize, Option<String>) {
    *DAMAGES.lock().unwrap() = damaged.iter().rev().map(|parts| parts.urls["sql"].clone()).collect();
    let rounds = first.rounds().await;
    let testbed = first.clone().testbed().await.unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let made = second.cloned().map(|second| {
        let asked = asked.clone();
        let make: Box<MakeTestbed> = Box::new(move |_| {
            asked.fetch_add(1, Ordering::Relaxed);
            second.clone().testbed().boxed()
        });
        make
    });
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
    let experiment = Experiment {
        within: longest(&rounds, &testbed.deployment, false),
        testbed,
        more: made.as_deref(),
        rounds: &rounds,
        names: Names::draw(),
        coordinator: None,
        observer: &Observer::default(),
        stop: &SetOnce::new(),
    };
    let error = experiment.play(&mut run).await.err();
    let verdicts = run.rounds.iter().map(|round| round.verdict).collect();
    (
        verdicts,
        asked.load(Ordering::Relaxed),
        error.map(|error| format!("{error:#}")),
    )
}

#[test]
fn a_round_whose_store_damaged_a_table_is_played_once_more_in_another_testbed() {
    let runners = [(); 2].map(|()| TrialRunner::open());
    let [first, second] = [0, 1].map(|place| Parts::over(&runners[place]));
    Runtime::new().unwrap().block_on(async {
        let once = played(&first, Some(&second), &[&first]).await;
        assert_eq!(once, (vec![Verdict::Holds], 1, None));

        let (verdicts, _, error) = played(&first, None, &[&first]).await;
        let error = error.unwrap();
        assert!(verdicts.is_empty() && error.contains("orders is damaged"), "{error}");

        // A second damage is no chance.
        let (verdicts, asked, error) = played(&first, Some(&second), &[&first, &second]).await;
        assert_eq!((verdicts, asked), (Vec::new(), 1));
        let error = error.unwrap();
        assert!(error.contains("orders is damaged"), "{error}");
    });
}
