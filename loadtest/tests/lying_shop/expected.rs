//! The expected result of a trial, and the check of it.

use loadtest::audit::Verdict;
use loadtest::result::RoundResult;

use crate::runner::Tried;
use Expected::{Doubted, DoubtedOnce, EndsEarly, Found, FoundOnce, HoldsOnceMore, Refused};

/// The expected result of a trial.
pub enum Expected {
    /// Every round is violated, and all of these are found in it.
    Found(&'static [&'static str]),
    /// At least one round is violated with this finding: in the other rounds the error may not occur.
    FoundOnce(&'static str),
    /// No round holds, and each is inconclusive for a reason with these words.
    Doubted(&'static str),
    /// At least one round is inconclusive for a reason with these words: in the others chance may hide the lie.
    DoubtedOnce(&'static str),
    /// Every round was inconclusive for a reason with these words, was played again, and holds.
    HoldsOnceMore(&'static str),
    /// The shop is not tried at all, for a reason with these words.
    Refused(&'static str),
    /// The run ends early for a reason with these words, and no round holds.
    EndsEarly(&'static str),
}

/// Checks the result of a trial. The error says what was expected.
pub fn check(tried: &Tried, expected: &Expected) -> Result<(), String> {
    let rounds = &tried.run.rounds;
    let all = |is_so: &dyn Fn(&RoundResult) -> bool| !rounds.is_empty() && rounds.iter().all(is_so);
    let none_holds = rounds.iter().all(|round| round.verdict != Verdict::Holds);
    let (is_so, expected) = match expected {
        Found(names) => {
            let has_all = |round: &RoundResult| names.iter().all(|name| has(round, name));
            (all(&has_all), format!("{names:?} in every round"))
        }
        FoundOnce(name) => {
            let once = rounds.iter().any(|round| has(round, name));
            (once, format!("{name} once"))
        }
        Doubted(words) => {
            let doubted = |round: &RoundResult| doubt(round).contains(words) && round.findings.named().is_empty();
            (all(&doubted), format!("doubt because of \"{words}\" in every round"))
        }
        DoubtedOnce(words) => {
            let is_so = |round: &RoundResult| doubt(round).contains(words);
            (rounds.iter().any(is_so), format!("doubt because of \"{words}\" once"))
        }
        HoldsOnceMore(words) => {
            let is_so = |round: &RoundResult| {
                let before = round.inconclusive_before.iter();
                round.verdict == Verdict::Holds && before.map(|why| why.contains(words)).eq([true])
            };
            (all(&is_so), format!("a second play that holds, because of \"{words}\""))
        }
        Refused(words) => {
            let said = tried.error.as_ref().is_some_and(|error| error.contains(words));
            (said && rounds.is_empty(), format!("a refusal with \"{words}\""))
        }
        EndsEarly(words) => {
            let said = tried.run.ended_early.as_ref().is_some_and(|why| why.contains(words));
            (said && none_holds, format!("an early end with \"{words}\""))
        }
    };
    if is_so {
        Ok(())
    } else {
        Err(format!("expected {expected}"))
    }
}

/// Returns the reason why a round proves nothing.
fn doubt(round: &RoundResult) -> &str {
    assert_eq!(
        round.verdict == Verdict::Inconclusive,
        round.inconclusive.is_some() || round.why_unplayed().is_some()
    );
    let why = round.inconclusive.as_deref().or(round.why_unplayed());
    why.unwrap_or("holds or is violated")
}

fn has(round: &RoundResult, finding: &str) -> bool {
    round.findings.named().iter().any(|(name, _)| *name == finding)
}

/// Shows the trial in a few lines.
pub fn shown(tried: &Tried) -> String {
    let rounds = tried.run.rounds.iter().map(|round| {
        let (verdict, named) = (round.verdict, round.findings.named());
        format!(
            "    {} {} {verdict:?} {named:?} {:?} {:?}",
            round.strategy, round.threat, round.inconclusive, round.inconclusive_before
        )
    });
    let error = tried.error.iter().map(|error| format!("    {error}"));
    rounds.chain(error).collect::<Vec<_>>().join("\n")
}
