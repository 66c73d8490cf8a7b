//! What is read out of a trace: who was inside at once, who waited how long, and what is no trace at all.

use loadtest::answer::Word;
use loadtest::trace::{Event, InstanceTrace, Overlap, Role, Trace, Waits};
use serde_json::{Value, json};

use crate::scene::Scene;

/// A step of a purchase: its number, the role, and when it began and ended, in microseconds.
pub type Taken = (u64, Option<Role>, u64, Option<u64>);

/// One side of a step of buyer `b-N`, whose order is `o-N`.
pub fn event(number: u64, step: &str, role: Option<Role>, at_us: u64, said: Option<&str>) -> Event {
    Event {
        at_ns: at_us * 1_000,
        life: "life-1".to_owned(),
        actor: "purchase".to_owned(),
        number: Some(number),
        order: Some(format!("o-{number}")),
        buyer: Some(format!("b-{number}")),
        step: step.to_owned(),
        role,
        said: said.map(str::to_owned),
    }
}

pub fn instance(name: &str, events: Vec<Event>) -> InstanceTrace {
    InstanceTrace {
        instance: name.to_owned(),
        clock: Some("CLOCK_MONOTONIC".to_owned()),
        dropped: 0,
        events,
    }
}

fn trace(taken: &[Taken]) -> Trace {
    let events = taken.iter().flat_map(|(number, role, began, ended)| {
        let end = ended.map(|ended| event(*number, "step", *role, ended, Some("done")));
        [Some(event(*number, "step", *role, *began, None)), end]
    });
    Trace::of(vec![instance("app-1", events.flatten().collect())]).unwrap()
}

const LOCK: Option<Role> = Some(Role::Lock);
const READ: Option<Role> = Some(Role::Read);
const WRITE: Option<Role> = Some(Role::Write);
const RELEASE: Option<Role> = Some(Role::Release);

