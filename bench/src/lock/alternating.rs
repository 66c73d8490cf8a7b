//! Alternates the locks run by run, so that a change of the machine's speed affects all of them.

use std::fmt::Display;
use std::time::Duration;

use anyhow::{Context, Result};
use redis::Client;

use super::commands::CommandCounter;
use super::contender::Contender;
use super::contention::Contention;
use super::figures::Figures;
use super::leftovers;
use super::redis_route::RedisRoute;
use super::sample::Sample;
use crate::row::Row;
use crate::setting::Setting;

/// A situation in which locks are compared.
pub trait Situation: Display + Sync {
    /// The parameters in a result.
    type Parameters;

    /// The delay that is added to each round trip to Redis.
    fn added(&self) -> Duration;

    /// The shape of a run.
    fn contention(&self) -> Contention;

    /// The parameters for the result of a lock.
    fn parameters(&self, lock: &str) -> Self::Parameters;
}

/// Measures every contender in every situation, as often as the setting says.
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
            let route = RedisRoute::to(url, situation.added()).await?;
            let round_trip = route.round_trip().await?;
            let line = format!("repeat {repeat}: {situation}");
            for (contender, runs) in contenders.iter().zip(runs) {
                let what = format!("{} ({situation})", contender.name());
                (setting.progress)(done, all, &line, &what);
                let sample = run(contender.as_ref(), situation.contention(), &route, url).await;
                runs.push(sample.context(what)?.figures(round_trip));
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

async fn run(contender: &dyn Contender, contention: Contention, route: &RedisRoute, direct: &str) -> Result<Sample> {
    let mut counter = CommandCounter::connect(&Client::open(direct)?, contender.sends()).await?;
    contender.contend(contention, &route.url, &mut counter).await
}
