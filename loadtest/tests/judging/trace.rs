//! The responses that count as a trace, and the purchases in it.

use loadtest::trace::{Event, InstanceTrace, Role, StepValue, Trace};
use serde_json::{Value, json};

/// The begin or the end of a step of buyer `b-N`, whose order is `o-N`.
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
        key: "stock".to_owned(),
        said: said.map(str::to_owned),
        value: said.and_then(value),
    }
}

/// The value in such words, as a shop tells it beside them.
fn value(said: &str) -> Option<StepValue> {
    let number = |word| said.strip_prefix(word)?.trim().parse().ok();
    number("left ")
        .map(StepValue::Left)
        .or_else(|| number("wrote ").map(StepValue::Wrote))
}

pub fn instance(name: &str, events: Vec<Event>) -> InstanceTrace {
    InstanceTrace {
        instance: name.to_owned(),
        clock: Some("CLOCK_MONOTONIC".to_owned()),
        dropped: 0,
        events,
    }
}

const READ: Option<Role> = Some(Role::Read);
const WRITE: Option<Role> = Some(Role::Write);

/// A trace with one event, as an instance sends it.
fn response() -> Value {
    json!({"instance": "app-1", "item": "sku", "clock": "CLOCK_MONOTONIC", "dropped": 0, "events": [{
        "at_ns": 7, "life": "l", "actor": "purchase", "number": 1, "order": "o-1", "buyer": "b-1",
        "step": "read", "role": "read", "key": "stock", "said": "left 1",
    }]})
}

#[test]
fn an_answer_that_is_not_a_whole_trace_is_none() {
    let parse = |response: &Value| InstanceTrace::parse(response.to_string().as_bytes());
    assert_eq!(parse(&response()).unwrap().events.len(), 1);
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
        ("/events", Value::Array(vec![response()["events"][0].clone(); 250_001])),
    ];
    for (place, value) in table {
        let mut spoiled = response();
        *spoiled.pointer_mut(place).unwrap() = value;
        assert!(parse(&spoiled).is_none(), "{place}");
    }
    for none in ["", "{}", "[]", "null", "<html>", "{\"instance\":\"app-1\""] {
        assert!(InstanceTrace::parse(none.as_bytes()).is_none(), "{none}");
    }
}

#[test]
fn a_value_is_read_and_one_that_is_not_known_counts_as_none() {
    let known = Some(StepValue::Left(1));
    for (told, expected) in [
        (json!({"left": 1}), known),
        (json!(null), None),
        (json!({"left": "1"}), None),
        (json!({"sold": 1}), None),
        (json!([1]), None),
    ] {
        let mut trace = response();
        trace["events"][0]["value"] = told.clone();
        let trace = InstanceTrace::parse(trace.to_string().as_bytes()).unwrap();
        assert_eq!(trace.events[0].value, expected, "{told}");
    }
}

#[test]
fn the_text_of_a_shop_is_cleaned_and_an_unknown_role_is_none() {
    let mut strange = response();
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
fn a_key_that_is_no_text_or_is_too_long_counts_as_none() {
    for (told, expected) in [
        (json!("stock"), "stock"),
        (json!(null), ""),
        (json!(7), ""),
        (json!("x".repeat(257)), ""),
    ] {
        let mut trace = response();
        trace["events"][0]["key"] = told.clone();
        let trace = InstanceTrace::parse(trace.to_string().as_bytes()).unwrap();
        assert_eq!(trace.events[0].key, expected, "{told}");
    }
}

#[test]
fn actors_that_work_for_many_purchases_and_ends_without_a_begin_belong_to_no_purchase() {
    let mut response = response();
    let mut worker = response["events"][0].clone();
    for (field, value) in [
        ("actor", json!("relay")),
        ("order", Value::Null),
        ("buyer", Value::Null),
        ("number", Value::Null),
    ] {
        worker[field] = value;
    }
    response["events"].as_array_mut().unwrap().push(worker);
    let parsed = InstanceTrace::parse(response.to_string().as_bytes()).unwrap();
    assert_eq!(parsed.events.len(), 2);
    assert!(Trace::of(vec![parsed]).unwrap().purchases.is_empty());
    assert!(Trace::of(Vec::new()).is_none());
}

#[test]
fn the_end_of_a_step_ends_the_step_of_its_name_once() {
    let events = vec![
        event(1, "write", WRITE, 1, Some("an end without a begin")),
        event(1, "read", READ, 2, None),
        event(1, "write", WRITE, 3, Some("the end of another step")),
        event(1, "read", READ, 4, Some("left 1")),
        event(1, "read", READ, 5, Some("left 2")),
    ];
    let trace = Trace::of(vec![instance("app-1", events)]).unwrap();
    let steps = &trace.purchases[0].steps;
    let end = steps[0].end.as_ref().map(|end| (end.at_ns, end.said.as_str()));
    assert_eq!((steps.len(), end), (1, Some((4_000, "left 1"))));
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
