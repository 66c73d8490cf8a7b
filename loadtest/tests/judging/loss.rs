//! Whether a fault met the holder of a lock in the phase that is tried, by the trace.

use loadtest::phase::Phase;
use loadtest::trace::{Event, Loss, Role, Trace};

use crate::trace::{event, instance};

/// The fault takes the lock away between these times, in microseconds.
const FROM: u64 = 400;
const UNTIL: u64 = 450;

const HOLDER: u64 = 0;
const OTHER: u64 = 1;

fn step(number: u64, role: Role, began: u64, ended: u64) -> [Event; 2] {
    let event = |at, said| event(number, "step", Some(role), at, said);
    [event(began, None), event(ended, Some("done"))]
}

/// The holder takes the lock, reads, and writes long after the fault. Another purchase asks for the lock in between.
fn purchases() -> Vec<Event> {
    let steps = [
        step(HOLDER, Role::Lock, 0, 10),
        step(HOLDER, Role::Read, 20, 30),
        step(HOLDER, Role::Write, 600, 610),
        step(HOLDER, Role::Release, 620, 630),
        step(OTHER, Role::Lock, 500, 510),
    ];
    steps.concat()
}

fn renewal(began: u64) -> [Event; 2] {
    step(HOLDER, Role::Renew, began, began + 5).map(|event| Event {
        actor: "renewal".to_owned(),
        ..event
    })
}

/// A renewal by a task that renews all locks of its instance.
fn shared_renewal(began: u64) -> [Event; 2] {
    step(0, Role::Renew, began, began + 5).map(|event| Event {
        actor: "baton".to_owned(),
        buyer: None,
        order: None,
        ..event
    })
}

fn missed(phase: Phase, events: Vec<Event>) -> Option<&'static str> {
    let trace = Trace::of(vec![instance("app-1", events)]).unwrap();
    let loss = Loss {
        from_ns: FROM * 1_000,
        until_ns: UNTIL * 1_000,
    };
    loss.missed(phase, &trace, "b-0")
}

#[test]
fn a_phase_is_met_only_if_the_trace_shows_it_by_the_renewals_and_by_the_next_step() {
    let with = |more: &[[Event; 2]]| [purchases(), more.concat()].concat();
    let checked = with(&[step(HOLDER, Role::Read, 560, 565)]);
    let too_early = "no renewal followed between the fault and the write";
    let too_late = "a renewal came between the fault and the write";
    let table = [
        (Phase::AtWork, purchases(), None),
        (Phase::BeforeWrite, purchases(), None),
        (
            Phase::BeforeWrite,
            checked,
            Some("the purchase took another step between the fault and the write"),
        ),
        (Phase::BeforeRenewal, with(&[renewal(500)]), None),
        (Phase::BeforeRenewal, with(&[shared_renewal(500)]), None),
        (Phase::BeforeRenewal, with(&[renewal(300)]), Some(too_early)),
        // A renewal while the fault lasts may find nothing that answers.
        (Phase::BeforeRenewal, with(&[renewal(420)]), Some(too_early)),
        (Phase::BeforeRenewal, with(&[renewal(598)]), Some(too_early)),
        (Phase::AfterRenewal, with(&[renewal(300)]), None),
        (
            Phase::AfterRenewal,
            with(&[shared_renewal(300), shared_renewal(700)]),
            None,
        ),
        (
            Phase::AfterRenewal,
            purchases(),
            Some("no renewal came before the fault"),
        ),
        (Phase::AfterRenewal, with(&[renewal(300), renewal(420)]), Some(too_late)),
        (Phase::AfterRenewal, with(&[renewal(300), renewal(590)]), Some(too_late)),
    ];
    for (place, (phase, events, expected)) in table.into_iter().enumerate() {
        assert_eq!(missed(phase, events), expected, "row {place}, {phase:?}");
    }
}

#[test]
fn a_round_shows_nothing_unless_the_holder_had_its_lock_and_another_asked_for_it_before_the_write() {
    let holder = |steps: &[(Role, u64)]| -> Vec<Event> {
        let steps = steps.iter().map(|(role, at)| step(HOLDER, *role, *at, at + 5));
        steps.collect::<Vec<_>>().concat()
    };
    let asked = |began, ended| step(OTHER, Role::Lock, began, ended).to_vec();
    let whole = [
        (Role::Lock, 0),
        (Role::Read, 20),
        (Role::Write, 600),
        (Role::Release, 620),
    ];
    let not_held = Some("the purchase did not hold its lock when the fault struck");
    let not_asked = Some("nobody asked for the lock between the fault and the write");
    let table = [
        ("all of it", [holder(&whole), asked(500, 510)].concat(), None),
        (
            "it was told busy",
            [holder(&whole[..1]), asked(500, 510)].concat(),
            not_held,
        ),
        (
            "it was done before",
            [
                holder(&[(Role::Lock, 0), (Role::Read, 20), (Role::Release, 30)]),
                asked(500, 510),
            ]
            .concat(),
            not_held,
        ),
        (
            "it died there",
            [
                holder(&[(Role::Lock, 0), (Role::Read, 20), (Role::Write, 398)]),
                asked(500, 510),
            ]
            .concat(),
            Some("the purchase that held the lock never went on after the fault"),
        ),
        (
            "it wrote meanwhile",
            [
                holder(&[
                    (Role::Lock, 0),
                    (Role::Read, 20),
                    (Role::Write, 420),
                    (Role::Release, 620),
                ]),
                asked(500, 510),
            ]
            .concat(),
            Some("the purchase that held the lock went on before the fault was over"),
        ),
        ("nobody came", holder(&whole), not_asked),
        ("one came before", [holder(&whole), asked(100, 110)].concat(), not_asked),
        (
            "one came too late",
            [holder(&whole), asked(601, 640)].concat(),
            not_asked,
        ),
        (
            "one was connected too late",
            [holder(&whole), asked(500, 605)].concat(),
            not_asked,
        ),
        (
            "one waited for the release",
            [holder(&whole), asked(500, 640)].concat(),
            None,
        ),
    ];
    for (name, events, expected) in table {
        assert_eq!(missed(Phase::AtWork, events), expected, "{name}");
    }
    assert_eq!(
        missed(Phase::AtWork, asked(500, 510)),
        Some("the trace does not show the purchase that was to hold the lock")
    );
}
