//! How a purchase reaches the shop: most of them once.

use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::Attack;
use crate::answer::{Answer, Reply};
use crate::shop::{PurchaseRequest, ShopClient};

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
    /// The buyer hangs up, so long after it was sent; it works for twice as long, so that it is being carried out then.
    HangUp(Duration),
}

impl Attack {
    /// Sends a purchase twice at one moment at two instances: what was answered here and there.
    pub(super) async fn at_two_instances(&self, request: &PurchaseRequest<'_>) -> [Answer; 2] {
        let host = |place: usize| &self.publics[place % self.publics.len()];
        let (one, other) = (at(&self.sale.client, host(0)), at(&self.sale.client, host(1)));
        let ((one, _), (other, _)) = tokio::join!(one.buy(request), other.buy(request));
        [one, other]
    }

    /// Sends a purchase on a connection of its own and closes it before the answer has come.
    pub(super) async fn hang_up(&self, request: &PurchaseRequest<'_>, after: Duration) -> Answer {
        let sent = Instant::now();
        let mut request = request.clone();
        request.work_ms = request.work_ms.max(2 * after.as_millis() as u64);
        match timeout(after, self.sale.client.buy(&request)).await {
            Ok((answer, _)) => answer,
            Err(_) => Answer {
                hung_up: true,
                ..request.answered(Reply::SILENCE, sent, sent)
            },
        }
    }
}

/// Another address of the same shop.
fn at(client: &ShopClient, host: &str) -> ShopClient {
    let mut client = client.clone();
    client.at.host = host.to_owned();
    client
}
