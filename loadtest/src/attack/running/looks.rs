//! Readings of the ledgers during an attack.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::{Running, locked};
use crate::facts::Observation;

/// The pause between two readings of a control.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The readings so far, each with the place of its item.
#[derive(Default)]
pub(in crate::attack) struct Looks {
    pub(in crate::attack) observations: Vec<(usize, Observation)>,
    /// When the readings began that failed.
    pub(in crate::attack) failed: Vec<(usize, Instant)>,
}

impl Running {
    /// Reads the ledger of an item. A store that does not answer now is read again after the attack.
    pub(super) async fn snapshot(&self, item: usize) {
        let began = Instant::now();
        let observed = self.attack.sale.sales[item].snapshot().await;
        let mut looks = locked(&self.looks);
        match observed {
            Ok(observation) => looks.observations.push((item, observation)),
            Err(_) => looks.failed.push((item, began)),
        }
    }

    /// Reads the ledgers of a control again and again until it is over: a crowd keeps the stores busy enough, but a lone
    /// buyer would not notice what is seen only while its purchase is carried out. Keeps a reading if it differs from the
    /// one before.
    pub(in crate::attack) async fn watch_ledgers(&self) {
        if !self.attack.one_at_a_time {
            return;
        }
        let sales = &self.attack.sale.sales;
        let mut last = vec![None; sales.len()];
        for item in (0..sales.len()).cycle() {
            if self.over.initialized() {
                return;
            }
            if let Ok(observation) = sales[item].snapshot().await
                && last[item].as_ref() != Some(&observation.facts)
            {
                last[item] = Some(observation.facts.clone());
                locked(&self.looks).observations.push((item, observation));
            }
            sleep(LOOK_EVERY).await;
        }
    }
}