#[test]
fn two_overlap_who_are_both_between_taking_the_lock_and_giving_it_back() {
    /// A purchase that holds the lock between these times.
    fn holds(number: u64, from: u64, until: u64) -> [Taken; 3] {
        [
            (number, LOCK, from - 5, Some(from)),
            (number, READ, from, Some(from + 1)),
            (number, RELEASE, until, Some(until + 5)),
        ]
    }
    let table: [(&str, Vec<Taken>, Option<(u64, u64)>); 10] = [
        (
            "nobody locks",
            vec![(1, READ, 10, Some(20)), (2, READ, 10, Some(20))],
            None,
        ),
        (
            "one after the other",
            [holds(1, 10, 20), holds(2, 20, 30)].concat(),
            Some((0, 0)),
        ),
        (
            "both at once",
            [holds(1, 10, 20), holds(2, 16, 30)].concat(),
            Some((1, 4)),
        ),
        (
            "one within the other",
            [holds(1, 10, 90), holds(2, 20, 30)].concat(),
            Some((1, 10)),
        ),
        (
            "three at once",
            [holds(1, 10, 40), holds(2, 20, 60), holds(3, 35, 70)].concat(),
            Some((3, 25)),
        ),
        (
            "the second one asks and does not get it",
            [
                holds(1, 10, 40).to_vec(),
                vec![(2, LOCK, 15, Some(16)), (2, LOCK, 20, Some(21))],
            ]
            .concat(),
            Some((0, 0)),
        ),
        (
            "the second one gets it at the second time",
            [
                holds(1, 10, 40).to_vec(),
                vec![(2, LOCK, 12, Some(15)), (2, None, 15, Some(35))],
                holds(2, 42, 50).to_vec(),
            ]
            .concat(),
            Some((0, 0)),
        ),
        (
            "the second one takes back what it has put into a queue",
            [
                holds(1, 10, 40).to_vec(),
                vec![(2, LOCK, 15, Some(16)), (2, RELEASE, 20, Some(30))],
            ]
            .concat(),
            Some((0, 0)),
        ),
        (
            "the first one is killed: the last that is known of it ends its time",
            [
                vec![(1, LOCK, 5, Some(10)), (1, READ, 10, Some(18)), (1, WRITE, 19, None)],
                holds(2, 15, 90).to_vec(),
            ]
            .concat(),
            Some((1, 4)),
        ),
        (
            "one takes two turns",
            [holds(1, 10, 20), holds(2, 30, 50), holds(1, 45, 60)].concat(),
            Some((1, 5)),
        ),
    ];
    for (name, taken, expected) in table {
        let found = Overlap::of(&trace(&taken).purchases);
        let found = found.map(|overlap| (overlap.pairs, overlap.longest_us));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_wait_goes_from_the_first_step_for_the_lock_to_the_last_one_and_jain_says_how_even_they_are() {
    let table: [(&str, &[Taken], Option<(u64, Option<f64>)>); 7] = [
        ("nobody locks", &[(0, READ, 0, Some(9))], None),
        ("one buyer", &[(0, LOCK, 0, Some(9))], Some((9, None))),
        (
            "all equally long",
            &[(0, LOCK, 0, Some(9)), (1, LOCK, 5, Some(14)), (2, LOCK, 7, Some(16))],
            Some((9, Some(1.0))),
        ),
        (
            "one does all the waiting",
            &[(0, LOCK, 0, Some(0)), (1, LOCK, 5, Some(90)), (2, LOCK, 7, Some(7))],
            Some((85, Some(0.333))),
        ),
        (
            "one asks again and again, and gives up",
            &[
                (0, LOCK, 0, Some(2)),
                (0, None, 2, Some(7)),
                (0, LOCK, 7, Some(8)),
                (1, LOCK, 0, Some(4)),
            ],
            Some((8, Some(0.9))),
        ),
        (
            "one buyer comes twice: the longest wait counts",
            &[(0, LOCK, 0, Some(8)), (1, LOCK, 0, Some(8)), (10, LOCK, 9, Some(12))],
            Some((8, Some(1.0))),
        ),
        (
            "one comes after the attack",
            &[(0, LOCK, 0, Some(8)), (1, LOCK, 0, Some(8)), (7, LOCK, 9, Some(99))],
            Some((8, Some(1.0))),
        ),
    ];
    let mut scene = Scene::exact();
    let late = scene.later(7, Word::Busy, None, 1);
    scene.told.follow_up.push(late);
    for (name, taken, expected) in table {
        let mut trace = trace(taken);
        for purchase in trace.purchases.iter_mut().filter(|purchase| purchase.buyer == "b-10") {
            purchase.buyer = "b-1".to_owned();
        }
        let waits = Waits::of(&trace.purchases, &scene.told).map(|waits| (waits.longest_us, waits.jain));
        assert_eq!(waits, expected, "{name}");
    }
}

/// What an instance answers, with one event.
fn answer() -> Value {
    json!({"instance": "app-1", "item": "sku", "clock": "CLOCK_MONOTONIC", "dropped": 0, "events": [{
        "at_ns": 7, "life": "l", "actor": "purchase", "number": 1, "order": "o-1", "buyer": "b-1",
        "step": "read", "role": "read", "key": "stock", "said": "left 1",
    }]})
}

#[test]
fn an_answer_that_is_not_a_whole_trace_is_none() {
    let parse = |answer: &Value| InstanceTrace::parse(answer.to_string().as_bytes());
    assert_eq!(parse(&answer()).unwrap().events.len(), 1);
    let table = [
        ("/instance", Value::Null),
        ("/instance", json!("")),
        ("/instance", json!("x".repeat(65))),
        ("/dropped", json!(1)),
        ("/dropped", Value::Null),
        ("/events", json!("none")),
        ("/events/0/at_ns", json!(-1)),
        ("/events/0/life", json!("x".repeat(65))),
        ("/events/0/buyer", json!("x".repeat(65))),
        ("/events/0/step", json!("x".repeat(65))),
        ("/events/0/order", json!("x".repeat(129))),
        ("/events", Value::Array(vec![answer()["events"][0].clone(); 100_001])),
    ];
    for (place, value) in table {
        let mut spoiled = answer();
        *spoiled.pointer_mut(place).unwrap() = value;
        assert!(parse(&spoiled).is_none(), "{place}");
    }
    for none in ["", "{}", "[]", "null", "<html>", "{\"instance\":\"app-1\""] {
        assert!(InstanceTrace::parse(none.as_bytes()).is_none(), "{none}");
    }
}

#[test]
fn what_a_shop_wrote_down_is_cleaned_and_a_role_that_nobody_knows_is_none() {
    let mut strange = answer();
    strange["events"][0]["said"] = json!(format!("left\u{1b}[2J\n{}", "x".repeat(200)));
    strange["events"][0]["step"] = json!("re\u{202e}ad");
    strange["events"][0]["role"] = json!("dance");
    let event = InstanceTrace::parse(strange.to_string().as_bytes())
        .unwrap()
        .events
        .remove(0);
    assert_eq!((event.step.as_str(), event.role), ("re?ad", None));
    assert_eq!(event.said.unwrap(), format!("left?[2J {}...", "x".repeat(71)));
}

#[test]
fn actors_that_work_for_many_purchases_and_ends_without_a_begin_belong_to_no_purchase() {
    let mut answer = answer();
    let mut worker = answer["events"][0].clone();
    for (field, value) in [
        ("actor", json!("relay")),
        ("order", Value::Null),
        ("buyer", Value::Null),
        ("number", Value::Null),
    ] {
        worker[field] = value;
    }
    answer["events"].as_array_mut().unwrap().push(worker);
    let parsed = InstanceTrace::parse(answer.to_string().as_bytes()).unwrap();
    assert_eq!(parsed.events.len(), 2);
    assert!(Trace::of(vec![parsed]).unwrap().purchases.is_empty());
    assert!(Trace::of(Vec::new()).is_none());
}

#[test]
fn events_are_compared_by_a_clock_that_all_instances_name() {
    let of = |clocks: &[Option<&str>]| {
        let named = clocks.iter().map(|clock| InstanceTrace {
            clock: clock.map(str::to_owned),
            ..instance("app", vec![event(1, "read", READ, 1, None)])
        });
        Trace::of(named.collect()).is_some()
    };
    assert!(of(&[Some("a"), Some("a")]) && of(&[None]));
    assert!(!of(&[Some("a"), Some("b")]) && !of(&[Some("a"), None]) && !of(&[None, None]));
}

#[test]
fn one_number_in_two_lives_of_an_instance_is_two_purchases() {
    let mut second = event(1, "read", READ, 5, None);
    second.life = "life-2".to_owned();
    let other = event(1, "read", READ, 3, None);
    let first = vec![
        second,
        event(1, "read", READ, 1, None),
        event(1, "read", READ, 2, Some("left 1")),
    ];
    let trace = Trace::of(vec![instance("app-1", first), instance("app-2", vec![other])]).unwrap();
    let purchases = trace.purchases.iter();
    let purchases: Vec<_> = purchases
        .map(|one| (one.instance.as_str(), one.began_ns(), one.last_ns(), one.is_life_over))
        .collect();
    assert_eq!(
        purchases,
        [
            ("app-1", 1_000, 2_000, true),
            ("app-2", 3_000, 3_000, false),
            ("app-1", 5_000, 5_000, false),
        ]
    );
}
