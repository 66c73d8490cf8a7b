//! Readings of the ledgers and repeats of purchases that follow a response, where the round drew that.

use std::sync::atomic::Ordering;

use super::{Item, Running, locked};
use crate::shop::response::ResponseKind;

impl Running {
    /// Reads the ledger and repeats purchases where this round drew that. Returns whether it did anything.
    pub(super) async fn after_answer(&self, kind: ResponseKind, place: usize) -> bool {
        let item = self.attack.sale.place_of(place);
        match kind {
            ResponseKind::Sold => self.after_sale(place, item).await,
            // Every purchase that was told sold before has to be in the ledger by now.
            ResponseKind::SoldOut if !self.items[item].refused.swap(true, Ordering::Relaxed) => {
                self.snapshot(item).await;
                true
            }
            ResponseKind::Busy => {
                self.items[item].busy.store(true, Ordering::Relaxed);
                false
            }
            ResponseKind::SoldOut | ResponseKind::Rejected | ResponseKind::Unknown => false,
        }
    }

    async fn after_sale(&self, place: usize, item: usize) -> bool {
        let Item { sales, after_sale, .. } = &self.items[item];
        let nth = sales.fetch_add(1, Ordering::Relaxed);
        let alone = self.attack.one_at_a_time;
        let observes = nth == 0 || after_sale.observed.contains(&nth) || alone;
        let (repeats, alters) = (after_sale.repeated.contains(&nth), after_sale.altered.contains(&nth));
        let snapshot = async {
            if observes {
                self.snapshot(item).await;
            }
        };
        let resend = async {
            if repeats {
                self.repeat(place).await;
            }
            if alters {
                self.alter(place).await;
            }
        };
        if alone {
            snapshot.await;
            resend.await;
        } else {
            // Both at once, while there are units left that a forgetful shop could sell.
            tokio::join!(snapshot, resend);
        }
        observes || repeats || alters
    }

    async fn repeat(&self, place: usize) {
        let (response, _) = self.attack.sale.buy(place).await;
        locked(&self.responses).repeats.push(response);
    }

    async fn alter(&self, place: usize) {
        let sale = &self.attack.sale;
        let [larger, strangers] = sale.altered(place);
        let (larger, strangers) = (sale.client.buy(&larger), sale.client.buy(&strangers));
        let responses = if self.attack.one_at_a_time {
            (larger.await, strangers.await)
        } else {
            tokio::join!(larger, strangers)
        };
        let ((larger, _), (strangers, _)) = responses;
        locked(&self.responses).altered.extend([larger, strangers]);
    }
}
