//! The seam: every command to a store and every wait of a mechanism goes through this module.
//!
//! A store creates [`Command`]s, and only [`Probe::step`] can send one, so no command bypasses the seam. An
//! [`Observer`] at the seam sees each step before and after. Without an observer, a step allocates nothing and takes no
//! lock.

mod actor;
mod armed;
mod carried;
mod counts;
mod effect;
mod fault;
mod log;
mod observer;
mod result;
mod step;
mod time;
mod trace;
mod worker_fault;

use std::fmt::Display;
use std::time::Duration;

pub use actor::{Actor, Attempt, Worker};
pub use armed::ArmedFaults;
pub use counts::Counts;
pub(crate) use counts::seconds;
pub use effect::{Data, Effect};
pub use fault::{BadFault, Fault, FaultAction};
pub use log::Log;
pub use observer::{Observer, Observers, StepContext};
pub use result::{StepResult, StepValue};
pub use step::{Role, Step, WaitsFor};
pub use time::Time;
pub use trace::{Event, Trace, Tracer};
pub use worker_fault::WorkerFault;

use self::carried::CarriedFault;
use crate::domain::{Error, Name, Purchase};

/// The business time of a purchase between read and write. Every strategy takes this step.
pub const WORK: Step = Step::sleep("work");

/// One round trip to a store, not sent yet. Only [`Probe::step`] sends it.
#[must_use = "a command is sent by Probe::step"]
pub struct Command<F>(F);

impl<F: Future> Command<F> {
    /// Creates a command, for stores. `round_trip` must do nothing before its first poll.
    pub(crate) fn new(round_trip: F) -> Self {
        Self(round_trip)
    }

    /// Calls `sent` when the command is sent, after any fault before it.
    pub fn on_send(self, sent: impl FnOnce()) -> Command<impl Future<Output = F::Output>> {
        Command(async {
            sent();
            self.0.await
        })
    }
}

/// The path of one actor through the seam.
#[derive(Clone)]
pub struct Probe {
    actor: Actor,
    work: Duration,
    /// At most one fault, except for steps that a purchase takes for several purchases.
    faults: Vec<CarriedFault>,
    observers: Observers,
}

impl Probe {
    /// Creates the probe of one purchase. `work` is the business time between read and write, `fault` strikes this
    /// purchase alone, and `observers` see the steps of the whole process.
    pub fn new(purchase: &Purchase, work: Duration, fault: Option<Fault>, observers: Observers) -> Self {
        Self {
            actor: Actor::Purchase(Attempt::new(purchase)),
            work,
            faults: fault.into_iter().map(CarriedFault::new).collect(),
            observers,
        }
    }

    /// Creates the probe of a background task of the instance.
    pub fn of_worker(name: &'static str, observers: Observers) -> Self {
        Self {
            actor: Actor::Worker(Worker { name, item: None }),
            work: Duration::ZERO,
            faults: Vec::new(),
            observers,
        }
    }

    /// Returns the probe of the same worker for its work on `item`: its steps are then part of that sale.
    pub fn about(&self, item: &Name) -> Self {
        let mut probe = self.clone();
        if let Actor::Worker(worker) = &mut probe.actor {
            worker.item = Some(item.clone());
        }
        probe
    }

    /// Returns the probe of the task that renews the lease of this purchase's lock.
    pub fn of_renewal(&self) -> Self {
        let actor = match &self.actor {
            Actor::Purchase(attempt) => Actor::Renewal(attempt.clone()),
            other => other.clone(),
        };
        Self { actor, ..self.clone() }
    }

    /// Returns the probe for steps that this purchase takes for `others` as well: the fault of any of them can strike
    /// there.
    pub fn together_with<'a>(&self, others: impl Iterator<Item = &'a Self>) -> Self {
        let mut probe = self.clone();
        probe
            .faults
            .extend(others.flat_map(|other| other.faults.iter().cloned()));
        probe
    }

    /// Returns the actor that takes the steps.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Sends one command about `key`. `result` describes the response; it is called only when an observer looks. The call
    /// may not return: a fault can kill the process before or after the command.
    ///
    /// # Errors
    /// Those of the command.
    pub fn step<T, R: Into<StepResult>>(
        &self,
        step: &Step,
        key: &(dyn Display + Sync),
        command: Command<impl Future<Output = Result<T, Error>>>,
        result: impl FnOnce(&T) -> R,
    ) -> impl Future<Output = Result<T, Error>> {
        let result = |answer: &Result<T, Error>| match answer {
            Ok(answer) => result(answer).into(),
            Err(error) => error.to_string().into(),
        };
        self.pass(step, key, command.0, result)
    }

    /// Returns the counts of the instance.
    pub fn counts(&self) -> &Counts {
        self.observers.counts()
    }

    /// Returns the time of the instance.
    pub fn time(&self) -> &Time {
        self.observers.time()
    }

    /// Pauses before another attempt at `key`.
    pub async fn pause(&self, step: &Step, key: &(dyn Display + Sync), length: Duration) {
        self.local(step, key, self.time().pause(length), |()| "again").await;
    }

    /// Takes a step that no store sees: a wait for a lock, the release of a mutex.
    pub fn local<T, R: Into<StepResult>>(
        &self,
        step: &Step,
        key: &(dyn Display + Sync),
        wait: impl Future<Output = T>,
        result: impl FnOnce(&T) -> R,
    ) -> impl Future<Output = T> {
        self.pass(step, key, wait, |answer| result(answer).into())
    }

    async fn pass<T>(
        &self,
        step: &Step,
        key: &(dyn Display + Sync),
        call: impl Future<Output = T>,
        result: impl FnOnce(&T) -> StepResult,
    ) -> T {
        if self.faults.is_empty() && self.observers.of(&self.actor).next().is_none() {
            return call.await;
        }
        let context = StepContext {
            actor: &self.actor,
            step,
            key,
        };
        let faults = || self.faults.iter().map(|fault| fault as &dyn Observer);
        for observer in faults().chain(self.observers.of(&self.actor)) {
            observer.before(&context).await;
        }
        let answer = call.await;
        let result = result(&answer);
        for observer in self.observers.of(&self.actor).rev().chain(faults()) {
            observer.after(&context, &result).await;
        }
        answer
    }

    /// Waits for the business time between read and write, in place of prices and payments of a real shop.
    pub async fn work(&self) {
        let wait = async {
            if !self.work.is_zero() {
                tokio::time::sleep(self.work).await;
            }
        };
        let item = self.actor.item().map_or("", Name::as_str);
        self.local(&WORK, &item, wait, |()| "done").await;
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    /// A key that panics when its text is read.
    struct Unread;

    impl Display for Unread {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("no observer looks")
        }
    }

    fn purchase() -> Purchase {
        let name = |text| Name::parse(text).unwrap();
        Purchase::new(name("sku"), 1, name("b-1"), None)
    }

    #[tokio::test]
    async fn a_step_without_an_observer_formats_neither_its_key_nor_its_response() {
        const STEP: Step = Step::command("get", &["GET"]);
        let faults = std::sync::Arc::<ArmedFaults>::default();
        let observers = Observers::new(vec![faults.clone()]);
        let probe = Probe::new(&purchase(), Duration::ZERO, None, observers);
        let unsaid = |_: &u8| -> &'static str { panic!("no observer looks") };
        let command = Command::new(async { Ok(7) });
        assert_eq!(probe.step(&STEP, &Unread, command, unsaid).await.unwrap(), 7);
        assert_eq!(probe.local(&STEP, &Unread, async { 7 }, unsaid).await, 7);
    }
}
