//! Random histories: an honest one always holds, and every kind of planted lie is always found.

mod doubts;
mod history;
mod lies;

use loadtest::audit::Verdict;
use proptest::prelude::*;
use proptest::sample::Index;

use self::doubts::DOUBTS;
use self::history::honest;
use self::lies::LIES;

proptest! {
    #[test]
    fn an_honest_history_holds(history in honest()) {
        let judged = history.judge();
        prop_assert_eq!(judged.verdict, Verdict::Holds, "{:?}", judged);
    }

    #[test]
    fn every_planted_doubt_makes_a_round_inconclusive(history in honest(), sale in any::<Index>()) {
        for (name, words, plant) in DOUBTS {
            let mut history = history.clone();
            let sale = history.sale(sale);
            plant(&mut history, sale);
            let judged = history.judge();
            prop_assert_eq!(judged.verdict, Verdict::Inconclusive, "{}: {:?}", name, judged);
            let why = judged.inconclusive.unwrap_or_default();
            prop_assert!(why.contains(words), "{}: {}", name, why);
        }
    }

    #[test]
    fn every_planted_lie_is_found_by_its_name(history in honest(), sale in any::<Index>()) {
        for (name, finding, tell) in LIES {
            let mut history = history.clone();
            let sale = history.sale(sale);
            tell(&mut history, sale);
            let judged = history.judge();
            prop_assert_eq!(judged.verdict, Verdict::Violated, "{}: {:?}", name, judged);
            prop_assert_ne!(judged.findings.of(*finding), 0, "{}: {:?}", name, judged);
        }
    }
}
