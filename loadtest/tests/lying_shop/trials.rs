//! Each lie, and what it has to be called.

use loadtest::audit::Verdict;
use loadtest::cell::{Standing, standing};
use loadtest::plan::Load;
use loadtest::result::RoundResult;
use loadtest::told::Word;

use crate::court::{ALL_CLAIMS, Court, LOAD};
use crate::lie::Lie;

/// What a round showed: its verdict, its findings and why it is no test.
type Shown<'a> = (Verdict, Vec<(&'static str, i64)>, Option<&'a str>);

fn shown(round: &RoundResult) -> Shown<'_> {
    (round.verdict, round.findings.named(), round.inconclusive.as_deref())
}

/// (strategy, threat) with told sold, sold out, unknown; recorded, explained, left.
fn numbers(round: &RoundResult) -> (&str, &str, [i64; 6]) {
    let facts = &round.facts;
    let told = [Word::Sold, Word::SoldOut, Word::Unknown].map(|word| round.units(word));
    let [sold, sold_out, unknown] = told;
    let all = [
        sold,
        sold_out,
        unknown,
        facts.recorded,
        facts.explained,
        facts.stock_left,
    ];
    (&round.strategy, &round.threat, all)
}

#[test]
fn an_honest_shop_holds_with_exact_numbers_over_both_stores() {
    let court = Court::open();
    let run = court.try_shop(Lie::None, ALL_CLAIMS, 2, LOAD);
    let expected = [
        ("lie@redis", "one-buyer", [12, 4, 0, 12, 0, 0]),
        ("lie@sql", "one-buyer", [12, 4, 0, 12, 0, 0]),
        ("lie@redis", "second-instance", [12, 12, 0, 12, 0, 0]),
        ("lie@sql", "second-instance", [12, 12, 0, 12, 0, 0]),
        ("lie@redis", "crashed-holder", [10, 5, 1, 10, 0, 0]),
        ("lie@sql", "crashed-holder", [10, 5, 1, 10, 0, 0]),
    ];
    assert_eq!(run.rounds.iter().map(numbers).collect::<Vec<_>>(), expected);
    for round in &run.rounds {
        assert_eq!(shown(round), (Verdict::Holds, vec![], None), "{round:?}");
        assert!(round.as_designed && round.sales_per_s > 0.0, "{round:?}");
        assert_eq!(round.latency_us[&Word::Sold].n as i64, round.stock);
    }
    assert_eq!(standing(&run), Standing::AsDesigned);
    assert_eq!(run.as_designed, Some(true));
}

#[test]
fn an_honest_shop_holds_when_each_purchase_is_of_three_units_and_one_unit_remains() {
    let court = Court::open();
    let load = Load {
        stock: 13,
        quantity: 3,
        ..LOAD
    };
    let run = court.try_shop(Lie::None, ALL_CLAIMS, 1, load);
    let expected = [
        ("lie@redis", "one-buyer", [12, 12, 0, 12, 0, 1]),
        ("lie@sql", "one-buyer", [12, 12, 0, 12, 0, 1]),
        ("lie@redis", "crowd", [12, 60, 0, 12, 0, 1]),
        ("lie@sql", "crowd", [12, 60, 0, 12, 0, 1]),
    ];
    assert_eq!(run.rounds.iter().map(numbers).collect::<Vec<_>>(), expected);
    assert_eq!(standing(&run), Standing::AsDesigned, "{:?}", run.rounds);
}

#[test]
fn an_honest_shop_with_units_left_sells_to_one_more_buyer_and_holds() {
    let court = Court::open();
    let load = Load { stock: 30, ..LOAD };
    let run = court.try_shop(Lie::None, ALL_CLAIMS, 1, load);
    let crowd = run.rounds.iter().filter(|round| round.threat == "crowd").map(numbers);
    let expected = [
        ("lie@redis", "crowd", [25, 0, 0, 25, 0, 5]),
        ("lie@sql", "crowd", [25, 0, 0, 25, 0, 5]),
    ];
    assert_eq!(crowd.collect::<Vec<_>>(), expected);
    assert_eq!(standing(&run), Standing::AsDesigned, "{:?}", run.rounds);
}

