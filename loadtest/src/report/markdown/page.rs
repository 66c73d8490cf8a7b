//! The whole matrix as a page: the verdict, and one table for each group of threats with one word in each cell.

use super::language::Language;
use super::matrix::{environment, title, whole};
use super::table::{code, escaped, table};
use super::with_warning;
use crate::result::RunResult;
use crate::result::cell::{Cell, ClaimCheck, Spread, strategies};
use crate::result::conclusion::{Conclusion, Conclusions, stores};
use crate::result::summary::explanations;
use crate::text::counted;
use crate::threats;

/// The groups of threats, one table each. All other threats form one more group.
const GROUPS: [(&str, &[&str]); 9] = [
    (
        "Crowds on several instances",
        &["one-buyer", "crowd", "second-instance"],
    ),
    (
        "The holder fails",
        &[
            "crashed-holder",
            "crashed-between",
            "reconciler-killed",
            "slow-holder",
            "paused-holder",
            "blocked-runtime",
            "instance-cut-off",
        ],
    ),
    (
        "Redis fails",
        &[
            "redis-restart",
            "redis-restart-aof",
            "redis-power-loss",
            "redis-power-loss-synced",
            "redis-failover",
            "redis-evicts",
            "redis-evicts-all",
            "redis-full",
        ],
    ),
    (
        "A Redis Cluster changes",
        &["cluster-failover", "slot-migration", "node-cut-off"],
    ),
    (
        "The SQL database fails",
        &[
            "sql-restart",
            "sql-power-loss",
            "sql-power-loss-unsynced",
            "sql-gone",
            "pool-exhausted",
            "sql-failover",
        ],
    ),
    (
        "A lock service fails",
        &[
            "session-expiry",
            "lock-service-restart",
            "minority-restart",
            "majority-restart",
            "leader-change",
        ],
    ),
    (
        "Clocks are wrong",
        &[
            "clock-jump",
            "clock-back",
            "redis-restart-clock-back",
            "minority-clock-jump",
            "majority-clock-jump",
        ],
    ),
    ("A disk is full", &["disk-full"]),
    (
        "The network, the buyer or a release",
        &[
            "store-silent",
            "lost-reply",
            "slow-network",
            "message-twice",
            "second-click",
            "retrying-proxy",
            "buyer-gone",
            "rolling-replacement",
        ],
    ),
];

/// Returns the page. `known` gives the place of a strategy in the catalogue and its kind of mechanism, where there is a
/// catalogue. `place` is the path from the page to the whole run.
pub fn page(run: &RunResult, known: impl Fn(&str) -> Option<(usize, &'static str)>, place: &str) -> String {
    let cells = Cell::all(run);
    let conclusions = Conclusions::of(&cells);
    let mut strategies = strategies(&cells);
    strategies.sort_by_key(|strategy| known(strategy).map_or(usize::MAX, |(place, _)| place));
    let kind = |strategy: &str| known(strategy).map(|(_, kind)| kind);
    let first: Vec<_> = strategies.iter().map(|strategy| kind(strategy)).collect();
    strategies.sort_by_key(|strategy| first.iter().position(|kind_of| *kind_of == kind(strategy)));
    let mut parts = vec![
        verdict(&strategies, &cells, &conclusions),
        format!(
            "**Bold**: it fails. `data loss`: only the store lost what it had confirmed. `no test`: the rounds decide \
             nothing. `-`: not tried, because the threat does not concern the strategy. `!!`: not as the strategy claims. \
             A cell names the gravest finding of its rounds: [how a verdict is made](verdict.md). Numbers: \
             [result.md]({place}/result.md). Every round: [{place}]({place})."
        ),
        survivors(&strategies, &cells, &conclusions),
    ];
    for (group, threats) in groups(&cells) {
        let table = group_table(&strategies, &threats, &cells, &conclusions, &known);
        parts.push(format!("## {group}\n\n{table}"));
    }
    parts.push(format!(
        "## The run\n\n{} {}",
        explanations(run).join(" "),
        environment(run)
    ));
    parts.retain(|part| !part.is_empty());
    with_warning(run, parts.join("\n\n"))
}

/// Whether a strategy holds wherever its store keeps the data that it confirmed.
fn survives<'a>(strategy: &str, cells: &[Cell<'a>], conclusions: &Conclusions<'a>) -> bool {
    let mut own = cells.iter().filter(|cell| cell.strategy == strategy).peekable();
    own.peek().is_some()
        && own.all(|cell| matches!(conclusions.of_cell(cell), Conclusion::Holds | Conclusion::DataLoss))
}

