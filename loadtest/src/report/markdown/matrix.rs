//! The whole matrix: one row per strategy, grouped by the family of its mechanism, and one column per threat.

use super::table::{code, escaped, table};
use crate::audit::{Finding, Verdict};
use crate::result::RunResult;
use crate::result::cell::{COST_UNDER, Cell, ClaimCheck, Spread, columns, strategies, upper_bound_95};
use crate::shop::response::ResponseKind;
use crate::text::{MAX_NAME, one_line};
use crate::threats;

/// The shortest time without a sale that is shown, in seconds. A shorter one is a queue.
const BUSY_FROM_S: f64 = 0.5;

/// Returns the table with its legend.
pub(super) fn matrix(run: &RunResult) -> String {
    let cells = Cell::all(run);
    let (columns, mut strategies) = (columns(&cells), strategies(&cells));
    let families = by_family(&mut strategies, &cells);
    let titles = columns.iter().map(|(threat, instances)| title(threat, *instances));
    let mut heads: Vec<String> = ["strategy".to_owned()].into_iter().chain(titles).collect();
    if !families.is_empty() {
        heads.insert(0, "mechanism".to_owned());
    }
    let cost_at = columns.iter().find(|(threat, _)| *threat == COST_UNDER);
    if let Some((_, instances)) = cost_at {
        heads.push(format!("sales/s ({instances} instances)"));
        heads.push("sold ms, median / slowest".to_owned());
    }
    let rows = strategies.iter().enumerate().map(|(place, strategy)| {
        let find = |(threat, instances): &(&str, usize)| {
            let here = |cell: &&Cell| (cell.strategy, cell.threat, cell.instances) == (*strategy, *threat, *instances);
            cells.iter().find(here)
        };
        let verdicts = columns
            .iter()
            .map(|column| find(column).map_or(String::new(), happened));
        let mut row: Vec<String> = families.get(place).cloned().into_iter().collect();
        row.push(code(strategy));
        row.extend(verdicts);
        if let Some(column) = cost_at {
            row.extend(find(column).map_or([String::new(), String::new()], cost));
        }
        row
    });
    let table = table(heads, rows.collect());
    format!("{table}\n\n{}\n\n{}", legend(&cells), setting(run))
}

/// Puts the strategies of one family together. Returns the first cell of each row: the family in its first row, else an
/// empty text. Returns nothing where the shop names no families.
fn by_family(strategies: &mut [&str], cells: &[Cell]) -> Vec<String> {
    let family = |strategy: &str| cells.iter().find(|cell| cell.strategy == strategy)?.family;
    let mut families: Vec<Option<&str>> = Vec::new();
    for strategy in strategies.iter() {
        if !families.contains(&family(strategy)) {
            families.push(family(strategy));
        }
    }
    if families.iter().all(Option::is_none) {
        return Vec::new();
    }
    strategies.sort_by_key(|strategy| families.iter().position(|known| *known == family(strategy)));
    let mut shown = None;
    let words = strategies.iter().map(|strategy| {
        let family = family(strategy);
        let words = family.filter(|_| shown != Some(family)).unwrap_or_default();
        shown = Some(family);
        escaped(&words.replace('-', " "))
    });
    words.collect()
}

pub(super) fn title(threat: &str, instances: usize) -> String {
    threats::find(threat).map_or_else(|| escaped(threat), |found| found.title_on(instances))
}

/// Returns the title of a column for a page that is no Markdown.
pub(in crate::report) fn plain_title(threat: &str, instances: usize) -> String {
    threats::find(threat).map_or_else(|| one_line(threat, MAX_NAME), |found| found.title_on(instances))
}

/// Returns the verdict, whether two purchases held one lock, and the longest time without a sale.
pub(in crate::report) fn happened(cell: &Cell) -> String {
    let overlap = cell.overlaps().then(|| "overlap".to_owned());
    let busy = cell.busy_s().filter(|seconds| *seconds >= BUSY_FROM_S);
    let busy = busy.map(|seconds| format!("busy {seconds:.1} s"));
    let parts = [Some(verdict(cell)), overlap, busy].into_iter().flatten();
    parts.collect::<Vec<_>>().join("; ")
}

/// Returns `holds 3/3`, or the gravest finding with its size, the phases that broke the strategy and the share of
/// violated rounds.
fn verdict(cell: &Cell) -> String {
    let (violated, all) = (cell.count(Verdict::Violated), cell.rounds.len());
    let text = match (violated, cell.count(Verdict::Inconclusive)) {
        (0, 0) if all == 0 => return cell.unplayed().to_owned(),
        (0, 0) => format!("holds {all}/{all}"),
        (0, unclear) => format!("no test {unclear}/{all}"),
        (violated, _) if violated == all => format!("**{}**{}", found(cell), phase(cell)),
        (violated, _) => format!("**{}**{}, {violated}/{all} rounds", found(cell), phase(cell)),
    };
    match cell.claim_check() {
        ClaimCheck::AsDesigned if cell.undeclared => format!("{text} (nobody claims anything here)"),
        ClaimCheck::AsDesigned | ClaimCheck::Skipped | ClaimCheck::NotPlayable => text,
        ClaimCheck::NotAsDesigned => format!("{text} !!"),
        ClaimCheck::Inconclusive => format!("{text} ??"),
    }
}

