//! The steps that a story shows, and its exact text.

use loadtest::audit::Verdict;
use loadtest::facts::Observation;
use loadtest::report;
use loadtest::shop::response::ResponseKind;
use loadtest::trace::{Event, Role, Shown, Story, Trace};

use crate::fixture::{ANSWER, Fixture};
use crate::report::{round, run};
use crate::trace::{event, instance};

/// A step: its begin and end in microseconds, its name, its role and its result.
pub type Taken<'a> = (u64, u64, &'a str, Role, &'a str);

/// The events of purchase `number`.
pub fn events(number: u64, taken: &[Taken]) -> Vec<Event> {
    let sides = taken.iter().flat_map(|(began, ended, step, role, said)| {
        let side = |at: u64, said| event(number, step, Some(*role), at, said);
        [side(*began, None), side(*ended, Some(*said))]
    });
    sides.collect()
}

/// The trace of app-1 and app-2.
pub fn trace(instances: Vec<Vec<Event>>) -> Trace {
    let traces = ["app-1", "app-2"].into_iter().zip(instances);
    Trace::of(traces.map(|(name, events)| instance(name, events)).collect()).unwrap()
}

/// The story that the trace of these instances shows.
pub fn story(control: &Fixture, instances: Vec<Vec<Event>>) -> Option<Story> {
    story_of(control, &trace(instances))
}

/// The story that a trace shows.
pub fn story_of(control: &Fixture, trace: &Trace) -> Option<Story> {
    let observations = [Observation {
        begun: control.start + ANSWER * 100,
        at_rest: true,
        facts: control.facts.clone(),
    }];
    Shown::of(
        trace,
        &control.expected,
        &control.responses,
        &observations,
        &control.judge(),
    )
    .story
}

/// The text of a story, without its head.
pub fn responses(control: &Fixture, story: Story) -> String {
    let mut violated = round("some@redis", "crowd", 1);
    (violated.verdict, violated.facts.stock_left) = (Verdict::Violated, control.facts.stock_left);
    violated.story = Some(story);
    let text = report::stories(&run(vec![violated]));
    text.split_once("\n\n").unwrap().1.to_owned()
}

pub fn buyers(story: &Story) -> Vec<&str> {
    story.purchases.iter().map(|purchase| purchase.buyer.as_str()).collect()
}

/// Read and write of purchase `number`, begun at `at`.
pub fn update(number: u64, at: u64, read: &str, wrote: &str) -> Vec<Event> {
    let read = (at, at + 10, "read", Role::Read, read);
    events(number, &[read, (at + 1_000, at + 1_010, "write", Role::Write, wrote)])
}

/// Two buyers, b-0 and b-1, bought the only unit.
pub fn oversold() -> Fixture {
    let mut control = Fixture::exact();
    control.expected.stock = 1;
    control
}

#[test]
fn two_purchases_that_read_and_write_the_same_tell_of_a_lost_update() {
    let control = oversold();
    let two = vec![update(0, 100, "left 1", "wrote 0"), update(1, 105, "left 1", "wrote 0")];
    assert_eq!(
        responses(&control, story(&control, two).unwrap()),
        "      ms  A: b-0 at app-1                     B: b-1 at app-2
   0.000  read begins
   0.005                                      read begins
   0.010  read: left 1
   0.015                                      read: left 1
   1.000  write begins
   1.005                                      write begins
   1.010  write: wrote 0
   1.015                                      write: wrote 0
          told sold                           told sold

A read 1; B read 1; A wrote 0; B wrote 0: 2 sold of 1.
"
    );
}

#[test]
fn a_holder_that_asks_whether_the_lock_is_still_its_own_shows_its_question_and_the_answer() {
    let asked = events(0, &[(900, 910, "is-held", Role::Verify, "still held")]);
    let two = vec![
        [update(0, 100, "left 1", "wrote 0"), asked].concat(),
        update(1, 105, "left 1", "wrote 0"),
    ];
    let told = responses(&oversold(), story(&oversold(), two).unwrap());
    assert!(told.contains("   0.810  is-held: still held\n"), "{told}");
}

