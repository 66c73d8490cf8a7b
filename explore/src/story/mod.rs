//! A schedule as a story, which the load test draws.

mod events;

use loadtest::audit::Finding;
use loadtest::trace::{Story, StoryPurchase, StoryStep, StoryWorker};

use self::events::{events, is_holder, is_renewed};
use crate::choice::Choice;
use crate::schedule::{Line, Schedule, WorkLine};

/// The time between two choices of a story.
const STEP: u64 = 1_000;

/// Returns the schedule as a story, whose times are numbers of choices, times 1,000. Returns `None` where nothing is wrong with
/// it.
pub fn story(schedule: &Schedule) -> Option<Story> {
    let (gravest, _) = schedule.findings.first()?;
    let arrivals = schedule.arrivals();
    let again = schedule
        .told_again
        .iter()
        .map(|(purchase, told)| (arrivals.again(*purchase), *told));
    let shown: Vec<_> = schedule.told.iter().copied().enumerate().chain(again).collect();
    let column = |arrival: usize| {
        shown
            .iter()
            .position(|(number, _)| *number == arrival)
            .unwrap_or_default()
    };
    let lines = || schedule.lines.iter().zip(1..);
    let own = lines().filter_map(|(line, number)| match line.choice {
        Choice::Arrival(purchase) => arrival(schedule, purchase, number, column(purchase)),
        choice => step(line, number, column(choice.step()?)),
    });
    let work = schedule.work.iter();
    let work = work.filter_map(|line| Some(work_step(line, column(line.arrival?))));
    let mut steps: Vec<_> = own.chain(work).collect();
    // Workers go on after the choice of the same number.
    steps.sort_by_key(|step| step.began_us);
    let purchases = shown.iter().map(|(number, told)| StoryPurchase {
        buyer: buyer(schedule, *number),
        instance: instance(schedule, *number),
        told: Some(*told),
        killed: schedule.choices.contains(&Choice::Crash(*number)),
        left_out: 0,
        units_gone: 0,
    });
    Some(Story {
        shows: Finding::ALL.into_iter().find(|finding| finding.name() == gravest)?,
        purchases: purchases.collect(),
        steps,
        events: lines()
            .flat_map(|(line, number)| {
                let loses = |arrival| is_holder(schedule, number, arrival) && !is_renewed(schedule, number, arrival);
                let holders = (0..shown.len()).filter(|place| loses(shown[*place].0));
                events(schedule, line.choice, number, holders.collect())
            })
            .collect(),
    })
}

fn buyer(schedule: &Schedule, arrival: usize) -> String {
    let arrivals = schedule.arrivals();
    let again = if arrivals.is_second(arrival) { " again" } else { "" };
    format!("buyer-{}{again}", arrivals.purchase(arrival))
}

fn instance(schedule: &Schedule, arrival: usize) -> String {
    format!("app-{}", schedule.arrivals().instance(arrival) + 1)
}

fn step(line: &Line, number: u64, purchase: usize) -> Option<StoryStep> {
    let ended = line
        .said
        .is_some()
        .then(|| line.waited_until.map_or(number, |until| until as u64));
    // A store does not act on a late request before it arrives.
    let is_late = matches!(line.choice, Choice::LateRequest(_));
    Some(StoryStep {
        purchase,
        worker: None,
        step: line.step.clone()?,
        role: line.role.filter(|_| !is_late),
        times: 1,
        began_us: number * STEP,
        ended_us: ended.map(|at| at * STEP),
        said: line.said.clone(),
        value: line.value,
    })
}

/// Returns the step of a late request, at its arrival.
fn arrival(schedule: &Schedule, purchase: usize, number: u64, column: usize) -> Option<StoryStep> {
    let sent = schedule.sent_late(purchase, usize::try_from(number).ok()? - 1)?;
    Some(StoryStep {
        purchase: column,
        worker: None,
        step: sent.step.clone()?,
        role: sent.role,
        times: 1,
        began_us: number * STEP,
        ended_us: Some(number * STEP),
        said: Some("the late request arrives".to_owned()),
        value: None,
    })
}

fn work_step(line: &WorkLine, purchase: usize) -> StoryStep {
    let at_us = line.after as u64 * STEP;
    StoryStep {
        purchase,
        worker: Some(StoryWorker {
            name: line.worker.clone(),
            instance: format!("app-{}", line.instance + 1),
        }),
        step: line.step.clone(),
        role: line.role,
        times: 1,
        began_us: at_us,
        ended_us: line.said.is_some().then_some(at_us),
        said: line.said.clone(),
        value: line.value,
    }
}

#[cfg(test)]
mod tests {
    use loadtest::trace::{IncidentKind, Role};
    use serde_json::{Value, json};

    use super::*;

    fn line(purchase: usize, role: &str, value: Value) -> Value {
        json!({"choice": {"step": purchase}, "step": role, "said": "so", "role": role, "value": value})
    }

