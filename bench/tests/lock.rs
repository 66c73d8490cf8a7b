//! The measurement detects a broken lock and counts commands exactly, on a real Redis.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use bench::lock::Sample;
use bench::lock::commands::CommandCounter;
use bench::lock::contender::Contender;
use bench::lock::contenders;
use bench::lock::contention::Contention;
use bench::lock::lock_kind::{Held, Lock, LockKind};
use bench::lock::redis_route::RedisRoute;
use futures_util::StreamExt;
use redis::Client;
use stack::{Parts, Stores};

/// Long enough that each task gets the lock, and that no waiting task gives up.
const SHORT: Contention = Contention {
    instances: 2,
    tasks: 2,
    items: 1,
    think: Duration::ZERO,
    lasts: Duration::from_millis(300),
    lingers: Duration::from_secs(60),
};

const ALONE: Contention = Contention {
    instances: 1,
    tasks: 1,
    ..SHORT
};

fn stores() -> Stores {
    let parts = Parts {
        redis_url: None,
        sql_url: None,
        fetch: true,
    };
    Stores::start(&parts).unwrap()
}

fn named(name: &str) -> Box<dyn Contender> {
    let found = contenders::all().into_iter().find(|contender| contender.name() == name);
    found.unwrap()
}

async fn sample(contender: &dyn Contender, contention: Contention, url: &str) -> Sample {
    let client = Client::open(url).unwrap();
    let mut counter = CommandCounter::connect(&client, contender.sends()).await.unwrap();
    contender.contend(contention, url, &mut counter).await.unwrap()
}

fn commands_each(sample: &Sample) -> f64 {
    sample
        .figures(Duration::from_millis(1))
        .commands_per_acquisition
        .unwrap()
}

/// A broken lock: it admits every task at once, with a fence that does not rise.
struct Open {
    fence: Option<u64>,
}

#[async_trait]
impl LockKind for Open {
    fn name(&self) -> &str {
        "open"
    }

    fn sends(&self) -> &'static [&'static str] {
        &[]
    }

    async fn connect(&self, _url: &str) -> Result<Arc<dyn Lock>> {
        Ok(Arc::new(Open { fence: self.fence }))
    }
}

#[async_trait]
impl Lock for Open {
    async fn lock(&self, _name: &str) -> Result<Box<dyn Held>> {
        tokio::task::yield_now().await;
        Ok(Box::new(Open { fence: self.fence }))
    }
}

#[async_trait]
impl Held for Open {
    fn fence(&self) -> Option<u64> {
        self.fence
    }

    async fn release(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_that_admits_every_task_is_detected_and_so_is_a_fence_that_does_not_rise() {
    let stores = stores();
    let all = sample(&Open { fence: None }, SHORT, stores.redis_url()).await;
    assert!(all.violations.unwrap() > 0);
    let alone = sample(&Open { fence: None }, ALONE, stores.redis_url()).await;
    assert_eq!(alone.violations, Some(0));
    let fenced = sample(&Open { fence: Some(7) }, ALONE, stores.redis_url()).await;
    assert!(fenced.violations.unwrap() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_lock_costs_one_command_and_an_uncontended_token_two() {
    let stores = stores();
    let url = stores.redis_url();
    assert_eq!(commands_each(&sample(&*named("no-lock"), SHORT, url).await), 1.0);
    assert_eq!(commands_each(&sample(&*named("token"), ALONE, url).await), 2.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_lock_admits_one_task_at_a_time_and_its_count_of_commands_agrees_with_monitor() {
    let stores = stores();
    let url = stores.redis_url();
    let client = Client::open(url).unwrap();
    for contender in contenders::all() {
        if let Err(why) = contender.prepare(true).await {
            eprintln!("without {}: {why:#}", contender.name());
            continue;
        }
        let monitor = client.get_async_monitor().await.unwrap();
        let sample = sample(&*contender, SHORT, url).await;
        // The counter sends INFO before the first command and after the last.
        let sent = monitor.into_on_message::<String>();
        let sent = sent.skip_while(|line| std::future::ready(!line.contains("\"INFO\"")));
        let sent = sent.skip(1);
        let sent = sent.take_while(|line| std::future::ready(!line.contains("\"INFO\"")));
        let lines: Vec<String> = sent
            .filter(|line| std::future::ready(!line.contains(" lua] ")))
            .collect()
            .await;
        let name = contender.name();
        assert_eq!(sample.commands, lines.len() as u64, "{name}: {:?}", lines.last());
        assert_eq!(sample.violations.unwrap_or(0), 0, "{name}");
        assert!(sample.tasks.iter().any(|task| task.in_time > 0), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delayed_route_leads_to_the_same_redis_and_adds_to_each_round_trip() {
    let stores = stores();
    let added = Duration::from_millis(10);
    let route = RedisRoute::to(stores.redis_url(), added).await.unwrap();
    assert_ne!(route.url, stores.redis_url());
    assert!(route.round_trip().await.unwrap() >= added);
    let sample = sample(&*named("no-lock"), ALONE, &route.url).await;
    assert_eq!(commands_each(&sample), 1.0);
}
