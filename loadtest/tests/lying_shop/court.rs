//! Puts a lying shop on trial, by the whole experiment over real stores.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use anyhow::Result;
use loadtest::environment::Environment;
use loadtest::experiment::{self, Watch};
use loadtest::facts::{Books, Urls};
use loadtest::ground::Ground;
use loadtest::plan::{Load, Round, Wanted, rounds};
use loadtest::result::RunResult;
use stack::{Parts, Stores};
use tokio::runtime::Runtime;

use crate::lie::Lie;
use crate::shop::{self, Shop};
use crate::store::Store;

/// What every trial asks for unless it says otherwise.
pub const LOAD: Load = Load {
    buyers: 8,
    requests: 24,
    stock: 12,
    quantity: 1,
    work_ms: 0,
};

/// Every threat there is.
pub const ALL_CLAIMS: &[&str] = &["crowd", "second-instance", "crashed-holder"];

/// Real stores, on which any number of shops can be tried.
pub struct Court {
    urls: Urls,
    runtime: Runtime,
    _stores: Stores,
}

/// Nobody watches.
struct Unwatched;

impl Watch for Unwatched {
    fn begins(&self, _: &Round, _: usize, _: usize) {}

    fn over(&self, _: &RunResult) -> Result<()> {
        Ok(())
    }
}

impl Court {
    pub fn open() -> Self {
        let stores = Stores::start(&Parts {
            redis_url: None,
            sql_url: None,
            fetch: true,
        })
        .unwrap();
        Self {
            urls: Urls {
                redis: stores.redis_url().to_owned(),
                sql: stores.sql_url().to_owned(),
            },
            runtime: Runtime::new().unwrap(),
            _stores: stores,
        }
    }

    /// Plays every threat that there is on `instances`, over both stores.
    pub fn try_shop(&self, lie: Lie, claims: &'static [&'static str], instances: usize, load: Load) -> RunResult {
        self.runtime.block_on(self.play(lie, claims, instances, load))
    }

    async fn play(&self, lie: Lie, claims: &'static [&'static str], instances: usize, load: Load) -> RunResult {
        let shop = Shop {
            lie,
            redis: Store::redis(&self.urls.redis).await,
            sql: Store::sql(&self.urls.sql).await,
            sales: Arc::new(Mutex::new(HashMap::new())),
            claims,
        };
        let (at, admins) = shop::start(shop, instances).await;
        let mut ground = Ground::Foreign {
            shop: loadtest::shop::Shop::new(at).unwrap(),
            urls: self.urls.clone(),
            admins,
            instances,
        };
        let catalogue = ground.site(instances).unwrap().shop.strategies().await.unwrap();
        let wanted = Wanted {
            instances: vec![instances],
            load,
            repeats: 1,
        };
        let rounds = rounds(&catalogue, &wanted);
        let books = Books::open(&self.urls).await.unwrap();
        let (redis, mariadb) = books.versions().await.unwrap();
        let mut run = RunResult {
            schema_version: 1,
            command: "a test".to_owned(),
            started_at: "2026-01-02T03:04:05Z".to_owned(),
            environment: Environment::here(redis, mariadb, None),
            as_designed: None,
            rounds: Vec::new(),
        };
        let run_id = format!("{lie:?}-{}", uuid::Uuid::new_v4().simple());
        experiment::play(&mut ground, &books, &rounds, &run_id, &mut run, &Unwatched)
            .await
            .unwrap();
        run
    }
}
