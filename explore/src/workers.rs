//! The background workers of the instances. They stand still before each step until they may go on.

use app::probe::{Step, StepContext, Time, Worker};
use tokio::sync::oneshot;

/// The name under which the steps of renewals stand.
pub const RENEWAL: &str = "renewal";

/// A step of a worker or of a renewal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The number of choices that had been made before.
    pub after: usize,
    /// The instance, from 0.
    pub instance: usize,
    /// The name of the worker.
    pub worker: &'static str,
    /// The step.
    pub step: Step,
    /// Whether the schedule chose it, as the last choice before.
    pub is_chosen: bool,
}

/// A step that a worker is about to take, or is at. One worker may work on several items at a time.
struct Place {
    instance: usize,
    worker: &'static str,
    step: Step,
    key: String,
    /// There until the worker may go on.
    go: Option<oneshot::Sender<()>>,
}

impl Place {
    /// Returns whether the worker stands before the step, at that instance if one is given.
    fn stands_at(&self, instance: Option<usize>) -> bool {
        self.go.is_some() && instance.is_none_or(|instance| instance == self.instance)
    }
}

/// The places of all workers.
pub struct Workers {
    time: Time,
    places: Vec<Place>,
    work: Vec<Work>,
}

impl Workers {
    /// Creates the places of workers that go by this time.
    pub fn new(time: Time) -> Self {
        Self {
            time,
            places: Vec::new(),
            work: Vec::new(),
        }
    }

    /// Forgets the steps that were taken.
    pub fn begin(&mut self) {
        self.work.clear();
    }

    /// Notes that a renewal takes this step.
    pub fn note_renewal(&mut self, after: usize, instance: usize, step: Step) {
        self.work.push(Work {
            after,
            instance,
            worker: RENEWAL,
            step,
            is_chosen: false,
        });
    }

    /// Returns the steps that were taken.
    pub fn work(&self) -> Vec<Work> {
        self.work.clone()
    }

    /// Lets a worker stand before a step until the receiver is told to go on.
    pub fn stand(&mut self, instance: usize, worker: &Worker, context: &StepContext<'_>) -> oneshot::Receiver<()> {
        let (go, gone) = oneshot::channel();
        self.places.push(Place {
            instance,
            worker: worker.name,
            step: *context.step,
            key: context.key.to_string(),
            go: Some(go),
        });
        gone
    }

    /// Notes that a worker took its step.
    pub fn leave(&mut self, instance: usize, worker: &Worker, context: &StepContext<'_>) {
        let key = context.key.to_string();
        let is_left = |place: &Place| {
            let who = (place.instance, place.worker, place.step.name);
            place.go.is_none() && who == (instance, worker.name, context.step.name) && place.key == key
        };
        if let Some(left) = self.places.iter().position(is_left) {
            self.places.remove(left);
        }
    }

    /// Lets one worker take its next step, at that instance if one is given, always the same one of several. Returns the step;
    /// `None` where no worker stands before one.
    pub fn allow(&mut self, after: usize, at: Option<usize>) -> Option<Work> {
        let next = self.places.iter_mut().filter(|place| place.stands_at(at));
        // Of several places of one worker the first one comes first.
        let next = next.min_by_key(|place| (place.instance, place.worker))?;
        let go = next.go.take()?;
        let work = Work {
            after,
            instance: next.instance,
            worker: next.worker,
            step: next.step,
            is_chosen: at.is_some(),
        };
        self.work.push(work.clone());
        // The worker may have been dropped meanwhile.
        let _ = go.send(());
        Some(work)
    }

    /// Returns the worker that takes the next step at that instance, and the step.
    pub fn next(&self, instance: usize) -> Option<(&'static str, Step)> {
        let standing = self.places.iter().filter(|place| place.stands_at(Some(instance)));
        let next = standing.min_by_key(|place| place.worker)?;
        Some((next.worker, next.step))
    }

    /// Returns the steps at which workers are; `None` for one that neither sleeps nor stands nor is at a step.
    pub fn under_way(&self) -> Vec<Option<Step>> {
        let at = self.places.iter().filter(|place| place.go.is_none());
        let mut under_way: Vec<_> = at.map(|place| Some(place.step)).collect();
        let mut placed: Vec<_> = self.places.iter().map(|place| (place.instance, place.worker)).collect();
        placed.sort_unstable();
        placed.dedup();
        let known = placed.len() + self.time.sleepers();
        under_way.extend((known..self.time.workers()).map(|_| None));
        under_way
    }
}
