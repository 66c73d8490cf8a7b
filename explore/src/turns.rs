//! The turns of the purchases: each stands before its next step until it may take it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use app::probe::{Actor, Observer, Step, StepContext, StepResult};
use async_trait::async_trait;
use tokio::sync::{Notify, oneshot};

/// A step that a purchase took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The number of the purchase, from 0.
    pub purchase: usize,
    /// The step.
    pub step: Step,
    /// Its result; `None` while it is under way, or where it never ended.
    pub result: Option<StepResult>,
    /// The number of choices that had been made when it ended.
    pub ended_after: Option<usize>,
}

/// The place of one purchase.
enum Place {
    /// Between two steps, or not begun yet.
    Between,
    /// Before a step, until the sender is used.
    Before(Step, oneshot::Sender<()>),
    /// At a step that it was allowed to take. It is the `usize`th of all that were taken.
    At(Step, usize),
    /// The purchase has its outcome.
    Ended,
}

/// The purchases of one schedule, as an observer at the seam of every instance. The purchase of the buyer named after
/// number N is held before each step. Other actors are not held.
pub struct Turns {
    buyers: Vec<String>,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    places: Vec<Place>,
    taken: Vec<Taken>,
    /// The number of choices that were made so far, events among them.
    choices: usize,
    /// The number of changes so far.
    version: u64,
}

impl Turns {
    /// Creates the turns of these buyers.
    pub fn new(buyers: Vec<String>) -> Self {
        let places = buyers.iter().map(|_| Place::Ended).collect();
        let state = State {
            places,
            taken: Vec::new(),
            choices: 0,
            version: 0,
        };
        Self {
            buyers,
            state: Mutex::new(state),
            changed: Notify::new(),
        }
    }

    /// Begins a schedule: every purchase is on the way to its first step.
    pub fn begin(&self) {
        self.change(|state| {
            state.places.iter_mut().for_each(|place| *place = Place::Between);
            state.taken.clear();
            state.choices = 0;
        });
    }

    /// Notes that a purchase has its outcome.
    pub fn end(&self, purchase: usize) {
        self.change(|state| state.places[purchase] = Place::Ended);
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
            state.taken.push(Taken {
                purchase,
                step,
                result: None,
                ended_after: None,
            });
            // The purchase may have been dropped meanwhile.
            let _ = go.send(());
        });
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

    /// Returns the steps of the purchases that stand before none and have no outcome; `None` for one between two steps.
    pub fn under_way(&self) -> Vec<Option<Step>> {
        let state = self.state();
        let places = state.places.iter();
        let under_way = places.filter_map(|place| match place {
            Place::Between => Some(None),
            Place::At(step, _) => Some(Some(*step)),
            Place::Before(..) | Place::Ended => None,
        });
        under_way.collect()
    }

    /// Returns the steps that were taken so far, in their order.
    pub fn taken(&self) -> Vec<Taken> {
        self.state().taken.clone()
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

    fn number(&self, actor: &Actor) -> Option<usize> {
        let Actor::Purchase(attempt) = actor else { return None };
        self.buyers.iter().position(|buyer| *buyer == attempt.buyer.as_str())
    }
}

#[async_trait]
impl Observer for Turns {
    fn observes(&self, actor: &Actor) -> bool {
        self.number(actor).is_some()
    }

    async fn before(&self, context: &StepContext<'_>) {
        let Some(purchase) = self.number(context.actor) else {
            return;
        };
        let (go, gone) = oneshot::channel();
        self.change(|state| state.places[purchase] = Place::Before(*context.step, go));
        // Without a sender the schedule is over, and the purchase is about to be dropped.
        let _ = gone.await;
    }

    async fn after(&self, context: &StepContext<'_>, result: &StepResult) {
        let Some(purchase) = self.number(context.actor) else {
            return;
        };
        self.change(|state| {
            if let Place::At(_, nth) = state.places[purchase]
                && let Some(taken) = state.taken.get_mut(nth)
            {
                taken.result = Some(result.clone());
                taken.ended_after = Some(state.choices);
            }
            state.places[purchase] = Place::Between;
        });
    }
}