/// b-0 bought. b-1 took the lock and got no response. b-2 waited in vain.
pub fn stuck() -> (Fixture, Vec<Vec<Event>>) {
    let mut control = Fixture::exact();
    control.responses.attack.remove(1);
    control.unrecord("o-1");
    control.facts.stock_left = Some(1);
    control.say(1, ResponseKind::Unknown);
    control.responses.attack.retain(|response| response.number != 2);
    control.say(2, ResponseKind::Busy);
    control.last_buyer(ResponseKind::Busy);
    let held = |number, at| (at, at + 2, "setnx", Role::Lock, number);
    let sale = [
        held("taken", 10),
        (20, 30, "read", Role::Read, "left 2"),
        (40, 50, "write", Role::Write, "wrote 1"),
        (60, 70, "del", Role::Release, "1 deleted"),
    ];
    let killed = events(1, &[held("taken", 90), (100, 110, "read", Role::Read, "left 1")]);
    let killed_too = [held("held by another", 91), held("held by another", 130)];
    let killed = [killed, events(3, &killed_too)].concat();
    let waits: Vec<Taken> = (0..40).map(|turn| held("held by another", 95 + turn * 100)).collect();
    let mut next_life = event(1, "setnx", Some(Role::Lock), 9_000, None);
    next_life.life = "life-2".to_owned();
    let one = [events(0, &sale), killed, vec![next_life]].concat();
    (control, vec![one, events(2, &waits)])
}

#[test]
fn a_killed_holder_and_a_waiter_tell_why_nobody_can_buy() {
    let (mut control, instances) = stuck();
    control.struck();
    assert_eq!(
        responses(&control, story(&control, instances).unwrap()),
        "      ms  A: b-1 at app-1                     B: b-2 at app-2
   0.002  setnx: taken
   0.005                                      setnx begins
   0.020  read: left 1
   0.020  ends here: its instance was killed
   3.907                                      setnx: held by another, 40 times
          got no answer                       told busy

A setnx: taken; A read 1; A ended there: its instance was killed; B setnx: held
by another, 40 times: 1 unit is left, and nobody can buy it.
"
    );
}

#[test]
fn nobody_was_killed_unless_a_death_was_seen() {
    let (control, instances) = stuck();
    let found = story(&control, instances).unwrap();
    assert_eq!(buyers(&found), ["b-1", "b-2"]);
    assert!(!responses(&control, found).contains("killed"));
}

#[test]
fn a_holder_killed_at_once_is_told_from_killed_waiters() {
    let (mut control, mut instances) = stuck();
    control.struck();
    instances[0].retain(|event| event.number != Some(1) || event.step != "read");
    assert_eq!(buyers(&story(&control, instances).unwrap()), ["b-1", "b-2"]);
}

#[test]
fn a_buyer_sold_to_by_another_delivery_does_not_show_that_nobody_can_buy() {
    let (mut control, mut instances) = stuck();
    let again: Vec<Taken> = vec![(93, 94, "setnx", Role::Lock, "held by another"); 9];
    let before = [instances.remove(0), events(0, &again)].concat();
    control.struck();
    let found = story(&control, vec![before, instances.remove(0)]).unwrap();
    assert_eq!(buyers(&found), ["b-1", "b-2"]);
}

#[test]
fn a_holder_that_never_heard_that_it_has_the_lock_tells_why_nobody_can_buy() {
    let (control, mut instances) = stuck();
    instances[0].retain(|event| event.number != Some(1));
    instances[0].extend(events(1, &[(90, 95, "setnx", Role::Lock, "no answer")]));
    instances[0].extend(events(3, &[(91, 96, "setnx", Role::Lock, "held by another")]));
    assert_eq!(buyers(&story(&control, instances).unwrap()), ["b-1", "b-2"]);
}

#[test]
fn the_last_holder_tells_why_nobody_can_buy_where_its_giving_back_got_no_answer() {
    let (control, mut instances) = stuck();
    instances[0].retain(|event| event.number == Some(0));
    assert_eq!(buyers(&story(&control, instances).unwrap()), ["b-0", "b-2"]);
}