#[test]
fn selling_what_is_not_there_is_called_by_its_name_under_every_threat_and_over_both_stores() {
    each_is_found(&[
        (Lie::OversellsAtZero, &[("oversold", 3), ("drift", -3)]),
        (Lie::OversellsBelowZero, &[("oversold", 3)]),
        (Lie::TellsWithoutWriting, &[("oversold", 1), ("lost", 1)]),
        (Lie::RecordsWithoutTaking, &[("oversold", 1), ("drift", -1)]),
    ]);
}

#[test]
fn losing_inventing_and_refusing_are_called_by_their_names_under_every_threat_and_over_both_stores() {
    each_is_found(&[
        (Lie::LosesAnOrder, &[("lost", 1), ("drift", 1)]),
        (Lie::RecordsAGhost, &[("ghost", 1)]),
        (Lie::RefusesWhileStockIsLeft, &[("undersold", 2)]),
        (Lie::StuckAfterHalf, &[("stuck", 1)]),
    ]);
}

fn each_is_found(table: &[(Lie, &[(&'static str, i64)])]) {
    let court = Court::open();
    for (lie, findings) in table {
        let run = court.try_shop(*lie, ALL_CLAIMS, 2, LOAD);
        assert_eq!(run.rounds.len(), 6);
        for round in &run.rounds {
            let expected = (Verdict::Violated, findings.to_vec(), None);
            assert_eq!(shown(round), expected, "{lie:?}: {round:?}");
        }
        assert_eq!(standing(&run), Standing::NotAsDesigned, "{lie:?}");
    }
}

#[test]
fn a_shop_that_sells_nothing_is_no_test_whether_it_claims_anything_or_not() {
    let court = Court::open();
    let table: [(Lie, &'static [&'static str]); 5] = [
        (Lie::AlwaysBusy, ALL_CLAIMS),
        (Lie::AlwaysBusy, &[]),
        (Lie::AlwaysFails, &[]),
        (Lie::Silent, ALL_CLAIMS),
        (Lie::RejectsEveryone, &[]),
    ];
    for (lie, claims) in table {
        let run = court.try_shop(lie, claims, 2, LOAD);
        assert_eq!(run.rounds.len(), 6);
        for round in &run.rounds {
            let expected = (Verdict::Inconclusive, vec![], Some("nothing was sold"));
            assert_eq!(shown(round), expected, "{lie:?}: {round:?}");
        }
        assert_eq!(standing(&run), Standing::Inconclusive, "{lie:?}");
        assert_eq!(run.as_designed, None);
    }
}

#[test]
fn a_shop_without_idempotency_keys_sells_one_key_twice() {
    let court = Court::open();
    for round in court.try_shop(Lie::ForgetsKeys, ALL_CLAIMS, 2, LOAD).rounds {
        let expected = (Verdict::Violated, vec![("duplicate", 1)], None);
        assert_eq!(shown(&round), expected, "{round:?}");
    }
}

#[test]
fn an_order_whose_buyer_never_heard_of_it_is_explained_and_no_ghost() {
    let court = Court::open();
    let unheard = "1 answers never came, though nothing was broken on purpose";
    for round in court.try_shop(Lie::ForgetsAfterCommit, ALL_CLAIMS, 2, LOAD).rounds {
        let expected = match round.threat.as_str() {
            "crashed-holder" => (Verdict::Holds, vec![], None),
            _ => (Verdict::Inconclusive, vec![], Some(unheard)),
        };
        assert_eq!(shown(&round), expected, "{round:?}");
        assert_eq!(
            (round.units(Word::Sold), round.facts.recorded, round.facts.explained),
            (round.stock - 1, round.stock, 1)
        );
    }
}

#[test]
fn a_shop_that_does_not_take_part_in_the_threat_is_no_test() {
    let court = Court::open();
    let table = [
        (
            Lie::IgnoresFaults,
            ["crashed-holder"].as_slice(),
            "the fault never struck",
        ),
        (
            Lie::OneInstance,
            &["second-instance"],
            "only 1 of 2 instances ever answered",
        ),
    ];
    for (lie, threats, reason) in table {
        let run = court.try_shop(lie, ALL_CLAIMS, 2, LOAD);
        for round in &run.rounds {
            let expected = if threats.contains(&round.threat.as_str()) {
                (Verdict::Inconclusive, vec![], Some(reason))
            } else {
                (Verdict::Holds, vec![], None)
            };
            assert_eq!(shown(round), expected, "{lie:?}: {round:?}");
        }
        assert_eq!(standing(&run), Standing::Inconclusive, "{lie:?}");
    }
}
