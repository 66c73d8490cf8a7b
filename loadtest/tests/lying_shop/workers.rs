//! Load of workers: nobody at the workers sees the ledgers, so the run looks at them.

use loadtest::audit::Verdict;
use loadtest::sale::Load;

use crate::classes::CROWD;
use crate::expected::{Expected, check, shown};
use crate::runner::{LOAD, Trial, TrialRunner};

/// An attack of about two seconds, which ends when the item has been sold out for some time.
const LONG: Load = Load {
    requests: 8 * 40,
    stock: 8 * 35,
    work_ms: 50,
    ..LOAD
};

fn with_workers() -> TrialRunner {
    let mut runner = TrialRunner::open();
    runner.workers = 2;
    runner
}

fn trial(lie: &str) -> Trial<'_> {
    Trial {
        lie,
        threats: CROWD,
        instances: 2,
        load: LONG,
        repeats: 1,
    }
}

#[test]
fn orders_that_are_late_only_while_workers_attack_are_found() {
    let tried = with_workers().try_shop(&trial("writes-when-sold-out"));
    let checked = check(&tried, &Expected::Found(&["lost"]));
    assert_eq!(checked, Ok(()), "{}", shown(&tried));
}

#[test]
fn an_honest_shop_holds_under_the_load_of_workers() {
    let runner = with_workers();
    for name in ["plain", "in-pieces"] {
        let tried = runner.try_shop(&trial(name));
        let verdicts: Vec<Verdict> = tried.run.rounds.iter().map(|round| round.verdict).collect();
        assert_eq!(verdicts, [Verdict::Holds; 2], "{name}: {}", shown(&tried));
    }
}
