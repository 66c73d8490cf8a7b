//! The rounds of a plan, and the promise of a strategy in each.

use loadtest::plan::{Earlier, Round, Wanted, one_per_family, rounds};
use loadtest::sale::Load;
use loadtest::shop::catalogue::Strategy;
use loadtest::threats;
use serde_json::json;

const ASKED: Load = Load {
    buyers: 64,
    requests: 640,
    stock: 100,
    items: 1,
    quantity: 1,
    work_ms: 5,
};

/// The threats whose place in a plan is tested here. A new threat changes nothing for them.
const THREATS: [&str; 4] = ["one-buyer", "crowd", "second-instance", "crashed-holder"];

fn strategy(name: &str, claims: &[&str]) -> Strategy {
    let store = name.rsplit('@').next();
    serde_json::from_value(json!({ "name": name, "store": store, "claims": claims })).unwrap()
}

fn plan(strategies: &[Strategy], instances: &[usize], load: Load, repeats: u32) -> Vec<Round> {
    let instances = instances.to_vec();
    let threats = THREATS.map(|name| threats::find(name).unwrap()).to_vec();
    rounds(
        strategies,
        &Wanted {
            threats,
            instances,
            load,
            repeats,
        },
    )
}

fn names(rounds: &[Round]) -> Vec<String> {
    let name = |round: &Round| format!("{} on {}", round.threat.name, round.instances);
    rounds.iter().map(name).collect()
}

#[test]
fn each_threat_is_played_on_its_own_instance_counts() {
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
        .map(|round| (round.repeat, round.threat.name, round.strategy.name.as_str()))
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
fn a_threat_that_sometimes_breaks_a_strategy_is_played_often_enough_to_show() {
    let mut now_and_then = strategy("x@sql", &["crowd", "second-instance"]);
    now_and_then.sometimes_broken_by = vec!["crowd".to_owned(), "crashed-holder".to_owned()];
    let played = |repeats| {
        let rounds = plan(&[now_and_then.clone()], &[1, 2], ASKED, repeats);
        THREATS.map(|threat| rounds.iter().filter(|round| round.threat.name == threat).count())
    };
    // A threat that it also claims to survive counts as claimed.
    assert_eq!(played(2), [2, 2, 2, 20]);
    assert_eq!(played(22), [22, 22, 22, 22]);
}

#[test]
fn a_threat_that_breaks_a_strategy_is_played_five_times_unless_its_speed_is_measured() {
    let mut broken = strategy("x@sql", &["crowd"]);
    broken.broken_by = vec!["second-instance".to_owned(), "crashed-holder".to_owned()];
    let asked_for = |repeats| {
        let rounds = plan(&[broken.clone()], &[1, 2], ASKED, repeats);
        THREATS.map(|threat| {
            let of_threat = || rounds.iter().filter(|round| round.threat.name == threat);
            (
                of_threat().count(),
                of_threat().filter(|round| round.until_broken).count(),
            )
        })
    };
    assert_eq!(asked_for(2), [(2, 0), (2, 0), (2, 0), (5, 3)]);
    assert_eq!(asked_for(7), [(7, 0); 4]);
}

#[test]
fn a_control_is_claimed_for_every_strategy_and_a_threat_only_by_name() {
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
            .map(|round| round.threat.name)
            .collect();
        assert_eq!(claimed, expected, "{claims:?}");
    }
}

