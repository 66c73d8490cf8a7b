//! A fault that strikes a background worker in the middle of its work, as a fault of a purchase cannot.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use super::{Actor, FaultAction, Observer, StepContext, StepResult};

/// The fault that waits for a worker, if one is armed. It strikes once.
#[derive(Debug, Default)]
pub struct WorkerFault {
    is_armed: AtomicBool,
    armed: Mutex<Option<Armed>>,
}

#[derive(Clone, Copy, Debug)]
struct Armed {
    action: FaultAction,
    /// The steps that workers still take before it strikes.
    steps_before: u32,
}

impl WorkerFault {
    /// Arms a fault for the moment at which a worker is about to take its `nth` step for an item, counted from now over
    /// all workers. An earlier fault is replaced.
    pub fn arm(&self, action: FaultAction, nth: NonZeroU32) {
        let steps_before = nth.get() - 1;
        self.set(Some(Armed { action, steps_before }));
    }

    /// Forgets the fault.
    pub fn disarm(&self) {
        self.set(None);
    }

    fn set(&self, fault: Option<Armed>) {
        let mut armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        *armed = fault;
        self.is_armed.store(fault.is_some(), Ordering::Relaxed);
    }

    /// Counts a step, and returns the fault that strikes before it.
    fn count(&self) -> Option<FaultAction> {
        let mut armed = self.armed.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = armed.as_mut()?;
        if waiting.steps_before > 0 {
            waiting.steps_before -= 1;
            return None;
        }
        self.is_armed.store(false, Ordering::Relaxed);
        armed.take().map(|armed| armed.action)
    }
}

#[async_trait]
impl Observer for WorkerFault {
    /// A worker that only looks for work has no item.
    fn observes(&self, actor: &Actor) -> bool {
        self.is_armed.load(Ordering::Relaxed) && matches!(actor, Actor::Worker(worker) if worker.item.is_some())
    }

    async fn before(&self, _context: &StepContext<'_>) {
        if let Some(action) = self.count() {
            action.inject().await;
        }
    }

    async fn after(&self, _context: &StepContext<'_>, _result: &StepResult) {}
}

#[cfg(test)]
mod tests {
    use super::super::Worker;
    use super::*;
    use crate::domain::Name;

    fn worker(item: Option<&str>) -> Actor {
        let item = item.map(|item| Name::parse(item).unwrap());
        Actor::Worker(Worker { name: "test", item })
    }

    #[test]
    fn it_strikes_once_before_the_step_that_was_named_and_never_while_a_worker_looks_for_work() {
        let fault = WorkerFault::default();
        let [at_work, looking] = [worker(Some("sku")), worker(None)];
        assert!(!fault.observes(&at_work));
        fault.arm(FaultAction::Crash, NonZeroU32::new(3).unwrap());
        assert!(fault.observes(&at_work) && !fault.observes(&looking));
        assert_eq!([(); 3].map(|()| fault.count()), [None, None, Some(FaultAction::Crash)]);
        assert!(!fault.observes(&at_work));
        fault.arm(FaultAction::Crash, NonZeroU32::MIN);
        fault.disarm();
        assert!(!fault.observes(&at_work));
        assert_eq!(fault.count(), None);
    }
}
