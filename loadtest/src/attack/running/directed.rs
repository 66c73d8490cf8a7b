//! What a deed has to do with an attack that goes on: it opens the gate, hears how far things are, and says how some of
//! the purchases are sent.

use std::collections::HashMap;

use goose::goose::GooseUser;
use tokio::sync::mpsc;

use super::{Running, locked};
use crate::attack::send_order::{ResponsePair, SendOrder};
use crate::shop::response::ResponseKind;

/// How far a wave is.
#[derive(Clone, Copy, Default)]
pub(super) struct Progress {
    /// To purchases that no deed sends.
    responses: usize,
    sales: usize,
}

impl Progress {
    /// Counts an answer; how many there will be is known of those purchases alone that no deed sends.
    pub(super) fn count(&mut self, kind: ResponseKind, is_directed: bool) {
        self.responses += usize::from(!is_directed);
        self.sales += usize::from(kind == ResponseKind::Sold);
    }
}

impl Running {
    /// By what the deed says how its purchases are sent. They wait for it from the beginning: a buyer may be there before
    /// the deed is.
    pub(in crate::attack) fn direct(&self) -> HashMap<usize, mpsc::Sender<SendOrder>> {
        std::mem::take(&mut locked(&self.directors))
    }

    /// Lets the buyers loose as soon as all are there.
    pub(in crate::attack) fn open_gate(&self) {
        // It may be open.
        let _ = self.opened.set(());
    }

    /// Waits until so many sales were heard of, or so many answers to purchases that no deed sends: whether there
    /// were as many sales.
    pub(in crate::attack) async fn heard(&self, sales: usize, responses: usize) -> bool {
        let mut progress = self.progress.subscribe();
        let far_enough = progress
            .wait_for(|now| now.sales >= sales || now.responses >= responses)
            .await;
        far_enough.is_ok_and(|now| now.sales >= sales)
    }

    /// The buyer of a purchase that a deed sends: does what it is told until the deed is over.
    pub(super) async fn follow(&self, user: &mut GooseUser, place: usize, mut send_orders: mpsc::Receiver<SendOrder>) {
        let mut place = Some(place);
        while let Some(SendOrder { options, since, heard }) = send_orders.recv().await {
            let Some(number) = place.take().or_else(|| self.next_place()) else {
                return;
            };
            let mut request = self.attack.sale.purchase(number);
            let token = self.attack.sale.client.at.admin_token.as_str();
            request.fault = options.fault.as_deref().map(|fault| (fault, token));
            if let Some(work) = options.work {
                request.work_ms = work.as_millis() as u64;
            }
            let (response, copy) = self.deliver(user, &request, options.delivery, since).await;
            // The deed may have been given up.
            let _ = heard.send(ResponsePair {
                response: response.clone(),
                copy: copy.clone(),
            });
            self.keep(response, copy, true);
        }
    }
}
