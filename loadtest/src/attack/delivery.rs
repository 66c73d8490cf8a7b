//! Ways in which a purchase reaches the shop. Most purchases are delivered once.

use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::Attack;
use crate::shop::PurchaseRequest;
use crate::shop::response::{Reply, Response};

/// How one purchase is delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// Once; the buyer waits for the response.
    #[default]
    Once,
    /// Twice at the same moment, as by a buyer that clicks twice.
    Twice,
    /// Twice at the same moment, at two instances, past the proxy. Of a remote shop only the proxy is known, which may
    /// send both to one instance.
    AtTwoInstances,
    /// Once, at one instance, past the proxy. Of a remote shop only the proxy is known.
    At(usize),
    /// The buyer hangs up this long after sending. The purchase works for at least twice as long, so that the shop is
    /// still carrying it out then.
    HangUp(Duration),
}

impl Attack {
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

    /// Sends a purchase on a connection of its own and closes the connection before the response has come.
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
