//! What a document says of a run in short: its result in a few sentences, the matrix by kinds of mechanisms, and what
//! sales cost.

use super::families::{Family, LEGEND, families, tables};
use super::table::{code, table};
use super::with_warning;
use crate::audit::Verdict;
use crate::result::RunResult;
use crate::result::cell::{Cell, ClaimCheck};
use crate::result::summary::{Row, explanations, rows};
use crate::threats;

/// The most strategies that are named in a sentence.
const MOST_NAMED: usize = 24;

/// The sentences and the tables. `known` has the place of a strategy in its catalogue and its kind of mechanism, where
/// there is a catalogue. `place` is where the whole run is kept, as seen from the document.
pub fn summary(run: &RunResult, known: impl Fn(&str) -> Option<(usize, &'static str)>, place: &str) -> String {
    let cells = Cell::all(run);
    let families = families(&cells, known);
    let rows = rows(run);
    let parts = [
        [
            extent(run, &families, &cells),
            holding(&families, &cells),
            claims(&cells),
        ]
        .join(" "),
        tables(&families, &cells),
        format!(
            "{LEGEND} Every strategy, and how much went wrong: [{place}/result.md]({place}/result.md#who-oversells). \
             Every round is in [{place}]({place})."
        ),
        costs(&families, &rows),
        explanations(run).join(" "),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    with_warning(run, parts.join("\n\n"))
}

/// How much was played, and with how many of the strategies something went wrong.
fn extent(run: &RunResult, families: &[Family], cells: &[Cell]) -> String {
    let strategies = || families.iter().flat_map(|family| &family.strategies);
    let is_violated = |strategy: &&&str| {
        let mut own = cells.iter().filter(|cell| cell.strategy == **strategy);
        own.any(|cell| cell.count(Verdict::Violated) > 0)
    };
    let violated = strategies().filter(is_violated).count();
    let mut threats: Vec<&str> = cells.iter().map(|cell| cell.threat).collect();
    threats.sort_unstable();
    threats.dedup();
    threats.retain(|threat| threats::find(threat).is_none_or(|known| !known.is_control));
    let rounds = run.rounds.iter().filter(|round| round.skipped.is_none()).count();
    format!(
        "{} strategies of {} kinds under {} threats, in {rounds} rounds: with {violated} of them something went wrong.",
        strategies().count(),
        families.len(),
        threats.len(),
    )
}

/// Whether the strategies did what they claim.
fn claims(cells: &[Cell]) -> String {
    let count = |check| cells.iter().filter(|cell| cell.claim_check() == check).count();
    let wrong = count(ClaimCheck::NotAsDesigned);
    let open = count(ClaimCheck::Inconclusive) + count(ClaimCheck::Skipped);
    let all = cells.len();
    match (wrong, open) {
        (0, 0) => format!("All {all} trials went as the strategies claim."),
        (0, open) => format!(
            "{} of {all} trials went as the strategies claim; {open} decide nothing.",
            all - open
        ),
        (wrong, open) => {
            format!("{wrong} of {all} trials did not go as the strategies claim: see `!!`; {open} decide nothing.")
        }
    }
}

/// Who held wherever a store keeps what it was given: no strategy can sell by what its store has forgotten. Who was not
/// put to the test under one of the threats is not among them.
fn holding(families: &[Family], cells: &[Cell]) -> String {
    let forgets = |threat| threats::find(threat).is_some_and(|threat| threat.empties_a_store);
    let holds = |strategy: &&str| {
        let mut own = cells
            .iter()
            .filter(|cell| cell.strategy == *strategy && !forgets(cell.threat))
            .peekable();
        own.peek().is_some() && own.all(Cell::holds)
    };
    let strategies = families.iter().flat_map(|family| &family.strategies);
    let holding: Vec<String> = strategies.copied().filter(holds).map(code).collect();
    let under = if cells.iter().any(|cell| forgets(cell.threat)) {
        "under every threat that leaves the stores what they were given"
    } else {
        "under every threat"
    };
    match holding.len() {
        0 => format!("None held in every round {under}."),
        many if many > MOST_NAMED => format!("{many} held in every round {under}."),
        many => format!("{many} held in every round {under}: {}.", holding.join(", ")),
    }
}

/// What sales cost: one strategy of each kind, the first. Empty where that was not measured.
fn costs(families: &[Family], rows: &[Row]) -> String {
    let cells: Vec<Vec<String>> = families
        .iter()
        .filter_map(|family| {
            let first = family.strategies.first()?;
            let row = rows.iter().find(|row| row.strategy == *first)?;
            let [sales, ms] = row.cost.clone();
            (!sales.is_empty()).then(|| vec![code(first), sales, ms, family.words.clone()])
        })
        .collect();
    if cells.is_empty() {
        return String::new();
    }
    let heads = ["strategy", "sales/s", "ms", "mechanism"].map(str::to_owned);
    let costs = table(heads.to_vec(), cells);
    format!("What sales cost, of each kind with its first strategy:\n\n{costs}")
}
