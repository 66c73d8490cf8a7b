//! What a story tells of background workers and of permits.

use loadtest::shop::response::ResponseKind;
use loadtest::trace::{Event, Role, Story};

use crate::stories::{Taken, buyers, events, oversold, responses, story, stuck};
use crate::trace::event;

/// The events of a purchase in two stores: it takes a unit, learns that none is left, and enters its order. Each step is
/// about a branch of its own.
fn in_two_stores(number: u64, at: u64) -> Vec<Event> {
    let mut events = events(number, &[(at, at + 10, "take", Role::Write, "1 rows")]);
    let left = |at, said| event(number, "read-left", None, at, said);
    events.extend([left(at + 20, None), left(at + 30, Some("left 0"))]);
    events.extend(self::events(
        number,
        &[(at + 40, at + 50, "record", Role::Record, "1 rows")],
    ));
    for event in &mut events {
        event.key = format!("branch-{number}");
    }
    events
}

/// A step that the reconciler takes about `key`.
fn reconciled(key: &str, at: u64) -> [Event; 2] {
    [None, Some("committed")].map(|said| Event {
        actor: "reconciler".to_owned(),
        number: Some(0),
        order: None,
        buyer: None,
        key: key.to_owned(),
        ..event(
            0,
            "xa-commit",
            Some(Role::Commit),
            at + u64::from(said.is_some()) * 100,
            said,
        )
    })
}

/// The story of a round in which b-0 was killed and b-1 took the same unit. Then the reconciler of app-2 worked.
fn killed_in_two_stores(work: Vec<Event>) -> Story {
    let mut control = oversold();
    control.responses.attack.retain(|response| response.number != 0);
    control.say(0, ResponseKind::Unknown);
    control.struck();
    let mut next_life = event(7, "take", Some(Role::Write), 5_000, None);
    next_life.life = "life-2".to_owned();
    let killed = [in_two_stores(0, 100), vec![next_life]].concat();
    let other = [in_two_stores(1, 1_000), work].concat();
    let found = story(&control, vec![killed, other]).unwrap();
    assert_eq!(buyers(&found)[0], "b-0", "{found:?}");
    found
}

#[test]
fn a_worker_that_sells_a_unit_again_is_told_beside_its_purchase() {
    let found = killed_in_two_stores(reconciled("branch-0", 2_000).to_vec());
    assert_eq!(
        responses(&oversold(), found),
        "      ms  A: b-0 at app-1                     B: b-1 at app-2
   0.010  take: 1 rows
   0.030  read-left: left 0
   0.050  record: 1 rows
   0.050  ends here: its instance was killed
   0.910                                      take: 1 rows
   0.930                                      read-left: left 0
   0.950                                      record: 1 rows
   2.000  the reconciler of app-2:
          xa-commit: committed
          got no answer                       told sold

A take: 1 rows; A read-left: left 0; A ended there: its instance was killed; B
take: 1 rows; B read-left: left 0; the reconciler of app-2 took xa-commit for A:
committed: 2 sold, and the stock fell by 1.
"
    );
}

#[test]
fn a_worker_is_told_for_an_order_and_not_for_what_several_orders_share() {
    let of_workers = |work: Vec<Event>| {
        let found = killed_in_two_stores([reconciled("branch-0", 2_000).to_vec(), work].concat());
        let work = found.steps.iter().filter(|step| step.worker.is_some());
        work.map(|step| (step.purchase, step.times)).collect::<Vec<_>>()
    };
    assert_eq!(of_workers(Vec::new()), [(0, 1)]);
    // The fixture's orders are called o-0 and o-1. The purchases of no story step share the key `stock`.
    assert_eq!(of_workers(reconciled("o-1", 3_000).to_vec()), [(0, 1), (1, 1)]);
    assert_eq!(of_workers(reconciled("unknown", 3_000).to_vec()), [(0, 1)]);
    let shared = events(1, &[(1_100, 1_110, "end", Role::Release, "done")]);
    let shared = shared.into_iter().map(|event| Event {
        key: "branch-0".to_owned(),
        ..event
    });
    let shared = [shared.collect(), in_two_stores(1, 1_000)].concat();
    let found = story(
        &oversold(),
        vec![
            in_two_stores(0, 100),
            [shared, reconciled("branch-0", 2_000).to_vec()].concat(),
        ],
    );
    assert!(found.unwrap().steps.iter().all(|step| step.worker.is_none()));
}

#[test]
fn the_work_of_a_story_is_bounded_and_counts_equal_steps() {
    let again = (0..50).flat_map(|turn| reconciled("branch-0", 2_000 + turn * 200));
    let found = killed_in_two_stores(again.collect());
    let work: Vec<_> = found.steps.iter().filter(|step| step.worker.is_some()).collect();
    assert_eq!((work.len(), work[0].times), (1, 50));
    let differing = (0..50).flat_map(|turn| {
        let mut sides = reconciled("branch-0", 2_000 + turn * 200);
        sides.iter_mut().for_each(|side| side.step = format!("turn-{turn}"));
        sides
    });
    let found = killed_in_two_stores(differing.collect());
    let work = found.steps.iter().filter(|step| step.worker.is_some());
    let names: Vec<_> = work.map(|step| step.step.as_str()).collect();
    assert_eq!(names, ["turn-46", "turn-47", "turn-48", "turn-49"]);
    assert!(found.steps.len() <= 30);
}

#[test]
fn permits_that_died_with_their_holders_tell_why_nobody_can_buy() {
    let (mut control, _) = stuck();
    control.say(3, ResponseKind::Unknown);
    control.struck();
    let holder = |number, at: u64| {
        let taken: [Taken; 2] = [
            (at, at + 2, "take-permit", Role::Permit, "taken"),
            (at + 10, at + 20, "read", Role::Read, "left 1"),
        ];
        events(number, &taken)
    };
    let mut next_life = event(1, "take-permit", Some(Role::Permit), 9_000, None);
    next_life.life = "life-2".to_owned();
    let killed = [holder(3, 10), holder(1, 15), vec![next_life]].concat();
    let waits: Vec<Taken> = (0..40)
        .map(|turn| {
            let at = 95 + turn * 100;
            (at, at + 2, "take-permit", Role::Permit, "none left")
        })
        .collect();
    // One that gave its permit back keeps nobody out.
    let gave_back = [
        holder(0, 1),
        events(0, &[(30, 35, "give-back", Role::Release, "1 left")]),
    ]
    .concat();
    let found = story(&control, vec![killed, [gave_back, events(2, &waits)].concat()]).unwrap();
    assert_eq!(buyers(&found), ["b-1", "b-3", "b-2"]);
    let text = responses(&control, found).replace('\n', " ");
    let end = "C take-permit: none left, 40 times: 1 unit is left, and nobody can buy it.";
    assert!(text.trim_end().ends_with(end), "{text}");
    assert_eq!(
        text.matches("ended there: its instance was killed").count(),
        2,
        "{text}"
    );
}
