//! The matrix in short: one row per kind of mechanism, one column per threat.

use super::matrix::title;
use super::table::{escaped, table};
use crate::audit::Verdict;
use crate::result::cell::{Cell, ClaimCheck};
use crate::threats;

/// The most threats side by side: a page on GitHub has no room for more, and would have to be moved to and fro.
const SIDE_BY_SIDE: usize = 7;

/// How the tables are read.
pub(super) const LEGEND: &str = "\
A number in brackets: so many strategies of that kind. `holds`: nothing went wrong in any round. **In bold:** the \
gravest thing that went wrong, and with how many of the strategies that were tried something did. `holds 3/4`: the \
fourth was not put to the test; `no test`: none was. Empty: not tried.";

/// Strategies of one kind.
pub(super) struct Family<'a> {
    /// What it is called, ready to be shown.
    pub(super) words: String,
    /// Those that belong to it.
    pub(super) strategies: Vec<&'a str>,
}

/// The tables, one below the other where not all threats have room in one. A control that all strategies pass is left
/// out.
pub(super) fn tables(families: &[Family], cells: &[Cell]) -> String {
    let threats = threats(cells);
    let parts = threats.len().div_ceil(SIDE_BY_SIDE).max(1);
    let tables = threats.chunks(threats.len().div_ceil(parts).max(1)).map(|threats| {
        let titles = threats.iter().map(|threat| head(threat, cells));
        let heads = ["mechanism".to_owned()].into_iter().chain(titles);
        let rows = families.iter().map(|family| {
            let happened = threats.iter().map(|threat| happened(family, threat, cells));
            let name = format!("{} ({})", family.words, family.strategies.len());
            [name].into_iter().chain(happened).collect()
        });
        table(heads.collect(), rows.collect())
    });
    tables.collect::<Vec<_>>().join("\n\n")
}

/// In the order in which they are listed, and behind them those that are not.
fn threats<'a>(cells: &[Cell<'a>]) -> Vec<&'a str> {
    let mut shown: Vec<&str> = Vec::new();
    for cell in cells {
        let is_control = threats::find(cell.threat).is_some_and(|threat| threat.is_control);
        let leave_out = is_control
            && cells
                .iter()
                .filter(|other| other.threat == cell.threat)
                .all(Cell::holds);
        if !leave_out && !shown.contains(&cell.threat) {
            shown.push(cell.threat);
        }
    }
    let names = threats::names();
    shown.sort_by_key(|threat| names.iter().position(|name| name == threat).unwrap_or(names.len()));
    shown
}

/// The title of a threat on each number of instances that it was tried on.
fn head(threat: &str, cells: &[Cell]) -> String {
    let mut titles: Vec<String> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.threat == threat) {
        let title = title(threat, cell.instances);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    titles.join(", ")
}

/// What became of the strategies of a family under a threat.
fn happened(family: &Family, threat: &str, cells: &[Cell]) -> String {
    let of = |strategy: &str| {
        let own = move |cell: &&Cell| cell.strategy == strategy && cell.threat == threat && !cell.rounds.is_empty();
        cells.iter().filter(own).collect::<Vec<_>>()
    };
    let tried: Vec<Vec<&Cell>> = family.strategies.iter().map(|strategy| of(strategy)).collect();
    let tried: Vec<_> = tried.iter().filter(|cells| !cells.is_empty()).collect();
    let has = |cells: &[&Cell], verdict| cells.iter().any(|cell| cell.count(verdict) > 0);
    let failed = tried.iter().filter(|cells| has(cells, Verdict::Violated)).count();
    let held = tried
        .iter()
        .filter(|cells| !has(cells, Verdict::Violated) && has(cells, Verdict::Holds))
        .count();
    let gravest = tried
        .iter()
        .flat_map(|cells| cells.iter())
        .filter_map(|cell| cell.gravest());
    let all = tried.len();
    let text = match gravest.map(|(finding, _)| finding).min() {
        _ if all == 0 => return String::new(),
        Some(gravest) => format!("**{} {failed}/{all}**", gravest.name().replace('_', " ")),
        None if held == all => "holds".to_owned(),
        None if held == 0 => "no test".to_owned(),
        None => format!("holds {held}/{all}"),
    };
    let wrong = |cell: &&Cell| cell.claim_check() == ClaimCheck::NotAsDesigned;
    if tried.iter().any(|cells| cells.iter().any(wrong)) {
        format!("{text} !!")
    } else {
        text
    }
}

/// The strategies of a run by their families, in the order of `known`, which has the place of a strategy in its
/// catalogue and the words for its kind. One that it does not know is a kind of its own, by its name.
pub(super) fn families<'a>(
    cells: &[Cell<'a>],
    known: impl Fn(&str) -> Option<(usize, &'static str)>,
) -> Vec<Family<'a>> {
    let mut strategies: Vec<&str> = Vec::new();
    for cell in cells {
        if !strategies.contains(&cell.strategy) {
            strategies.push(cell.strategy);
        }
    }
    strategies.sort_by_key(|strategy| known(strategy).map_or(usize::MAX, |(place, _)| place));
    let mut families: Vec<Family> = Vec::new();
    for strategy in strategies {
        let words = known(strategy).map_or_else(|| escaped(strategy), |(_, words)| words.to_owned());
        match families.iter_mut().find(|family| family.words == words) {
            Some(family) => family.strategies.push(strategy),
            None => families.push(Family {
                words,
                strategies: vec![strategy],
            }),
        }
    }
    families
}
