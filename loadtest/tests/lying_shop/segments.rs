//! A counter in parts is judged like a whole one.

use loadtest::audit::Verdict;

use crate::runner::{LOAD, Trial, TrialRunner};

/// The lies that are tried here.
pub const SEGMENTS: &[&str] = &["sells-from-segments"];

#[test]
fn a_shop_that_sells_from_segments_is_not_accused() {
    let tried = TrialRunner::open().try_shop(&Trial {
        lie: "sells-from-segments",
        threats: &["one-buyer", "second-instance", "crashed-holder"],
        instances: 2,
        load: LOAD,
        repeats: 1,
    });
    assert_eq!((&tried.error, tried.run.rounds.len()), (&None, 3));
    for round in &tried.run.rounds {
        let found = (round.verdict, round.findings.named(), round.facts.stock_left);
        assert_eq!(found, (Verdict::Holds, vec![], Some(0)), "{round:?}");
    }
}
