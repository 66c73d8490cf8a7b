//! `oversell bench lock`: locks, side by side, each contended for by 32 tasks.
//!
//! - `situation`: how hard, how far from Redis, and how long
//! - [`contenders`]: the locks, one file each in one list
//! - [`contention`]: one run (`critical_section`: what is watched in it; [`commands`]: what Redis is sent meanwhile; `way`: how
//!   Redis is reached)
//! - `seen`, `figures`, `table`: what a run shows, what it comes to, how it is printed

pub mod commands;
pub mod contenders;
pub mod contention;
mod critical_section;
mod figures;
mod seen;
mod situation;
mod table;
pub mod way;

use anyhow::{Context, Result};
use redis::Client;

use self::commands::CommandCounter;
use self::contenders::Contender;
pub use self::figures::{Figures, Parameters};
pub use self::seen::{Seen, TaskSeen};
use self::situation::Situation;
pub use self::table::table;
use self::way::Way;
use crate::row::Row;
use crate::setting::Setting;

/// Measures every lock in every situation. The locks alternate: what changes on the machine in between changes for all.
///
/// # Errors
/// When Redis does not answer.
pub async fn measure(setting: &Setting) -> Result<Vec<Row<Parameters, Figures>>> {
    let url = setting.local.stores.redis_url();
    let (contenders, situations) = (present(setting).await, Situation::all());
    let all = setting.repeat as usize * situations.len() * contenders.len();
    let mut runs = vec![vec![Vec::new(); contenders.len()]; situations.len()];
    let mut done = 0;
    for repeat in 1..=setting.repeat {
        for (situation, runs) in situations.iter().zip(&mut runs) {
            let way = Way::to(url, situation.added()).await?;
            let round_trip = way.round_trip().await?;
            let line = format!("repeat {repeat}: {situation}");
            for (contender, runs) in contenders.iter().zip(runs) {
                (setting.begins)(done, all, &line, &format!("{} ({situation})", contender.name()));
                let seen = run(contender.as_ref(), situation, &way, url).await;
                let seen = seen.with_context(|| format!("{} ({situation})", contender.name()))?;
                runs.push(seen.figures(round_trip));
                done += 1;
            }
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

/// The contenders that can be had here; which of them cannot, and why, is said.
async fn present(setting: &Setting) -> Vec<Box<dyn Contender>> {
    let mut present = Vec::new();
    for contender in contenders::all() {
        match contender.prepare(setting.local.options.fetch).await {
            Ok(()) => present.push(contender),
            Err(why) => (setting.says)(&format!("without {}: {why:#}", contender.name())),
        }
    }
    present
}

async fn run(contender: &dyn Contender, situation: &Situation, way: &Way, straight: &str) -> Result<Seen> {
    let mut counter = CommandCounter::connect(&Client::open(straight)?, contender.sends()).await?;
    contender.contend(situation.contention(), &way.url, &mut counter).await
}
