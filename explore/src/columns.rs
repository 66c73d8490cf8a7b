//! A schedule in columns, one for each arrival of a purchase, with the events between them.

use std::fmt::Write;

use crate::choice::Choice;
use crate::schedule::{Line, Schedule};

/// The width of a column, in characters.
const WIDTH: usize = 40;

/// Returns the schedule as text.
pub fn columns(schedule: &Schedule) -> String {
    let arrivals = schedule.arrivals();
    let again = schedule
        .told_again
        .iter()
        .map(|(purchase, _)| arrivals.again(*purchase));
    let shown: Vec<usize> = (0..arrivals.purchases).chain(again).collect();
    let heads = shown.iter().map(|number| {
        let (called, instance) = (arrivals.called(*number), arrivals.instance(*number) + 1);
        format!("{called} at app-{instance}")
    });
    let mut text = side_by_side(heads);
    let column = |arrival: usize| shown.iter().position(|shown| *shown == arrival).unwrap_or_default();
    text.push_str(&work(schedule, 0));
    for (number, line) in schedule.lines.iter().enumerate() {
        // The step of a worker may let a purchase go on.
        let is_work = matches!(line.choice, Choice::Work(_));
        text.push_str(&if is_work {
            work(schedule, number + 1)
        } else {
            let (arrival, words) = chosen(schedule, number, line);
            row(column(arrival), &words)
        });
        let woken = schedule
            .lines
            .iter()
            .filter(|line| line.waited_until == Some(number + 1));
        for line in woken {
            if let Some(purchase) = line.choice.step() {
                text.push_str(&row(column(purchase), &end(line)));
            }
        }
        if !is_work {
            text.push_str(&work(schedule, number + 1));
        }
    }
    let again = schedule.told_again.iter().map(|(_, told)| told);
    let told = schedule.told.iter().chain(again).map(|told| told.in_words().to_owned());
    text.push_str(&side_by_side(told));
    if let Some(later) = schedule.told_later {
        let _ = writeln!(text, "A later buyer: {}", later.in_words());
    }
    text
}

/// Returns the words for the choice of this number, from 0, with the arrival in whose column they stand: the first one for all. Those
/// for the step of a worker stand elsewhere.
fn chosen(schedule: &Schedule, number: usize, line: &Line) -> (usize, String) {
    let arrivals = schedule.arrivals();
    let of_all = |words: &str| (0, format!("-- {words} --"));
    match line.choice {
        Choice::Step(purchase) | Choice::LostReply(purchase) => (purchase, begin(line)),
        Choice::LateRequest(purchase) => (purchase, format!("{}, the request is late", begin(line))),
        Choice::Arrival(purchase) => {
            let sent = schedule.sent_late(purchase, number);
            let step = sent.and_then(|sent| sent.step.as_deref()).unwrap_or_default();
            (purchase, format!("-- its late request arrives: {step} --"))
        }
        Choice::LeaseEnds => of_all("every lease ends"),
        Choice::SessionEnds => of_all("the session of the holder ends"),
        Choice::SlowHolder => of_all("the work lasts longer than a lease"),
        Choice::RedisEmpties => of_all("Redis comes back without its data"),
        Choice::RedisFailsOver => of_all("a replica of Redis takes over, without the last write"),
        Choice::WorkerWakes(instance) => (
            0,
            format!("-- time passes, and the workers of app-{} wake --", instance + 1),
        ),
        Choice::Work(_) => (0, String::new()),
        Choice::Crash(purchase) => (purchase, "-- its process is killed --".to_owned()),
        Choice::Repeat(purchase) => (
            arrivals.again(purchase),
            format!("-- {} arrives a second time --", arrivals.called(purchase)),
        ),
    }
}

/// Returns the steps that background workers took after so many choices.
fn work(schedule: &Schedule, after: usize) -> String {
    let mut text = String::new();
    for line in schedule.work.iter().filter(|line| line.after == after) {
        let _ = writeln!(text, "-- {} --", line.in_words(schedule.arrivals()));
    }
    text
}

fn side_by_side(cells: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for cell in cells {
        let _ = write!(text, "{cell:WIDTH$}");
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// Returns a line in that column, from 0.
pub fn row(column: usize, words: &str) -> String {
    format!("{:indent$}{words}\n", "", indent = column * WIDTH)
}

/// Returns the line of a step at its begin. The result stands there unless the step had to wait.
fn begin(line: &Line) -> String {
    match line.waited_until {
        Some(_) => format!("{} waits", line.step.as_deref().unwrap_or_default()),
        None => end(line),
    }
}

fn end(line: &Line) -> String {
    let step = line.step.as_deref().unwrap_or_default();
    match &line.said {
        Some(said) => format!("{step}: {said}"),
        None => format!("{step} never ends"),
    }
}
