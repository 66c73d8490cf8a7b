//! How a purchase reaches the shop: most of them once.

use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::Attack;
use crate::shop::PurchaseRequest;
use crate::shop::response::{Reply, Response};

/// How one purchase is delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// Once, and its answer is waited for.
    #[default]
    Once,
    /// Twice at one moment, as by a buyer who clicks twice.
    Twice,
    /// Twice at one moment at two instances, past the proxy. Where somebody else runs the shop the proxy is all that is
    /// known, and may send both to one.
    AtTwoInstances,
    /// Once, at one instance past the proxy. Where somebody else runs the shop the proxy is all that is known.
    At(usize),
    /// The buyer hangs up, so long after it was sent; it works for twice as long, so that it is being carried out then.
    HangUp(Duration),
}

impl Attack {
    /// Sends a purchase twice at one moment at two instances: what was answered here and there.
    pub(super) async fn at_two_instances(&self, request: &PurchaseRequest<'_>) -> [Response; 2] {
        let (one, other) = tokio::join!(self.at(0, request), self.at(1, request));
        [one, other]
    }

    /// Sends a purchase to one instance, past the proxy.
    pub(super) async fn at(&self, instance: usize, request: &PurchaseRequest<'_>) -> Response {
        let mut client = self.sale.client.clone();
        client.at.host = self.publics[instance % self.publics.len()].clone();
        client.buy(request).await.0
    }

    /// Sends a purchase on a connection of its own and closes it before the answer has come.
    pub(super) async fn hang_up(&self, request: &PurchaseRequest<'_>, after: Duration) -> Response {
        let sent = Instant::now();
        let mut request = request.clone();
        request.work_ms = request.work_ms.max(2 * after.as_millis() as u64);
        match timeout(after, self.sale.client.buy(&request)).await {
            Ok((response, _)) => response,
            Err(_) => Response {
                hung_up: true,
                ..request.answered(Reply::SILENCE, sent, sent)
            },
        }
    }
}