#[test]
fn orders_that_are_lost_invented_or_doubled_are_told_by_their_purchases() {
    let updates = || {
        let one = |number: u64| update(number, 1_000 * number, "left 1", "wrote 0");
        vec![[one(0), one(1), one(5)].concat()]
    };
    let mut lost = Fixture::exact();
    lost.unrecord("o-1");
    lost.facts.stock_left = Some(1);
    let mut ghost = Fixture::exact();
    ghost.record_as("o-5", 1, Some("k-5"), "b-5");
    ghost.expected.stock = 3;
    let mut duplicate = Fixture::exact();
    duplicate.record_as("o-5", 1, Some("k-0"), "b-0");
    duplicate.expected.stock = 3;
    let table: [(Fixture, &[&str], &str); 3] = [
        (lost, &["b-1"], "told sold, and no order of it is in the ledger."),
        (ghost, &["b-5"], "an order that nobody was told of."),
        (duplicate, &["b-0", "b-5"], "one idempotency key bought more than once."),
    ];
    for (control, expected, end) in table {
        let found = story(&control, updates()).unwrap();
        assert_eq!(buyers(&found), expected);
        let text = responses(&control, found).replace('\n', " ");
        assert!(text.trim_end().ends_with(end), "{text}");
    }
}

#[test]
fn a_round_in_which_nothing_is_wrong_has_no_story_and_a_violated_one_without_a_trace_says_so() {
    let two = vec![update(0, 100, "left 2", "wrote 1"), update(1, 105, "left 2", "wrote 1")];
    assert_eq!(story(&Fixture::exact(), two), None);
    let holds = run(vec![round("lua@redis", "crowd", 1)]);
    assert_eq!(
        report::stories(&holds),
        "No round was violated: there is nothing to tell.\n"
    );
    let mut violated = holds;
    violated.rounds[0].verdict = Verdict::Violated;
    violated.rounds[0].findings.add(loadtest::audit::Finding::Oversold, 3);
    assert_eq!(
        report::stories(&violated),
        "## lua@redis, crowd, 1 instance, repeat 1: oversold 3\n\nNo trace shows it.\n"
    );
}

#[test]
fn different_steps_with_the_same_end_are_different_steps() {
    let sale = |number: u64| {
        let rows = "1 rows";
        let steps = [
            (0, 1, "read", Role::Read, "left 1"),
            (2, 3, "write", Role::Write, rows),
            (4, 5, "record", Role::Record, rows),
        ];
        events(number, &steps)
    };
    let found = story(&oversold(), vec![sale(0), sale(1)]).unwrap();
    let names: Vec<_> = found
        .steps
        .iter()
        .map(|step| (step.step.as_str(), step.times))
        .collect();
    assert_eq!(
        names,
        [
            ("read", 1),
            ("read", 1),
            ("write", 1),
            ("write", 1),
            ("record", 1),
            ("record", 1)
        ]
    );
}

#[test]
fn a_story_is_bounded_however_much_happened() {
    let control = oversold();
    let turns = |number: u64| {
        let turn = |at: u64| update(number, at, &format!("left {at}"), &format!("wrote {at}"));
        (0..90).flat_map(|at| turn(at * 2_000 + number)).collect::<Vec<_>>()
    };
    let found = story(&control, vec![turns(0), turns(1)]).unwrap();
    assert_eq!(found.steps.len(), 30);
    assert!(found.purchases.iter().all(|purchase| purchase.left_out == 165));
    assert!(responses(&control, found).contains("(165 steps left out)"));
}

#[test]
fn a_strangers_text_stays_in_its_column_and_moves_no_cursor() {
    let control = oversold();
    let two = vec![update(0, 100, "left 1", "wrote 0"), update(1, 105, "left 1", "wrote 0")];
    let mut found = story(&control, two).unwrap();
    let evil = "\u{1b}[2J\u{202e}\n## x ".repeat(40);
    for purchase in &mut found.purchases {
        (purchase.buyer, purchase.instance) = (evil.clone(), evil.clone());
    }
    for step in &mut found.steps {
        (step.step, step.said) = (evil.clone(), Some(evil.clone()));
    }
    found.steps[0].purchase = 77;
    let mut forged = round(&evil, &evil, 2);
    (forged.verdict, forged.story) = (Verdict::Violated, Some(found));
    let text = report::stories(&run(vec![forged]));
    assert!(
        text.chars().all(|c| c == '\n' || c == ' ' || c.is_ascii_graphic()),
        "{text}"
    );
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}