fn verdict<'a>(strategies: &[&str], cells: &[Cell<'a>], conclusions: &Conclusions<'a>) -> String {
    let all = strategies.len();
    let count = |is: &dyn Fn(&str) -> bool| strategies.iter().filter(|strategy| is(strategy)).count();
    let held = count(&|strategy| survives(strategy, cells, conclusions));
    let failed = count(&|strategy| {
        let mut own = cells.iter().filter(|cell| cell.strategy == strategy);
        own.any(|cell| matches!(conclusions.of_cell(cell), Conclusion::Fails(_)))
    });
    let undecided = match all - held - failed {
        0 => String::new(),
        some => format!(", and {some} were not put to the test"),
    };
    let rounds: usize = cells.iter().map(|cell| cell.rounds.len()).sum();
    let checked = |check| cells.iter().filter(|cell| cell.claim_check() == check).count();
    let open = checked(ClaimCheck::Inconclusive) + checked(ClaimCheck::Skipped) + checked(ClaimCheck::NotPlayable);
    let claims = match (checked(ClaimCheck::NotAsDesigned), open) {
        (0, 0) => "Every trial went as the strategies claim.".to_owned(),
        (0, open) => format!(
            "{open} of {} trials decide nothing; all others went as the strategies claim.",
            cells.len()
        ),
        (wrong, _) => format!(
            "{wrong} of {} trials did not go as the strategies claim: see `!!`.",
            cells.len()
        ),
    };
    let mut threats: Vec<_> = cells.iter().map(|cell| cell.threat).collect();
    threats.sort_unstable();
    threats.dedup();
    let under = if cells.iter().any(Cell::is_cost) {
        "every threat".to_owned()
    } else {
        format!("the {} of this run", counted(threats.len(), ["threat", "threats"]))
    };
    format!(
        "**{held} of {all} strategies hold under {under}, as long as their store keeps what it confirmed; {failed} \
         fail{undecided}.** {rounds} rounds. {claims}"
    )
}

/// Returns the strategies that hold, the fastest first; nothing of a run without the threat that measures how fast they are.
fn survivors<'a>(strategies: &[&str], cells: &[Cell<'a>], conclusions: &Conclusions<'a>) -> String {
    if !cells.iter().any(Cell::is_cost) {
        return String::new();
    }
    let emptying = threats::all().iter().filter(|threat| threat.empties_a_store);
    let emptying: Vec<_> = emptying.map(|threat| threat.name).collect();
    let mut rows: Vec<(f64, Vec<String>)> = Vec::new();
    for strategy in strategies
        .iter()
        .filter(|strategy| survives(strategy, cells, conclusions))
    {
        let cost = cells.iter().find(|cell| cell.strategy == *strategy && cell.is_cost());
        let sales = cost.and_then(|cell| Spread::of(cell.rounds.iter().map(|round| round.sales_per_s)));
        let sales = sales.map_or(0.0, |sales| sales.median);
        let emptied = Language::English.word(conclusions.under(strategy, &emptying));
        rows.push((sales, vec![code(strategy), whole(sales), emptied]));
    }
    rows.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    if rows.is_empty() {
        return String::new();
    }
    let heads = ["strategy", "sales/s", "when a store loses data"].map(str::to_owned);
    let table = table(heads.to_vec(), rows.into_iter().map(|(_, row)| row).collect());
    format!("## Strategies that hold\n\n{table}")
}

