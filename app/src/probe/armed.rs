//! Faults armed for the whole process: each strikes once, the first purchase that reaches its step.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;

use super::fault::When;
use super::{Actor, Fault, Observer, StepContext, StepResult};

/// The most faults that can be armed at once.
const MAX_ARMED: usize = 64;

/// The armed faults.
#[derive(Debug, Default)]
pub struct ArmedFaults {
    any: AtomicBool,
    armed: Mutex<Vec<Fault>>,
}

impl ArmedFaults {
    /// Arms `fault` for the first purchase that reaches its step. Returns false when too many faults are armed already.
    pub fn arm(&self, fault: Fault) -> bool {
        let mut armed = self.armed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if armed.len() >= MAX_ARMED {
            return false;
        }
        armed.push(fault);
        self.any.store(true, Ordering::Relaxed);
        true
    }

    /// Forgets all armed faults.
    pub fn disarm(&self) {
        let mut armed = self.armed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        armed.clear();
        self.any.store(false, Ordering::Relaxed);
    }

    fn take(&self, context: &StepContext<'_>, when: When) -> Option<Fault> {
        let mut armed = self.armed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let at = armed.iter().position(|fault| fault.is_for(context.step, when))?;
        let fault = armed.swap_remove(at);
        self.any.store(!armed.is_empty(), Ordering::Relaxed);
        Some(fault)
    }
}

#[async_trait]
impl Observer for ArmedFaults {
    fn observes(&self, _actor: &Actor) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    async fn before(&self, context: &StepContext<'_>) {
        if let Some(fault) = self.take(context, When::Before) {
            fault.action.inject().await;
        }
    }

    async fn after(&self, context: &StepContext<'_>, _result: &StepResult) {
        if let Some(fault) = self.take(context, When::After) {
            fault.action.inject().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Role, Step, Worker};
    use super::*;

    const READ: Step = Step::command("watch-get", &[]).plays(Role::Read);
    const WRITE: Step = Step::command("exec", &[]).plays(Role::Write);

    static ACTOR: Actor = Actor::Worker(Worker {
        name: "test",
        item: None,
    });

    fn context<'a>(step: &'a Step) -> StepContext<'a> {
        StepContext {
            actor: &ACTOR,
            step,
            key: &"",
        }
    }

    #[test]
    fn an_armed_fault_is_taken_once_at_its_own_side_of_its_step() {
        for name in ["read", "watch-get"] {
            let faults = ArmedFaults::default();
            faults.arm(Fault::parse(&format!("crash@{name}+"), &[READ]).unwrap());
            assert!(faults.observes(&ACTOR));
            assert_eq!(faults.take(&context(&WRITE), When::After), None);
            assert_eq!(faults.take(&context(&READ), When::Before), None);
            assert!(faults.take(&context(&READ), When::After).is_some());
            assert_eq!(faults.take(&context(&READ), When::After), None);
            assert!(!faults.observes(&ACTOR));
        }
    }
}
