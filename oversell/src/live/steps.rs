//! A schedule whose steps a visitor chooses, for every visitor to see: the labs in which the learner is the scheduler.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Error, Result};
use serde::Serialize;
use tokio::runtime::Builder;
use workshop::{Lab, Language};

use super::Shared;
use crate::explore::{Talk, stepped};

/// The longest wait for a choice. A visitor who went away leaves no servers running.
const CHOICE_WITHIN: Duration = Duration::from_secs(600);

/// The schedule as every visitor sees it.
#[derive(Clone, Default, PartialEq, Serialize)]
pub struct Steps {
    lab: String,
    /// What happened, in two columns.
    happened: String,
    /// What the stores hold.
    stores: String,
    /// What may happen next; nothing while a step is taken, and at the end.
    choices: Vec<String>,
    /// The verdict and the shortest schedule, or why it ended early.
    over: Option<String>,
}

/// Returns the number and the title of each lab that has steps.
///
/// # Errors
/// When a page of a lab cannot be read.
pub fn labs() -> Result<Vec<(usize, &'static str)>> {
    let with_steps = workshop::all()?.iter().filter(|lab| lab.settings.schedule.is_some());
    Ok(with_steps
        .map(|lab| (lab.number, lab.page(Language::English).title.as_str()))
        .collect())
}

/// The visitor's way to the schedule that goes on.
#[derive(Default)]
pub struct Choices(Mutex<Way>);

#[derive(Default)]
enum Way {
    /// No schedule goes on.
    #[default]
    Free,
    /// A schedule waits for choices here.
    Open(Sender<usize>),
    /// A schedule was asked to end, and its servers stop.
    Ending,
}

impl Choices {
    fn way(&self) -> MutexGuard<'_, Way> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on the number of a choice, from 1. Returns false where no schedule waits for one.
    pub fn pass(&self, number: usize) -> bool {
        matches!(&*self.way(), Way::Open(sender) if sender.send(number).is_ok())
    }

    /// Asks the schedule that goes on to end.
    pub fn end(&self) {
        let mut way = self.way();
        if matches!(*way, Way::Open(_)) {
            *way = Way::Ending;
        }
    }
}

/// Begins the schedule of a lab. Returns false while another one goes on.
///
/// # Errors
/// When the lab has no steps, or the system gives no thread.
pub fn begin(shared: &Arc<Shared>, lab: &'static Lab) -> Result<bool> {
    let schedule = lab.settings.schedule.as_ref().context("this lab has no steps")?;
    let (sender, choices) = mpsc::channel();
    {
        let mut way = shared.choices.way();
        if !matches!(*way, Way::Free) {
            return Ok(false);
        }
        *way = Way::Open(sender);
    }
    let title = format!("{} {}", lab.nn(), lab.page(Language::English).title);
    let mut visitor = Visitor {
        shared: shared.clone(),
        shown: Steps {
            lab: title,
            stores: "the stores start".to_owned(),
            ..Steps::default()
        },
        choices,
    };
    visitor.publish();
    let fetch = !shared.stack.no_fetch;
    // The explorer needs a thread on which nothing else runs.
    let play = move || {
        let runtime = Builder::new_current_thread().enable_all().build();
        let played = runtime
            .map_err(Error::from)
            .and_then(|runtime| runtime.block_on(stepped(schedule, fetch, &mut visitor)));
        visitor.ends(played.unwrap_or_else(|error| format!("ended early: {error:#}")));
    };
    thread::Builder::new().name("steps".to_owned()).spawn(play)?;
    Ok(true)
}

/// The visitors, as the schedule sees them.
struct Visitor {
    shared: Arc<Shared>,
    shown: Steps,
    choices: Receiver<usize>,
}

impl Visitor {
    fn publish(&self) {
        self.shared.state.show_steps(self.shown.clone());
    }

    fn ends(mut self, over: String) {
        // What happened is part of what came of it.
        self.shown = Steps {
            lab: self.shown.lab,
            over: Some(over),
            ..Steps::default()
        };
        self.publish();
        *self.shared.choices.way() = Way::Free;
    }
}

impl Talk for Visitor {
    fn show(&mut self, happened: &str, stores: &str) -> Result<()> {
        self.shown.happened.push_str(happened);
        stores.clone_into(&mut self.shown.stores);
        Ok(())
    }

    fn ask(&mut self, choices: &[String]) -> Result<Option<usize>> {
        self.shown.choices = choices.to_vec();
        self.publish();
        let chosen = self.choices.recv_timeout(CHOICE_WITHIN);
        self.shown.choices.clear();
        self.publish();
        // Nobody chooses any more.
        Ok(chosen.ok())
    }
}
