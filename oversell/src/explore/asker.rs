//! A schedule whose choices a reader makes, one line at a time.

use std::io::{BufRead, stdin};
use std::sync::Arc;

use anyhow::{Context, Result};
use explore::{Choice, Choose, EventKind, InStores, Moment, Taken, Turns, row};

use crate::console;

/// The reader of a schedule who chooses what happens next.
pub trait Talk: Send {
    /// Shows the results of steps, in columns, and what the stores hold.
    ///
    /// # Errors
    /// When it cannot be shown.
    fn show(&mut self, happened: &str, stores: &str) -> Result<()>;

    /// Returns the number of one of these choices, from 1; `None` ends the schedule.
    ///
    /// # Errors
    /// When the reader cannot be asked.
    fn ask(&mut self, choices: &[String]) -> Result<Option<usize>>;
}

/// Shows each step, and asks what happens next.
pub(super) struct Asker<'a> {
    talk: &'a mut dyn Talk,
    turns: Arc<Turns>,
    kinds: Vec<EventKind>,
    events: usize,
    /// For each step that was taken, whether its result was shown.
    shown: Vec<bool>,
    stores: Option<InStores>,
    /// The event that was chosen last, until it is shown.
    event: String,
}

impl<'a> Asker<'a> {
    /// Creates a schedule of the purchases whose turns these are, with at most so many events of these kinds.
    pub(super) fn new(turns: Arc<Turns>, events: usize, kinds: Vec<EventKind>, talk: &'a mut dyn Talk) -> Self {
        Self {
            talk,
            turns,
            kinds,
            events,
            shown: Vec::new(),
            stores: None,
            event: String::new(),
        }
    }

    /// Returns the results that came since the last call, each in the column of its number.
    fn news(&mut self) -> String {
        let taken = self.turns.taken();
        self.shown.resize(taken.len(), false);
        let mut text = String::new();
        for (
            Taken {
                purchase, step, result, ..
            },
            shown,
        ) in taken.iter().zip(&mut self.shown)
        {
            if let Some(result) = result
                && !std::mem::replace(shown, true)
            {
                text.push_str(&row(*purchase, &format!("{}: {}", step.name, result.words)));
            }
        }
        text
    }

    /// Returns a choice in words.
    fn words(&self, choice: Choice) -> String {
        let (ready, arrivals) = (self.turns.ready(), self.turns.arrivals());
        match choice {
            Choice::Step(purchase) => {
                let next = ready.iter().find(|(at, _)| *at == purchase);
                format!(
                    "{}: {}",
                    arrivals.called(purchase),
                    next.map_or("", |(_, step)| step.name)
                )
            }
            Choice::WorkerWakes(instance) => format!("time passes, and the workers of app-{} wake", instance + 1),
            Choice::Work(instance) => {
                let next = self.turns.next_work(instance);
                let (worker, step) = next.map_or(("", ""), |(worker, step)| (worker, step.name));
                format!("{worker} of app-{}: {step}", instance + 1)
            }
            Choice::SessionEnds => "the session of the holder ends".to_owned(),
            Choice::LeaseEnds => "every lease ends".to_owned(),
            Choice::SlowHolder => "the work lasts longer than a lease, and renewals come".to_owned(),
            Choice::RedisEmpties => "Redis comes back without its data".to_owned(),
            Choice::RedisFailsOver => "a replica of Redis takes over, without the last write".to_owned(),
            Choice::Crash(purchase) => format!("the process of {} is killed", arrivals.called(purchase)),
            Choice::LostReply(purchase) => {
                let next = ready.iter().find(|(at, _)| *at == purchase);
                let step = next.map_or("", |(_, step)| step.name);
                format!("{}: {step}, and no reply comes", arrivals.called(purchase))
            }
            Choice::LateRequest(purchase) => {
                let next = ready.iter().find(|(at, _)| *at == purchase);
                let step = next.map_or("", |(_, step)| step.name);
                format!("{}: {step}, and the request is late", arrivals.called(purchase))
            }
            Choice::Arrival(purchase) => format!("a late request of {} arrives", arrivals.called(purchase)),
            Choice::Repeat(purchase) => format!("{} arrives a second time", arrivals.called(purchase)),
        }
    }
}

impl Choose for Asker<'_> {
    fn may(&self, event: EventKind, events: usize) -> bool {
        events < self.events && self.kinds.contains(&event)
    }

    fn wants_stores(&self) -> bool {
        true
    }

    fn show_stores(&mut self, stores: &InStores) {
        self.stores = Some(*stores);
    }

    fn choose(&mut self, moment: &Moment) -> Result<Option<Choice>> {
        let news = std::mem::take(&mut self.event) + &self.news();
        // A purchase keeps its place in the list, whichever moved last.
        let mut possible: Vec<Choice> = moment.possible.iter().map(|possible| possible.choice).collect();
        possible.sort_by_key(|choice| (choice.event().is_some(), choice.step().unwrap_or(usize::MAX)));
        let choices: Vec<_> = possible.iter().map(|choice| self.words(*choice)).collect();
        self.talk.show(&news, &self.stores.map_or_else(String::new, in_words))?;
        let Some(number) = self.talk.ask(&choices)? else {
            return Ok(None);
        };
        let place = number.checked_sub(1).context("choices are numbered from 1")?;
        let chosen = possible.get(place).context("no such choice")?;
        if chosen.event().is_some() {
            self.event = format!("-- {} --\n", choices[place]);
        }
        Ok(Some(*chosen))
    }
}

/// The terminal.
pub(super) struct Terminal;

impl Talk for Terminal {
    fn show(&mut self, happened: &str, stores: &str) -> Result<()> {
        console::print(&format!("{happened}  {stores}\n"))
    }

    fn ask(&mut self, choices: &[String]) -> Result<Option<usize>> {
        let listed = (1..).zip(choices).map(|(number, words)| format!("{number}) {words}"));
        let listed = listed.collect::<Vec<_>>().join("  ");
        loop {
            console::print(&format!("  next?  {listed}\n"))?;
            let mut line = String::new();
            if stdin()
                .lock()
                .read_line(&mut line)
                .context("cannot read what comes next")?
                == 0
            {
                return Ok(None);
            }
            match line.trim().parse() {
                Ok(number) if (1..=choices.len()).contains(&number) => return Ok(Some(number)),
                _ => console::print(&format!("  a number from 1 to {} is expected\n", choices.len()))?,
            }
        }
    }
}

fn in_words(stores: InStores) -> String {
    let left = stores
        .stock_left
        .map_or_else(|| "unknown".to_owned(), |left| left.to_string());
    let lease = if stores.has_lease { ", a lease" } else { "" };
    format!("  in the stores: stock {left}, orders {}{lease}\n", stores.orders)
}
