//! The background workers of the instances. They stand still before each step until they may go on.

use app::probe::{Attempt, Step, StepContext, StepResult, Time, Worker};
use tokio::sync::oneshot;

use crate::keys::Keys;

/// The name under which the steps of renewals stand.
pub const RENEWAL: &str = "renewal";

/// A step of a worker or of a renewal.
#[derive(Clone, Debug)]
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
    /// The arrival that the step of a worker concerns; `None` where it may concern any.
    pub arrival: Option<usize>,
    /// The result of a worker's step; `None` while it is under way, or where it never ended.
    pub result: Option<StepResult>,
}

/// Two plays of the same choices take different times, and the results of some steps tell a time.
impl PartialEq for Work {
    fn eq(&self, other: &Self) -> bool {
        let what = |work: &Self| (work.after, work.instance, work.worker, work.step, work.arrival);
        what(self) == what(other)
    }
}

impl Eq for Work {}

/// A step that a worker is about to take, or is at. One worker may work on several items at a time.
struct Place {
    instance: usize,
    worker: &'static str,
    step: Step,
    key: String,
    /// There until the worker may go on.
    go: Option<oneshot::Sender<()>>,
    /// The place among the steps of this schedule, if it was taken in it.
    nth: Option<usize>,
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
    /// The steps that were taken, each with its object.
    work: Vec<(Work, String)>,
    keys: Keys,
}

impl Workers {
    /// Creates the places of workers that go by this time.
    pub fn new(time: Time) -> Self {
        Self {
            time,
            places: Vec::new(),
            work: Vec::new(),
            keys: Keys::default(),
        }
    }

    /// Forgets the steps that were taken.
    pub fn begin(&mut self) {
        self.work.clear();
        self.keys.clear();
        for place in &mut self.places {
            place.nth = None;
        }
    }

    /// Notes that an arrival takes a step about this object.
    pub fn note_key(&mut self, arrival: usize, attempt: &Attempt, key: String) {
        self.keys.note(arrival, attempt, key);
    }

    /// Notes that a renewal takes this step.
    pub fn note_renewal(&mut self, after: usize, instance: usize, step: Step) {
        let work = Work {
            after,
            instance,
            worker: RENEWAL,
            step,
            is_chosen: false,
            arrival: None,
            result: None,
        };
        self.work.push((work, String::new()));
    }

    /// Returns the steps that were taken. Which arrival one concerns is known when all have been taken: a later purchase may use
    /// the same object.
    pub fn work(&self) -> Vec<Work> {
        let work = self.work.iter().map(|(work, key)| Work {
            arrival: self.keys.owner(key),
            ..work.clone()
        });
        work.collect()
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
            nth: None,
        });
        gone
    }

    /// Notes that a worker took its step.
    pub fn leave(&mut self, instance: usize, worker: &Worker, context: &StepContext<'_>, result: &StepResult) {
        let key = context.key.to_string();
        let is_left = |place: &Place| {
            let who = (place.instance, place.worker, place.step.name);
            place.go.is_none() && who == (instance, worker.name, context.step.name) && place.key == key
        };
        if let Some(left) = self.places.iter().position(is_left) {
            let nth = self.places.remove(left).nth;
            if let Some((work, _)) = nth.and_then(|nth| self.work.get_mut(nth)) {
                work.result = Some(result.clone());
            }
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
            arrival: None,
            result: None,
        };
        next.nth = Some(self.work.len());
        self.work.push((work.clone(), next.key.clone()));
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
