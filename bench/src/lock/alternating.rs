//! Runs that alternate: what changes on the machine in between changes for all locks.

use std::fmt::Display;
use std::time::Duration;

use anyhow::{Context, Result};
use redis::Client;

use super::commands::CommandCounter;
use super::contenders::Contender;
use super::contention::Contention;
use super::figures::Figures;
use super::leftovers;
use super::seen::Seen;
use super::way::Way;
use crate::row::Row;
use crate::setting::Setting;

/// What locks are tried in.
pub trait Situation: Display + Sync {
    /// As a result tells it.
    type Parameters;

    /// What is added to each round trip to Redis.
    fn added(&self) -> Duration;

    /// How hard, how long and for what is contended.
    fn contention(&self) -> Contention;

    /// The same for a result, with the name of the lock.
    fn parameters(&self, lock: &str) -> Self::Parameters;
}

/// Measures every contender in every situation, one after the other, and all of that as often as the setting says.
///
/// # Errors
/// When Redis does not answer.
pub async fn alternate<S: Situation>(
    setting: &Setting,
    contenders: &[Box<dyn Contender>],
    situations: &[S],
) -> Result<Vec<Row<S::Parameters, Figures>>> {
    let url = setting.local.stores.redis_url();
    let all = setting.repeat as usize * situations.len() * contenders.len();
    let mut runs = vec![vec![Vec::new(); contenders.len()]; situations.len()];
    let mut done = 0;
    for repeat in 1..=setting.repeat {
        for (situation, runs) in situations.iter().zip(&mut runs) {
            let way = Way::to(url, situation.added()).await?;
            let round_trip = way.round_trip().await?;
            let line = format!("repeat {repeat}: {situation}");
            for (contender, runs) in contenders.iter().zip(runs) {
                let what = format!("{} ({situation})", contender.name());
                (setting.begins)(done, all, &line, &what);
                let seen = run(contender.as_ref(), situation.contention(), &way, url).await;
                runs.push(seen.context(what)?.figures(round_trip));
                done += 1;
            }
            leftovers::remove(url).await?;
        }
    }
    let mut rows = Vec::new();
    for (situation, runs) in situations.iter().zip(runs) {
        for (contender, runs) in contenders.iter().zip(runs) {
            rows.push(Row {
                parameters: situation.parameters(contender.name()),
                medians: Figures::medians(&runs).context("nothing was measured")?,
                runs,
            });
        }
    }
    Ok(rows)
}

async fn run(contender: &dyn Contender, contention: Contention, way: &Way, straight: &str) -> Result<Seen> {
    let mut counter = CommandCounter::connect(&Client::open(straight)?, contender.sends()).await?;
    contender.contend(contention, &way.url, &mut counter).await
}
