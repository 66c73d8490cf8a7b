//! The injection's part of an attack that goes on: it opens the gate, follows the progress, and sends some of the
//! purchases.

use std::collections::HashMap;

use goose::goose::GooseUser;
use tokio::sync::mpsc;

use super::{Running, locked};
use crate::attack::send_order::{ResponsePair, SendOrder};
use crate::shop::response::ResponseKind;

/// The progress of a wave.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    /// Responses to purchases that the injection does not send.
    responses: usize,
    sales: usize,
}

impl Progress {
    /// Counts a response. Only purchases of other buyers count as responses: their number is known beforehand.
    pub(super) fn count(&mut self, kind: ResponseKind, is_injected: bool) {
        self.responses += usize::from(!is_injected);
        self.sales += usize::from(kind == ResponseKind::Sold);
    }
}

impl Running {
    /// Takes the channels over which the injection sends its orders. The channels exist from the beginning: a buyer may
    /// wait for its order before the injection begins.
    pub(in crate::attack) fn take_order_senders(&self) -> HashMap<usize, mpsc::Sender<SendOrder>> {
        std::mem::take(&mut locked(&self.order_senders))
    }

    /// Releases the buyers as soon as all of them are there.
    pub(in crate::attack) fn open_gate(&self) {
        // The gate may be open already.
        let _ = self.opened.set(());
    }

    /// Waits for that many sales, or for that many responses to purchases that the injection does not send. Returns
    /// whether there were enough sales.
    pub(in crate::attack) async fn wait_for(&self, sales: usize, responses: usize) -> bool {
        let mut progress = self.progress.subscribe();
        let far_enough = progress
            .wait_for(|now| now.sales >= sales || now.responses >= responses)
            .await;
        far_enough.is_ok_and(|now| now.sales >= sales)
    }

    /// Buys as the injection orders, until the injection is over.
    pub(super) async fn send_injected(
        &self,
        user: &mut GooseUser,
        place: usize,
        mut orders: mpsc::Receiver<SendOrder>,
    ) {
        let mut place = Some(place);
        while let Some(order) = orders.recv().await {
            let SendOrder {
                options,
                intended,
                reply_to,
            } = order;
            let Some(number) = place.take().or_else(|| self.next_place()) else {
                return;
            };
            let mut request = self.attack.sale.purchase(number);
            let token = self.attack.sale.client.at.admin_token.as_str();
            request.fault = options.fault.as_deref().map(|fault| (fault, token));
            if let Some(work) = options.work {
                request.work_ms = work.as_millis() as u64;
            }
            let (response, copy) = self.deliver(user, &request, options.delivery, intended).await;
            // The injection may have given up.
            let _ = reply_to.send(ResponsePair {
                response: response.clone(),
                copy: copy.clone(),
            });
            self.keep(response, copy, true);
        }
    }
}
