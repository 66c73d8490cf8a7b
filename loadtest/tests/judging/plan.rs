//! Which rounds are played, and what a strategy promises in each.

use loadtest::catalogue::{Store, Strategy};
use loadtest::plan::{Load, Round, Wanted, one_per_mechanism, rounds};

const ASKED: Load = Load {
    buyers: 64,
    requests: 640,
    stock: 100,
    quantity: 1,
    work_ms: 5,
};

fn strategy(name: &str, claims: &[&str]) -> Strategy {
    Strategy {
        name: name.to_owned(),
        store: if name.ends_with("@sql") {
            Store::Sql
        } else {
            Store::Redis
        },
        claims: claims.iter().map(|&claim| claim.to_owned()).collect(),
    }
}

fn plan(strategies: &[Strategy], instances: &[usize], load: Load, repeats: u32) -> Vec<Round> {
    let instances = instances.to_vec();
    rounds(
        strategies,
        &Wanted {
            instances,
            load,
            repeats,
        },
    )
}

fn names(rounds: &[Round]) -> Vec<String> {
    let name = |round: &Round| format!("{} on {}", round.threat.name(), round.instances);
    rounds.iter().map(name).collect()
}

#[test]
fn each_threat_is_played_on_the_instance_counts_that_it_is_about() {
    let none = [strategy("none@sql", &[])];
    let table: [(&[usize], &[&str]); 5] = [
        (&[1], &["one-buyer on 1", "crowd on 1"]),
        (&[2], &["one-buyer on 2", "second-instance on 2", "crashed-holder on 2"]),
        (
            &[1, 2, 3],
            &[
                "one-buyer on 2",
                "crowd on 1",
                "second-instance on 2",
                "second-instance on 3",
                "crashed-holder on 2",
            ],
        ),
        (
            &[3, 2],
            &[
                "one-buyer on 2",
                "second-instance on 3",
                "second-instance on 2",
                "crashed-holder on 2",
            ],
        ),
        (&[], &[]),
    ];
    for (counts, expected) in table {
        assert_eq!(names(&plan(&none, counts, ASKED, 1)), expected, "{counts:?}");
    }
}

#[test]
fn strategies_alternate_within_a_repeat_and_repeats_count_from_one() {
    let two = [strategy("none@redis", &[]), strategy("lua@redis", &[])];
    let rounds = plan(&two, &[1], ASKED, 2);
    let order: Vec<_> = rounds
        .iter()
        .map(|round| (round.repeat, round.threat.name(), round.strategy.name.as_str()))
        .collect();
    let expected = [
        (1, "one-buyer", "none@redis"),
        (1, "one-buyer", "lua@redis"),
        (1, "crowd", "none@redis"),
        (1, "crowd", "lua@redis"),
        (2, "one-buyer", "none@redis"),
        (2, "one-buyer", "lua@redis"),
        (2, "crowd", "none@redis"),
        (2, "crowd", "lua@redis"),
    ];
    assert_eq!(order, expected);
}

#[test]
fn a_control_is_claimed_for_everyone_and_a_threat_by_those_who_name_it() {
    let table: [(&[&str], &[&str]); 4] = [
        (&[], &["one-buyer"]),
        (&["second-instance"], &["one-buyer", "second-instance"]),
        (&["crowd", "crashed-holder"], &["one-buyer", "crowd", "crashed-holder"]),
        (&["second"], &["one-buyer"]),
    ];
    for (claims, expected) in table {
        let rounds = plan(&[strategy("x@sql", claims)], &[1, 2], ASKED, 1);
        let claimed: Vec<_> = rounds
            .iter()
            .filter(|round| round.is_claimed())
            .map(|round| round.threat.name())
            .collect();
        assert_eq!(claimed, expected, "{claims:?}");
    }
}

#[test]
fn a_threat_sets_the_load_that_it_needs_and_passes_on_the_rest() {
    /// (buyers, requests, stock) of each threat on one and two instances.
    fn loads(asked: Load) -> Vec<(&'static str, usize, usize, i64)> {
        let rounds = plan(&[strategy("x@sql", &[])], &[1, 2], asked, 1);
        assert!(rounds.iter().all(|round| round.load.work_ms == asked.work_ms));
        assert!(rounds.iter().all(|round| round.load.quantity == asked.quantity));
        let load = |round: &Round| {
            (
                round.threat.name(),
                round.load.buyers,
                round.load.requests,
                round.load.stock,
            )
        };
        rounds.iter().map(load).collect()
    }
    assert_eq!(
        loads(ASKED),
        [
            ("one-buyer", 1, 16, 12),
            ("crowd", 64, 640, 100),
            ("second-instance", 64, 640, 100),
            ("crashed-holder", 16, 32, 20),
        ]
    );
    let small = Load {
        buyers: 8,
        requests: 24,
        stock: 13,
        quantity: 3,
        ..ASKED
    };
    assert_eq!(
        loads(small),
        [
            ("one-buyer", 1, 8, 13),
            ("crowd", 8, 24, 13),
            ("second-instance", 8, 24, 13),
            ("crashed-holder", 8, 16, 30),
        ]
    );
}

#[test]
fn only_a_crash_breaks_something_and_it_strikes_within_the_first_wave() {
    for round in plan(&[strategy("x@sql", &[])], &[1, 2], ASKED, 1) {
        let fault = round.threat.fault(&round.load);
        assert_eq!(fault.is_some(), round.threat.name() == "crashed-holder");
        assert!(fault.is_none_or(|(place, _)| place < round.load.buyers));
    }
}

#[test]
fn one_per_mechanism_is_the_first_of_each_in_the_order_of_the_catalogue() {
    let catalogue = ["none@redis", "none@sql", "lua@redis", "compare-num@sql", "lua@sql"];
    let catalogue = catalogue.map(|name| strategy(name, &[]));
    let chosen: Vec<_> = one_per_mechanism(&catalogue)
        .into_iter()
        .map(|chosen| chosen.name)
        .collect();
    assert_eq!(chosen, ["none@redis", "lua@redis", "compare-num@sql"]);
}

#[test]
fn demand_is_counted_in_units() {
    assert_eq!(Load { quantity: 3, ..ASKED }.demand(), 1_920);
}

#[test]
fn the_first_repeat_of_each_round_is_traced_and_no_other_one() {
    let rounds = plan(&[strategy("none@sql", &[])], &[1, 2], ASKED, 3);
    for round in rounds {
        assert_eq!(round.is_traced(), round.repeat == 1, "{}", round.threat.name());
    }
}
