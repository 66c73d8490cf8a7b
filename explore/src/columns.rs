//! A schedule in columns, one for each arrival of a purchase, with the events between them.

use std::fmt::Write;

use crate::choice::Choice;
use crate::schedule::{Line, Schedule, WorkLine};

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
        let (at, words) = match line.choice {
            Choice::Step(purchase) | Choice::LostReply(purchase) => (column(purchase), begin(line)),
            Choice::LeaseEnds => (0, "-- every lease ends --".to_owned()),
            Choice::SlowHolder => (0, "-- the work lasts longer than a lease --".to_owned()),
            Choice::RedisEmpties => (0, "-- Redis comes back without its data --".to_owned()),
            Choice::RedisFailsOver => (
                0,
                "-- a replica of Redis takes over, without the last write --".to_owned(),
            ),
            Choice::Crash(purchase) => (column(purchase), "-- its process is killed --".to_owned()),
            Choice::Repeat(purchase) => {
                let again = arrivals.again(purchase);
                (
                    column(again),
                    format!("-- {} arrives a second time --", arrivals.called(purchase)),
                )
            }
        };
        text.push_str(&row(at, &words));
        let woken = schedule
            .lines
            .iter()
            .filter(|line| line.waited_until == Some(number + 1));
        for line in woken {
            if let Some(purchase) = line.choice.step() {
                text.push_str(&row(column(purchase), &end(line)));
            }
        }
        text.push_str(&work(schedule, number + 1));
    }
    let again = schedule.told_again.iter().map(|(_, told)| told);
    let told = schedule.told.iter().chain(again).map(|told| told.in_words().to_owned());
    text.push_str(&side_by_side(told));
    if let Some(later) = schedule.told_later {
        let _ = writeln!(text, "A later buyer: {}", later.in_words());
    }
    text
}

/// Returns the steps that background workers took after so many choices.
fn work(schedule: &Schedule, after: usize) -> String {
    let mut text = String::new();
    for line in schedule.work.iter().filter(|line| line.after == after) {
        let WorkLine {
            instance, worker, step, ..
        } = line;
        let concerned = line.arrival.map_or_else(String::new, |arrival| {
            format!(" for {}", schedule.arrivals().called(arrival))
        });
        let said = line.said.as_ref().map_or_else(String::new, |said| format!(": {said}"));
        let _ = writeln!(text, "-- {worker} of app-{}{concerned}: {step}{said} --", instance + 1);
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
