//! The strategies that hold under the threats that a user names, and their cost.

use anyhow::{Result, bail, ensure};
use serde::Serialize;

use crate::result::RunResult;
use crate::result::cell::{COST_UNDER, Cell, Spread, strategies};
use crate::result::conclusion::{Conclusion, Conclusions, stores};
use crate::shop::response::ResponseKind;
use crate::text::{MAX_NAME, nearest, one_line};
use crate::threats;

/// Plain words for threats. The name of each threat works as well.
pub const WORDS: [(&str, &[&str]); 19] = [
    ("crash", &["crashed-holder", "crashed-between", "reconciler-killed"]),
    ("pause", &["paused-holder", "blocked-runtime"]),
    ("slow", &["slow-holder"]),
    (
        "restart",
        &[
            "redis-restart",
            "redis-restart-aof",
            "sql-restart",
            "lock-service-restart",
        ],
    ),
    ("failover", &["redis-failover", "sql-failover"]),
    (
        "power",
        &["redis-power-loss", "redis-power-loss-synced", "sql-power-loss"],
    ),
    ("memory", &["redis-evicts", "redis-full"]),
    ("disk", &["disk-full"]),
    ("connections", &["pool-exhausted"]),
    ("silence", &["store-silent"]),
    ("cut-off", &["instance-cut-off"]),
    ("network", &["slow-network", "lost-reply"]),
    ("clock", &["clock-jump", "clock-back"]),
    ("session", &["session-expiry"]),
    ("nodes", &["minority-restart", "minority-clock-jump", "leader-change"]),
    ("click", &["second-click"]),
    ("retry", &["retrying-proxy", "message-twice"]),
    ("release", &["rolling-replacement"]),
    ("hang-up", &["buyer-gone", "sql-gone"]),
];

/// The threats under which a chosen strategy always has to hold.
pub(crate) const ALWAYS: [&str; 3] = ["one-buyer", "crowd", COST_UNDER];

/// A strategy is useless if it sells less than the fastest one that holds, divided by this.
const USELESS: f64 = 100.0;

/// The stores of stock and orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stores {
    /// Both in Redis.
    Redis,
    /// Both in MariaDB, in one database or two.
    Sql,
    /// Both in PostgreSQL.
    Pg,
    /// Both in a Redis Cluster.
    Cluster,
    /// One in Redis or a Redis Cluster, the other in MariaDB.
    Both,
}

impl Stores {
    /// Every choice.
    pub const ALL: [Self; 5] = [Self::Redis, Self::Sql, Self::Pg, Self::Cluster, Self::Both];

    /// Returns the choices that some strategy of the run belongs to.
    pub fn of_run(run: &RunResult) -> Vec<Self> {
        let cells = Cell::all(run);
        let is_played = |stores: &Self| cells.iter().any(|cell| stores.have(cell.strategy));
        Self::ALL.into_iter().filter(is_played).collect()
    }

    /// Returns where a strategy keeps stock and orders; `None` where that is no store that is known.
    pub(crate) fn of(strategy: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stores| stores.have(strategy))
    }

    fn have(self, strategy: &str) -> bool {
        let has = |store| stores(strategy).split('+').any(|own| own == store);
        match self {
            Self::Redis => has("redis") && !has("sql"),
            Self::Sql => has("sql") && !has("redis") && !has("cluster"),
            Self::Pg => has("pg"),
            Self::Cluster => has("cluster") && !has("sql"),
            Self::Both => (has("redis") || has("cluster")) && has("sql"),
        }
    }
}

/// The answer to one question.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// The stores of stock and orders.
    pub stores: Stores,
    /// The threats that were named.
    pub survive: Vec<&'static str>,
    /// The strategies that hold, the fastest first.
    pub holds: Vec<Candidate>,
    /// Strategies that hold and sell less than a hundredth of the fastest one.
    pub useless: Vec<Candidate>,
    /// Strategies that fail only by a loss of data in their store.
    pub data_loss: Vec<String>,
    /// Strategies that fail.
    pub fails: Vec<String>,
    /// Strategies without a known failure that were not tested under all of the threats.
    pub untested: Vec<String>,
}

/// A strategy that holds.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// `mechanism@store`
    pub strategy: String,
    /// Units sold per second on two instances, the median of the repeats.
    pub sales_per_s: f64,
    /// The median time of a sale in ms.
    pub median_ms: f64,
    /// The time in ms within which 99 of 100 sales ended.
    pub p99_ms: f64,
    /// The threats that were not named and under which it fails.
    pub fails_under: Vec<&'static str>,
    /// The threats that were not named and under which its store loses data.
    pub data_loss_under: Vec<&'static str>,
}

