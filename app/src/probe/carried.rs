//! The fault that one purchase carries.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;

use super::fault::When;
use super::{Actor, Fault, Observer, Step, StepContext, StepResult};

/// The fault of one purchase. It strikes when that purchase reaches the step for the first time.
#[derive(Clone, Debug)]
pub(super) struct CarriedFault {
    fault: Fault,
    has_struck: Arc<AtomicBool>,
}

impl CarriedFault {
    pub(super) fn new(fault: Fault) -> Self {
        Self {
            fault,
            has_struck: Arc::default(),
        }
    }

    async fn passes(&self, step: &Step, when: When) {
        if self.fault.is_for(step, when) && !self.has_struck.swap(true, Ordering::Relaxed) {
            self.fault.action.inject().await;
        }
    }
}

#[async_trait]
impl Observer for CarriedFault {
    fn observes(&self, _actor: &Actor) -> bool {
        true
    }

    async fn before(&self, context: &StepContext<'_>) {
        self.passes(context.step, When::Before).await;
    }

    async fn after(&self, context: &StepContext<'_>, _result: &StepResult) {
        self.passes(context.step, When::After).await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::super::Role;
    use super::*;

    const STEPS: &[Step] = &[Step::command("set-nx", &["SETNX"]).plays(Role::Lock)];

    #[tokio::test(start_paused = true)]
    async fn a_fault_delays_its_purchase_once() {
        let carried = CarriedFault::new(Fault::parse("delay=50@set-nx", STEPS).unwrap());
        // The renewal of this purchase's lease goes through the seam with the same fault.
        let copy = carried.clone();
        let began = Instant::now();
        carried.passes(&STEPS[0], When::Before).await;
        assert_eq!(began.elapsed(), Duration::from_millis(50));
        let again = Instant::now();
        carried.passes(&STEPS[0], When::Before).await;
        copy.passes(&STEPS[0], When::Before).await;
        assert_eq!(again.elapsed(), Duration::ZERO);
    }
}