fn found(cell: &Cell) -> String {
    let Some((gravest, _)) = cell.gravest() else {
        return String::new();
    };
    if gravest == Finding::Stuck {
        return gravest.name().to_owned();
    }
    let sizes = cell.rounds.iter().map(|round| round.findings.of(gravest));
    let sizes = Spread::of(sizes.filter(|size| *size != 0).map(|size| size as f64));
    let name = gravest.name().replace('_', " ");
    format!("{name} {}", sizes.map_or(String::new(), spread))
}

/// Returns the phases that broke the strategy, after a space.
fn phase(cell: &Cell) -> String {
    cell.broken_in().map_or_else(String::new, |phase| format!(" {phase}"))
}

fn cost(cell: &Cell) -> [String; 2] {
    let sales = Spread::of(cell.rounds.iter().map(|round| round.sales_per_s));
    [sales.map_or(String::new(), spread), latency(cell, ResponseKind::Sold)]
}

/// Returns the median, and the range where there is one.
pub fn spread(of: Spread) -> String {
    let (median, min, max) = (of.median.round(), of.min.round(), of.max.round());
    if min == max {
        format!("{median}")
    } else {
        format!("{median} [{min} to {max}]")
    }
}

/// Rounds a figure to a whole number, and below 10 to one digit after the point.
pub(super) fn whole(figure: f64) -> String {
    if figure < 10.0 {
        format!("{figure:.1}")
    } else {
        format!("{figure:.0}")
    }
}

/// Returns the medians over the repeats of the median and of the slowest latency, in ms. A round has too few responses
/// for a high quantile.
pub(super) fn latency(cell: &Cell, kind: ResponseKind) -> String {
    let latencies = || cell.rounds.iter().filter_map(|round| round.latency_us.get(&kind));
    let p50 = Spread::of(latencies().map(|latency| latency.p50 as f64 / 1_000.0));
    let slowest = Spread::of(latencies().map(|latency| latency.max as f64 / 1_000.0));
    match (p50, slowest) {
        (Some(p50), Some(slowest)) => format!("{:.1} / {:.1}", p50.median, slowest.median),
        _ => "-".to_owned(),
    }
}

pub(in crate::report) fn legend(cells: &[Cell]) -> String {
    let repeats = cells.iter().map(Cell::repeats).max().unwrap_or(0);
    let bound = upper_bound_95(repeats.max(1)) * 100.0;
    format!(
        "Empty: not played. A number is units of stock: the median over the repeats, [smallest to largest] where \
         they differ; of several findings the gravest. `stuck`: units were left and nobody could buy any more. \
         `overlap`: two purchases held the lock of the item at one time; the verdict does not depend on it. \
         `busy`: the longest time in which nobody could buy, from {BUSY_FROM_S} s on: from one sale to the next, \
         or from the start of the attack to the first, where a buyer was told busy or got no answer in between; \
         only time with an open request counts. `holds {repeats}/{repeats}` is not never: at 95 % confidence a \
         violation in up to {bound:.0} % of such rounds is still possible. `!!` marks a trial that is not as the \
         strategy claims, `??` a trial that decides nothing.{}",
        phases(cells)
    )
}

/// Explains the phases, where one broke a strategy.
fn phases(cells: &[Cell]) -> &'static str {
    if cells.iter().all(|cell| cell.broken_in().is_none()) {
        return "";
    }
    " `at work`, `before a renewal`, `after a renewal`, `before the write`: the moments of a holder at which the fault \
     broke the strategy, of all that were tried."
}

pub(in crate::report) fn setting(run: &RunResult) -> String {
    let load = run.rounds.iter().rfind(|round| round.threat == COST_UNDER);
    let load = load.or(run.rounds.last()).map_or(String::new(), |round| {
        format!(
            "{} buyers at once ask for {} of {} units, {} ms of work between read and write. ",
            round.buyers,
            round.demand,
            round.stock_in_words(),
            round.work_ms
        )
    });
    load + &environment(run)
}

/// Returns the servers, the machine, the time and the command.
pub(super) fn environment(run: &RunResult) -> String {
    let on = &run.environment;
    // A shop may have only one store.
    let servers = [
        ("Redis", Some(&on.redis)),
        ("MariaDB", Some(&on.mariadb)),
        ("PostgreSQL", on.postgresql.as_ref()),
        ("Redis Cluster", on.redis_cluster.as_ref()),
        ("nginx", on.nginx.as_ref()),
    ];
    let servers = servers.into_iter().filter_map(|(name, version)| {
        let version = version.filter(|version| !version.is_empty())?;
        Some(format!("{name} {}", escaped(version)))
    });
    let servers = servers.collect::<Vec<_>>().join(", ");
    let [cpu, os] = [&on.cpu, &on.os].map(|text| escaped(text));
    let unchecked = if on.insecure {
        "; the shop's certificates were not checked"
    } else {
        ""
    };
    let names = if on.is_elsewhere() {
        "; instances as the shop names them"
    } else {
        ""
    };
    format!(
        "{servers}{unchecked}{names}; {} x {cpu}, {} MiB, {os}. {}, {}.",
        on.cpus,
        on.memory_mib,
        escaped(&run.started_at),
        code(&run.command)
    )
}