    fn drawn(lines: &[Value], told_again: Value) -> Story {
        let choices: Vec<_> = lines.iter().map(|line| line["choice"].clone()).collect();
        let schedule = json!({
            "strategy": "some@redis", "choices": choices, "lines": lines, "told": ["sold", "sold"],
            "told_again": told_again, "findings": [["oversold", 1]],
        });
        story(&Schedule::parse(schedule.to_string().as_bytes()).unwrap()).unwrap()
    }

    fn event(event: Value) -> Value {
        json!({"choice": event})
    }

    #[test]
    fn only_the_lease_of_a_holder_ends() {
        let story = drawn(
            &[
                line(0, "lock", json!({"taken": true})),
                line(1, "lock", json!({"taken": false})),
                event(json!("lease-ends")),
                line(1, "lock", json!({"fence": 7})),
                line(1, "release", Value::Null),
                event(json!("lease-ends")),
            ],
            json!([]),
        );
        let ended = story
            .events
            .iter()
            .map(|event| (event.what, event.purchase, event.began_us));
        assert_eq!(
            ended.collect::<Vec<_>>(),
            [3_000, 6_000].map(|at_us| (IncidentKind::LeaseEnded, Some(0), at_us)),
        );
    }

    #[test]
    fn a_late_request_plays_its_role_when_it_arrives_and_the_step_of_a_worker_is_an_event() {
        let sent = json!({"choice": {"late-request": 0}, "step": "write", "said": "no reply", "role": "write"});
        let lines = [sent, event(json!({"work": 0})), event(json!({"arrival": 0}))];
        let choices: Vec<_> = lines.iter().map(|line| line["choice"].clone()).collect();
        let schedule = json!({
            "strategy": "some@redis", "choices": choices, "lines": lines, "told": ["unknown", "sold"],
            "work": [{"after": 2, "instance": 0, "worker": "reconciler", "step": "cancel"}], "findings": [["drift", 1]],
        });
        let story = story(&Schedule::parse(schedule.to_string().as_bytes()).unwrap()).unwrap();
        let steps = story
            .steps
            .iter()
            .map(|step| (step.step.as_str(), step.role, step.began_us));
        assert_eq!(
            steps.collect::<Vec<_>>(),
            [("write", None, 1_000), ("write", Some(Role::Write), 3_000)]
        );
        let worked = &story.events[0];
        assert_eq!(
            (worked.what, worked.subject.as_str(), worked.began_us),
            (IncidentKind::Worked, "reconciler of app-1: cancel", 2_000)
        );
    }

    #[test]
    fn a_second_arrival_has_a_column_and_a_killed_purchase_is_marked() {
        let story = drawn(
            &[
                event(json!({"repeat": 1})),
                line(3, "write", json!({"wrote": 0})),
                event(json!({"crash": 0})),
            ],
            json!([[1, "sold"]]),
        );
        let lanes: Vec<_> = story
            .purchases
            .iter()
            .map(|purchase| (purchase.buyer.as_str(), purchase.instance.as_str(), purchase.killed))
            .collect();
        assert_eq!(
            lanes,
            [
                ("buyer-0", "app-1", true),
                ("buyer-1", "app-2", false),
                ("buyer-1 again", "app-1", false)
            ],
        );
        assert_eq!(story.steps[0].purchase, 2);
        assert_eq!(
            (story.events[0].what, story.events[0].subject.as_str()),
            (IncidentKind::Killed, "app-1")
        );
    }

    #[test]
    fn a_worker_stands_in_the_column_of_the_purchase_that_it_concerns() {
        let (taken, sale) = (
            line(1, "write", json!({"left": 0})),
            json!({"after": 1, "instance": 0, "worker": "reconciler", "step": "xa-commit", "said": "committed", "role": "commit"}),
        );
        let mut concerning = sale.clone();
        concerning["arrival"] = json!(1);
        let schedule = json!({
            "strategy": "some@redis", "choices": [taken["choice"]], "lines": [taken], "told": ["unknown", "sold"],
            "work": [sale, concerning], "findings": [["oversold", 1]],
        });
        let schedule = Schedule::parse(schedule.to_string().as_bytes()).unwrap();
        let story = story(&schedule).unwrap();
        let steps = story.steps.iter().map(|step| {
            let worker = step.worker.as_ref().map(|worker| worker.instance.as_str());
            (step.purchase, worker, step.step.as_str(), step.ended_us)
        });
        assert_eq!(
            steps.collect::<Vec<_>>(),
            [
                (1, None, "write", Some(1_000)),
                (1, Some("app-1"), "xa-commit", Some(1_000))
            ],
        );
        let columns = crate::columns(&schedule);
        assert!(
            columns.contains("-- reconciler of app-1 for B: xa-commit: committed --"),
            "{columns}"
        );
        assert!(
            columns.contains("-- reconciler of app-1: xa-commit: committed --"),
            "{columns}"
        );
    }
}