/// Returns the groups with the threats of the run. A control that all strategies pass is left out.
fn groups<'a>(cells: &[Cell<'a>]) -> Vec<(&'static str, Vec<(&'a str, usize)>)> {
    let mut columns: Vec<(&str, usize)> = Vec::new();
    for cell in cells {
        let is_control = threats::find(cell.threat).is_some_and(|threat| threat.is_control);
        let same = |other: &&Cell| other.threat == cell.threat;
        let is_left_out = is_control && cells.iter().filter(same).all(Cell::holds);
        if !is_left_out && !columns.contains(&(cell.threat, cell.instances)) {
            columns.push((cell.threat, cell.instances));
        }
    }
    let has = |threats: &[&str], threat: &str| threats.contains(&threat);
    let others = columns
        .iter()
        .filter(|(threat, _)| !GROUPS.iter().any(|(_, threats)| has(threats, threat)));
    let others = ("Other threats", others.copied().collect::<Vec<_>>());
    let named = GROUPS.iter().map(|(group, threats)| {
        let mut own: Vec<_> = columns
            .iter()
            .copied()
            .filter(|(threat, _)| has(threats, threat))
            .collect();
        own.sort_by_key(|(threat, instances)| (threats.iter().position(|named| named == threat), *instances));
        (*group, own)
    });
    named
        .chain([others])
        .filter(|(_, columns)| !columns.is_empty())
        .collect()
}

/// Returns one row for each mechanism, or one for each of its stores where the results differ.
fn group_table<'a>(
    strategies: &[&'a str],
    columns: &[(&str, usize)],
    cells: &[Cell<'a>],
    conclusions: &Conclusions<'a>,
    known: &impl Fn(&str) -> Option<(usize, &'static str)>,
) -> String {
    let mut rows: Vec<(&str, Vec<String>, Vec<String>)> = Vec::new();
    for strategy in strategies {
        let (mechanism, store) = (strategy.split('@').next().unwrap_or(strategy), stores(strategy));
        let words = columns.iter().map(|(threat, instances)| {
            let here = |cell: &&Cell| (cell.strategy, cell.threat, cell.instances) == (*strategy, *threat, *instances);
            cells
                .iter()
                .find(here)
                .map_or_else(|| "-".to_owned(), |cell| word(cell, conclusions))
        });
        let words: Vec<String> = words.collect();
        let store = if store.is_empty() {
            String::new()
        } else {
            format!("@{store}")
        };
        match rows
            .iter_mut()
            .find(|(other, _, own)| *other == mechanism && *own == words)
        {
            Some((_, stores, _)) => stores.push(store),
            None if words.iter().all(|word| word == "-") => {}
            None => rows.push((mechanism, vec![store], words)),
        }
    }
    let mut family = "";
    let rows = rows.into_iter().map(|(mechanism, stores, words)| {
        let name = format!("{mechanism}{}", stores[0]);
        let own = known(&name).map_or("other", |(_, family)| family);
        let head = if own == family { String::new() } else { escaped(own) };
        family = own;
        let name = code(format!("{mechanism}{}", stores.join(" ")).trim());
        [head, name].into_iter().chain(words).collect()
    });
    let titles = columns.iter().map(|(threat, instances)| title(threat, *instances));
    let heads = ["mechanism", "strategy"].map(str::to_owned).into_iter().chain(titles);
    table(heads.collect(), rows.collect())
}

fn word<'a>(cell: &Cell<'a>, conclusions: &Conclusions<'a>) -> String {
    let word = Language::English.word(conclusions.of_cell(cell));
    if cell.claim_check() == ClaimCheck::NotAsDesigned {
        format!("{word} !!")
    } else {
        word
    }
}
