//! The steps of background workers, and the purchases that they concern.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::event::{InstanceTrace, Role};
use super::purchase::{End, Step, Trace, TracedPurchase};

/// A step that a background worker took for a sale.
#[derive(Clone, Debug)]
pub struct WorkStep {
    /// The instance.
    pub instance: String,
    /// The name of the worker.
    pub worker: String,
    /// The step.
    pub step: Step,
}

/// Returns the steps of workers at one instance, without the renewals.
pub(super) fn work(instance: &InstanceTrace) -> Vec<WorkStep> {
    let is_work = |role| role != Some(Role::Renew);
    let events = instance.events.iter();
    let mut work: Vec<(&str, WorkStep)> = Vec::new();
    for event in events.filter(|event| event.buyer.is_none() && is_work(event.role)) {
        if event.said.is_none() {
            let step = WorkStep {
                instance: instance.instance.clone(),
                worker: event.actor.clone(),
                step: Step::begun(event.clone()),
            };
            work.push((&event.life, step));
            continue;
        }
        // A worker may take several steps at a time: each has a key of its own.
        let is_this = |(life, WorkStep { worker, step, .. }): &&mut (&str, WorkStep)| {
            let is_same =
                (*life, worker, &step.name, &step.key) == (&event.life, &event.actor, &event.step, &event.key);
            is_same && step.end.is_none()
        };
        if let Some((_, open)) = work.iter_mut().rfind(is_this) {
            open.step.end = End::of(event.clone());
        }
    }
    work.into_iter().map(|(_, step)| step).collect()
}

/// The steps of workers, each with the purchase that it concerns.
pub(super) struct Work<'a>(Vec<(&'a TracedPurchase, &'a WorkStep)>);

impl<'a> Work<'a> {
    /// Finds the purchase of each step: the step is about its order, or about an object of no other order. A step about
    /// an object of several orders is left out, because it tells nothing of one of them.
    pub(super) fn of(trace: &'a Trace) -> Self {
        if trace.work.is_empty() {
            return Self(Vec::new());
        }
        let mut owners: HashMap<&str, Option<&TracedPurchase>> = HashMap::new();
        for purchase in &trace.purchases {
            let keys = purchase.steps.iter().map(|step| step.key.as_str());
            for key in purchase.order.as_deref().into_iter().chain(keys) {
                match owners.entry(key) {
                    Entry::Vacant(free) => {
                        free.insert(Some(purchase));
                    }
                    // A second delivery has the same order.
                    Entry::Occupied(mut owner) => {
                        if owner.get().is_some_and(|owner| owner.order != purchase.order) {
                            owner.insert(None);
                        }
                    }
                }
            }
        }
        let concerned = |work: &'a WorkStep| Some(((*owners.get(work.step.key.as_str())?)?, work));
        Self(trace.work.iter().filter_map(concerned).collect())
    }

    /// Returns every step, with its purchase.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'a TracedPurchase, &'a WorkStep)> {
        self.0.iter().copied()
    }

    /// Returns the steps for one purchase.
    pub(super) fn concerning(&self, purchase: &TracedPurchase) -> impl Iterator<Item = &'a WorkStep> {
        let own = self.all().filter(|(owner, _)| std::ptr::eq(*owner, purchase));
        own.map(|(_, work)| work)
    }
}
