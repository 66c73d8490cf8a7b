//! The turns of the purchases and of the background workers: each stands before its next step until it may take it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use app::domain::Name;
use app::probe::{Actor, Observer, Step, StepContext, StepResult, Time};
use async_trait::async_trait;
use tokio::sync::{Notify, oneshot};

use crate::arrivals::Arrivals;
use crate::place::Place;
use crate::renewals::Renewals;
use crate::taken::Taken;
use crate::workers::{Work, Workers};

/// The purchases of one schedule, and the background workers where they are held. Each is known by its buyer and
/// its instance, and is held before each step, as are renewals. Listeners are not held.
pub struct Turns {
    arrivals: Arrivals,
    buyers: Vec<Name>,
    holds_workers: bool,
    state: Mutex<State>,
    changed: Notify,
}

/// The observer at the seam of one instance.
pub struct AtInstance {
    pub turns: Arc<Turns>,
    /// The instance, from 0.
    pub instance: usize,
}

struct State {
    workers: Workers,
    renewals: Renewals,
    places: Vec<Place>,
    /// The purchases that have their outcome. One may still take a step: it leaves a queue after it gave up.
    over: Vec<bool>,
    taken: Vec<Taken>,
    /// The number of choices that were made so far, events among them.
    choices: usize,
    /// The number of changes so far.
    version: u64,
}

impl Turns {
    /// Creates the turns of these arrivals, and of the workers that go by this time, if they are to be held.
    ///
    /// # Errors
    /// None that is known.
    pub fn new(arrivals: Arrivals, holds_workers: bool, time: Time) -> Result<Self> {
        let numbers = 0..arrivals.count();
        let buyers: Result<Vec<_>, _> = numbers.clone().map(|number| arrivals.buyer(number)).collect();
        let places: Vec<_> = numbers.map(|_| Place::Ended).collect();
        let state = State {
            workers: Workers::new(time),
            renewals: Renewals::default(),
            over: vec![true; places.len()],
            places,
            taken: Vec::new(),
            choices: 0,
            version: 0,
        };
        Ok(Self {
            arrivals,
            buyers: buyers?,
            holds_workers,
            state: Mutex::new(state),
            changed: Notify::new(),
        })
    }

    /// Returns the numbers under which purchases arrive.
    pub fn arrivals(&self) -> Arrivals {
        self.arrivals
    }

    /// Begins a schedule.
    pub fn begin(&self) {
        self.change(|state| {
            state.workers.begin();
            state.taken.clear();
            state.choices = 0;
        });
    }

    /// Notes that a purchase is on the way to its first step.
    pub fn enter(&self, purchase: usize) {
        self.change(|state| (state.places[purchase], state.over[purchase]) = (Place::Between, false));
    }

    /// Notes that a purchase has its outcome.
    pub fn end(&self, purchase: usize) {
        self.change(|state| (state.places[purchase], state.over[purchase]) = (Place::Ended, true));
    }

    /// Notes that an event was chosen.
    pub fn note_event(&self) {
        self.change(|state| state.choices += 1);
    }

    /// Lets a purchase take the step before which it stands. Does nothing when it stands before none.
    pub fn allow(&self, purchase: usize) {
        self.change(|state| {
            state.choices += 1;
            let place = std::mem::replace(&mut state.places[purchase], Place::Between);
            let Place::Before(step, go) = place else {
                state.places[purchase] = place;
                return;
            };
            state.places[purchase] = Place::At(step, state.taken.len());
            state.taken.push(Taken::begun(purchase, step));
            // The purchase may have been dropped meanwhile.
            let _ = go.send(());
        });
    }

    /// Notes that the reply to the step is lost at which a purchase is.
    pub fn lose_reply(&self, purchase: usize) {
        self.change(|state| {
            if let Place::At(_, nth) = state.places[purchase]
                && let Some(taken) = state.taken.get_mut(nth)
            {
                taken.has_no_reply = true;
            }
        });
    }

    /// Lets one worker take the step before which it stands, at that instance if one is given. Returns the step; `None` where no
    /// worker stands before one.
    pub fn allow_worker(&self, at: Option<usize>) -> Option<Work> {
        let mut allowed = None;
        self.change(|state| allowed = state.workers.allow(state.choices, at));
        allowed
    }

    /// Returns the worker that takes the next step at that instance, and the step; `None` where none stands before one.
    pub fn next_work(&self, instance: usize) -> Option<(&'static str, Step)> {
        self.state().workers.next(instance)
    }

    /// Returns whether no worker is at a step or on its way to one.
    pub fn do_workers_rest(&self) -> bool {
        self.state().workers.under_way().is_empty()
    }

    /// Lets one renewal take the step before which it stands. Returns whether one stood there.
    pub fn allow_renewal(&self) -> bool {
        let mut is_allowed = false;
        self.change(|state| {
            if let Some((purchase, step)) = state.renewals.allow() {
                let instance = self.arrivals.instance(purchase);
                state.workers.note_renewal(state.choices, instance, step);
                is_allowed = true;
            }
        });
        is_allowed
    }