#[test]
fn a_threat_sets_the_load_that_it_needs_and_keeps_the_rest() {
    /// Returns (buyers, requests, stock) of each threat on one and two instances.
    fn loads(asked: Load) -> Vec<(&'static str, usize, usize, i64)> {
        let rounds = plan(&[strategy("x@sql", &[])], &[1, 2], asked, 1);
        assert!(rounds.iter().all(|round| round.load.work_ms == asked.work_ms));
        assert!(rounds.iter().all(|round| round.load.quantity == asked.quantity));
        let load = |round: &Round| {
            (
                round.threat.name,
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
fn an_injection_sends_only_purchases_of_the_first_wave() {
    for threat in threats::all() {
        for asked in [
            ASKED,
            Load {
                buyers: 1,
                requests: 1,
                ..ASKED
            },
        ] {
            let load = (threat.load)(asked, &strategy("x@sql", &[]));
            let injection = threat.injection.as_ref();
            let places = injection.map_or_else(Vec::new, |injection| (injection.places)(&load));
            assert!(places.iter().all(|place| *place < load.buyers), "{}", threat.name);
        }
    }
}

#[test]
fn only_the_wanted_threats_are_played() {
    let wanted = Wanted {
        threats: vec![threats::find("crashed-holder").unwrap()],
        instances: vec![1, 2],
        load: ASKED,
        repeats: 1,
    };
    let played = rounds(&[strategy("x@sql", &[])], &wanted);
    assert_eq!(names(&played), ["crashed-holder on 2"]);
}

#[test]
fn one_per_family_is_the_first_of_each_and_what_is_missing_stays_beside_the_one_in_its_place() {
    let chosen = |catalogue: &[Strategy]| -> Vec<_> {
        let chosen = one_per_family(catalogue).into_iter();
        chosen.map(|chosen| chosen.name).collect()
    };
    let mut catalogue =
        ["none@redis", "none@sql", "redlock@sql", "token@sql", "lua@redis"].map(|name| strategy(name, &[]));
    assert_eq!(
        chosen(&catalogue),
        ["none@redis", "redlock@sql", "token@sql", "lua@redis"]
    );
    catalogue[2].family = Some("lease-lock".to_owned());
    catalogue[3].family = Some("lease-lock".to_owned());
    assert_eq!(chosen(&catalogue), ["none@redis", "redlock@sql", "lua@redis"]);
    catalogue[2].missing = Some("needs redis-nodes".to_owned());
    assert_eq!(
        chosen(&catalogue),
        ["none@redis", "redlock@sql", "token@sql", "lua@redis"]
    );
    catalogue[3].missing = Some("needs redis".to_owned());
    catalogue[4].missing = Some("needs a script".to_owned());
    assert_eq!(
        chosen(&catalogue),
        ["none@redis", "redlock@sql", "token@sql", "lua@redis"],
        "a family of which nothing can be used does not vanish"
    );
}

#[test]
fn demand_is_counted_in_units() {
    assert_eq!(Load { quantity: 3, ..ASKED }.demand(), 1_920);
}

#[test]
fn rounds_are_traced_until_one_tells_a_story_but_measured_promises_only_once() {
    let none = Earlier::default();
    let violated = Earlier {
        is_violated: true,
        has_story: false,
    };
    let told = Earlier {
        is_violated: true,
        has_story: true,
    };
    let rounds = plan(&[strategy("none@sql", &["crowd", "crashed-holder"])], &[1, 2], ASKED, 3);
    let of = |threat: &str, repeat| {
        let mut rounds = rounds.iter();
        rounds
            .find(|round| round.threat.name == threat && round.repeat == repeat)
            .unwrap()
    };
    let table = [
        // Measured, and promised to hold.
        ("crowd", 1, none, true),
        ("crowd", 2, none, false),
        ("crowd", 2, violated, true),
        ("crowd", 3, told, false),
        // Measured, without a promise.
        ("second-instance", 1, none, true),
        ("second-instance", 2, none, true),
        ("second-instance", 2, told, false),
        // Promised to hold, and mostly waits.
        ("crashed-holder", 1, none, true),
        ("crashed-holder", 3, none, true),
        ("crashed-holder", 3, told, false),
    ];
    for (threat, repeat, earlier, is_traced) in table {
        assert_eq!(
            of(threat, repeat).is_traced(earlier),
            is_traced,
            "{threat}, {repeat}, {earlier:?}"
        );
    }
}
