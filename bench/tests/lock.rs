//! Locks are measured right: a broken one is found out, and commands are counted as they are sent. On a real Redis.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use bench::lock::Seen;
use bench::lock::commands::CommandCounter;
use bench::lock::contenders::{self, Contender, Held, Kind, Lock};
use bench::lock::contention::Contention;
use bench::lock::way::Way;
use futures_util::StreamExt;
use redis::Client;
use stack::{Parts, Stores};

/// Long enough that each is served, and nobody is sent away who waits.
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

async fn seen(contender: &dyn Contender, contention: Contention, url: &str) -> Seen {
    let client = Client::open(url).unwrap();
    let mut counter = CommandCounter::connect(&client, contender.sends()).await.unwrap();
    contender.contend(contention, url, &mut counter).await.unwrap()
}

fn commands_each(seen: &Seen) -> f64 {
    seen.figures(Duration::from_millis(1)).commands_per_acquisition.unwrap()
}

/// Lets everybody in, always, with a fence that does not rise where it is given one.
struct Open {
    fence: Option<u64>,
}

#[async_trait]
impl Kind for Open {
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
async fn a_lock_that_lets_everybody_in_is_found_out_and_so_is_a_fence_that_does_not_rise() {
    let stores = stores();
    let all = seen(&Open { fence: None }, SHORT, stores.redis_url()).await;
    assert!(all.violations.unwrap() > 0);
    let alone = seen(&Open { fence: None }, ALONE, stores.redis_url()).await;
    assert_eq!(alone.violations, Some(0));
    let fenced = seen(&Open { fence: Some(7) }, ALONE, stores.redis_url()).await;
    assert!(fenced.violations.unwrap() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_lock_costs_one_command_and_a_token_that_nobody_else_wants_two() {
    let stores = stores();
    let url = stores.redis_url();
    assert_eq!(commands_each(&seen(&*named("no-lock"), SHORT, url).await), 1.0);
    assert_eq!(commands_each(&seen(&*named("token"), ALONE, url).await), 2.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_lock_lets_in_one_at_a_time_and_its_commands_are_counted_as_a_monitor_sees_them() {
    let stores = stores();
    let url = stores.redis_url();
    let client = Client::open(url).unwrap();
    for contender in contenders::all() {
        if let Err(why) = contender.prepare(true).await {
            eprintln!("without {}: {why:#}", contender.name());
            continue;
        }
        let monitor = client.get_async_monitor().await.unwrap();
        let seen = seen(&*contender, SHORT, url).await;
        // The counter looks before the first and after the last one.
        let sent = monitor.into_on_message::<String>();
        let sent = sent.skip_while(|line| std::future::ready(!line.contains("\"INFO\"")));
        let sent = sent.skip(1);
        let sent = sent.take_while(|line| std::future::ready(!line.contains("\"INFO\"")));
        let lines: Vec<String> = sent
            .filter(|line| std::future::ready(!line.contains(" lua] ")))
            .collect()
            .await;
        let name = contender.name();
        assert_eq!(seen.commands, lines.len() as u64, "{name}: {:?}", lines.last());
        assert_eq!(seen.violations.unwrap_or(0), 0, "{name}");
        assert!(seen.tasks.iter().any(|task| task.in_time > 0), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_longer_way_leads_to_the_same_redis_and_adds_to_each_round_trip() {
    let stores = stores();
    let added = Duration::from_millis(10);
    let way = Way::to(stores.redis_url(), added).await.unwrap();
    assert_ne!(way.url, stores.redis_url());
    assert!(way.round_trip().await.unwrap() >= added);
    let seen = seen(&*named("no-lock"), ALONE, &way.url).await;
    assert_eq!(commands_each(&seen), 1.0);
}
