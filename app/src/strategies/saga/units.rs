//! The steps of sagas in Redis. `saga:{item}` has the units of each saga, while they can be given back.

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Script};

use super::log::Saga;
use crate::domain::{Error, Name};
use crate::probe::{Probe, Role, Step, StepValue};
use crate::stores::Redis;

pub(super) const TAKE: Step = Step::command("take", &["EVALSHA"]).plays(Role::Write);
pub(super) const GIVE_BACK: Step = Step::command("give-back", &["EVALSHA"]);
pub(super) const SETTLE: Step = Step::command("settle", &["HDEL"]);

/// How long a compensated saga is remembered: longer than any of its steps can be on its way.
const COMPENSATED_FOR: Duration = Duration::from_secs(600);

pub(super) struct Units {
    redis: Arc<Redis>,
    take: Script,
    give_back: Script,
}

fn taken_key(item: &Name) -> String {
    format!("saga:{{{item}}}")
}

fn compensated_key(saga: &Saga) -> String {
    format!("saga-compensated:{{{}}}:{}", saga.item, saga.id)
}

impl Units {
    pub(super) fn new(redis: Arc<Redis>) -> Self {
        Self {
            redis,
            take: Script::new(include_str!("take.lua")),
            give_back: Script::new(include_str!("give_back.lua")),
        }
    }

    /// Takes the units. Returns the result as a word, and the units left.
    pub(super) async fn take(&self, saga: &Saga, quantity: u32, probe: &Probe) -> Result<(String, i64), Error> {
        let mut script = self.take.key(Redis::stock_key(&saga.item));
        script
            .key(taken_key(&saga.item))
            .key(compensated_key(saga))
            .arg(quantity)
            .arg(saga.id.to_string());
        let words = |(word, left): &(String, i64)| StepValue::Left(*left).after(word);
        probe.step(&TAKE, &saga.id, self.redis.run(&script), words).await
    }

    /// Gives the units back, and refuses a take that comes later. True when units were taken.
    pub(super) async fn give_back(&self, saga: &Saga, probe: &Probe) -> Result<bool, Error> {
        let mut script = self.give_back.key(Redis::stock_key(&saga.item));
        script
            .key(taken_key(&saga.item))
            .key(compensated_key(saga))
            .arg(saga.id.to_string())
            .arg(COMPENSATED_FOR.as_millis() as u64);
        let words = |given: &bool| if *given { "given back" } else { "nothing was taken" };
        probe.step(&GIVE_BACK, &saga.id, self.redis.run(&script), words).await
    }

    /// Keeps the units from being given back.
    pub(super) async fn settle(&self, saga: &Saga, probe: &Probe) -> Result<(), Error> {
        let command = Cmd::hdel(taken_key(&saga.item), saga.id.to_string());
        let words = |settled: &bool| if *settled { "settled" } else { "settled before" };
        let settled = probe.step(&SETTLE, &saga.id, self.redis.send(&command), words);
        settled.await.map(drop)
    }

    pub(super) async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&[taken_key(item)]).await
    }
}