/// Returns the threats of a plain word, of the name of a threat, or of `all`.
///
/// # Errors
/// When the word is unknown.
pub fn threats_of(word: &str) -> Result<Vec<&'static str>> {
    let played = || threats::all().iter().filter(|threat| !threat.is_control);
    let names = || played().map(|threat| threat.name);
    if word == "all" {
        return Ok(names().collect());
    }
    if let Some((_, threats)) = WORDS.iter().find(|(known, _)| *known == word) {
        return Ok(threats.to_vec());
    }
    if let Some(name) = names().find(|name| *name == word) {
        return Ok(vec![name]);
    }
    let words = WORDS.iter().map(|(word, _)| *word).chain(names());
    bail!(
        "no threat is called {}; did you mean {}?",
        one_line(word, MAX_NAME),
        nearest(words, word).unwrap_or_default()
    )
}

/// Chooses from the strategies of a run.
///
/// # Errors
/// When the run has no rounds under one of the threats, or measured no cost.
pub fn choose(run: &RunResult, stores: Stores, survive: &[&'static str]) -> Result<Choice> {
    let cells = Cell::all(run);
    ensure!(
        run.soak.is_none(),
        "a soak measures no cost: name the result of another run"
    );
    for threat in [COST_UNDER].iter().chain(survive) {
        let is_tried = cells.iter().any(|cell| cell.threat == *threat);
        ensure!(is_tried, "the run did not try {threat}: name a result that did");
    }
    let conclusions = Conclusions::of(&cells);
    let required: Vec<&str> = ALWAYS.iter().chain(survive).copied().collect();
    let mut choice = Choice {
        stores,
        survive: survive.to_vec(),
        holds: Vec::new(),
        useless: Vec::new(),
        data_loss: Vec::new(),
        fails: Vec::new(),
        untested: Vec::new(),
    };
    for strategy in strategies(&cells).into_iter().filter(|strategy| stores.have(strategy)) {
        let cost = cells.iter().find(|cell| cell.strategy == strategy && cell.is_cost());
        // In a whole run, a threat that was not tried does not concern the strategy.
        let is_whole = run.ended_early.is_none()
            || required
                .iter()
                .all(|threat| conclusions.under(strategy, &[threat]) != Conclusion::NotTried);
        match (conclusions.under(strategy, &required), cost) {
            (Conclusion::Fails(_), _) => choice.fails.push(one_line(strategy, MAX_NAME)),
            (Conclusion::DataLoss, _) => choice.data_loss.push(one_line(strategy, MAX_NAME)),
            (Conclusion::Holds, Some(cost)) if is_whole => {
                choice.holds.push(candidate(cost, &conclusions, &required));
            }
            _ => choice.untested.push(one_line(strategy, MAX_NAME)),
        }
    }
    choice
        .holds
        .sort_by(|one, other| other.sales_per_s.total_cmp(&one.sales_per_s));
    if let Some(fastest) = choice.holds.first().map(|first| first.sales_per_s) {
        let is_useful = |candidate: &Candidate| candidate.sales_per_s * USELESS >= fastest;
        (choice.holds, choice.useless) = choice.holds.into_iter().partition(is_useful);
    }
    Ok(choice)
}

pub(crate) fn candidate(cost: &Cell, conclusions: &Conclusions, required: &[&str]) -> Candidate {
    let median = |values: Vec<f64>| Spread::of(values).map_or(0.0, |spread| spread.median);
    let latency = |of: fn(&crate::responses::latency::Latency) -> u64| {
        let sold = cost
            .rounds
            .iter()
            .filter_map(|round| round.latency_us.get(&ResponseKind::Sold));
        median(sold.map(|latency| of(latency) as f64 / 1_000.0).collect())
    };
    let others = || threats::names().into_iter().filter(|name| !required.contains(name));
    let under = |is: fn(Conclusion) -> bool| {
        let found = others().filter(|threat| is(conclusions.under(cost.strategy, &[threat])));
        found.collect::<Vec<_>>()
    };
    Candidate {
        strategy: one_line(cost.strategy, MAX_NAME),
        sales_per_s: median(cost.rounds.iter().map(|round| round.sales_per_s).collect()),
        median_ms: latency(|latency| latency.p50),
        p99_ms: latency(|latency| latency.p99),
        fails_under: under(|conclusion| matches!(conclusion, Conclusion::Fails(_))),
        data_loss_under: under(|conclusion| conclusion == Conclusion::DataLoss),
    }
}