    /// Returns the steps that workers and renewals took.
    pub fn work(&self) -> Vec<Work> {
        self.state().workers.work()
    }

    /// Returns the purchases that stand before a step, with the step.
    pub fn ready(&self) -> Vec<(usize, Step)> {
        let state = self.state();
        let places = state.places.iter().enumerate();
        let before = places.filter_map(|(number, place)| match place {
            Place::Before(step, _) => Some((number, *step)),
            Place::Between | Place::At(..) | Place::Ended => None,
        });
        before.collect()
    }

    /// Returns whether a purchase has no outcome and stands before no step.
    pub fn is_one_under_way(&self) -> bool {
        let state = self.state();
        let mut places = state.places.iter();
        places.any(|place| matches!(place, Place::Between | Place::At(..)))
    }

    /// Returns the steps of the purchases, renewals and workers that stand before none and are not over; `None` for one between two
    /// steps.
    pub fn under_way(&self) -> Vec<Option<Step>> {
        let state = self.state();
        let places = state.places.iter();
        let under_way = places.filter_map(|place| match place {
            Place::Between => Some(None),
            Place::At(step, _) => Some(Some(*step)),
            Place::Before(..) | Place::Ended => None,
        });
        let mut under_way: Vec<_> = under_way.chain(state.renewals.under_way().map(Some)).collect();
        if self.holds_workers {
            under_way.extend(state.workers.under_way());
        }
        under_way
    }

    /// Returns the steps that were taken so far, in their order.
    pub fn taken(&self) -> Vec<Taken> {
        self.state().taken.clone()
    }

    /// Returns the steps that were taken so far with their results, for an error.
    pub fn in_words(&self) -> String {
        let steps: Vec<_> = self.taken().iter().map(Taken::in_words).collect();
        format!("after these steps: {}", steps.join(", "))
    }

    /// Returns a number that differs after each change.
    pub fn version(&self) -> u64 {
        self.state().version
    }

    /// Waits for a change after that version.
    pub async fn changed_since(&self, version: u64) {
        loop {
            let changed = self.changed.notified();
            if self.version() != version {
                return;
            }
            changed.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        state.version += 1;
        drop(state);
        self.changed.notify_waiters();
    }

    /// Returns the number of the purchase that is at work at this instance, or whose lock is renewed there.
    fn number(&self, actor: &Actor, instance: usize) -> Option<usize> {
        let (Actor::Purchase(attempt) | Actor::Renewal(attempt)) = actor else {
            return None;
        };
        let mut buyers = self.buyers.iter().enumerate();
        let is_this =
            |(number, buyer): &(usize, &Name)| **buyer == attempt.buyer && self.arrivals.instance(*number) == instance;
        buyers.find(is_this).map(|(number, _)| number)
    }
}

#[async_trait]
impl Observer for AtInstance {
    fn observes(&self, actor: &Actor) -> bool {
        match actor {
            Actor::Worker(_) => self.turns.holds_workers,
            Actor::Purchase(_) | Actor::Renewal(_) => self.turns.number(actor, self.instance).is_some(),
        }
    }

    async fn before(&self, context: &StepContext<'_>) {
        let mut gone = None;
        self.turns.change(|state| {
            gone = match (context.actor, self.turns.number(context.actor, self.instance)) {
                (Actor::Worker(worker), _) => Some(state.workers.stand(self.instance, worker, context)),
                (Actor::Renewal(_), Some(purchase)) => Some(state.renewals.stand(purchase, *context.step)),
                (Actor::Purchase(attempt), Some(purchase)) => {
                    state.workers.note_key(purchase, attempt, context.key.to_string());
                    let (go, gone) = oneshot::channel();
                    state.places[purchase] = Place::Before(*context.step, go);
                    Some(gone)
                }
                (_, None) => None,
            };
        });
        if let Some(gone) = gone {
            // Without a sender the schedule is over, and the purchase is about to be dropped.
            let _ = gone.await;
        }
    }

    async fn after(&self, context: &StepContext<'_>, result: &StepResult) {
        let purchase = self.turns.number(context.actor, self.instance);
        self.turns.change(|state| match (context.actor, purchase) {
            (Actor::Worker(worker), _) => state.workers.leave(self.instance, worker, context, result),
            (Actor::Renewal(_), Some(purchase)) => state.renewals.leave(purchase),
            (_, Some(purchase)) => {
                if let Place::At(_, nth) = state.places[purchase]
                    && let Some(taken) = state.taken.get_mut(nth)
                {
                    taken.end(result, state.choices);
                }
                let is_over = state.over[purchase];
                state.places[purchase] = if is_over { Place::Ended } else { Place::Between };
            }
            (_, None) => {}
        });
    }
}
