//! Delivery of one purchase.

use std::time::Instant;

use goose::goose::{GooseRequest, GooseUser};
use tokio::time::timeout;

use super::Running;
use crate::attack::Delivery;
use crate::shop::PurchaseRequest;
use crate::shop::response::{Reply, Response};

impl Running {
    /// Delivers one purchase. Returns the response to it, and the response to its second copy if there was one.
    pub(super) async fn deliver(
        &self,
        user: &mut GooseUser,
        request: &PurchaseRequest<'_>,
        delivery: Delivery,
        intended: Instant,
    ) -> (Response, Option<Response>) {
        match delivery {
            Delivery::Once => (self.send(user, request, intended).await, None),
            Delivery::At(instance) => (self.attack.at(instance, request).await, None),
            Delivery::HangUp(after) => (self.attack.hang_up(request, after).await, None),
            Delivery::Twice => {
                let again = self.attack.sale.client.buy(request);
                let (response, (copy, _)) = tokio::join!(self.send(user, request, intended), again);
                (response, Some(copy))
            }
            Delivery::AtTwoInstances => {
                let [response, copy] = self.attack.at_two_instances(request).await;
                (response, Some(copy))
            }
        }
    }

    /// Sends one purchase over the crowd's connections. A kept connection that the shop has closed brings no byte of a
    /// response: the purchase is then sent again with its key on a connection of its own, unless it carries a fault. Its
    /// buyer waits no longer than for any other purchase.
    async fn send(&self, user: &mut GooseUser, request: &PurchaseRequest<'_>, intended: Instant) -> Response {
        let sent = Instant::now();
        let client = &self.attack.sale.client;
        let goose_request = GooseRequest::builder()
            .set_request_builder(request.fill(self.client.post(client.purchases())))
            .name(request.strategy)
            .build();
        let response = user.request(goose_request).await.map(|response| response.response);
        let reply = match response {
            Ok(Err(error)) if request.fault.is_none() && was_cut(&error) => {
                let left = request.patience().saturating_sub(sent.elapsed());
                match timeout(left, client.buy(request)).await {
                    Ok((again, _)) => {
                        return Response {
                            intended,
                            sent,
                            sent_again: true,
                            ..again
                        };
                    }
                    Err(_) => Reply::SILENCE,
                }
            }
            Ok(response) => Reply::read(response).await,
            Err(_) => Reply::SILENCE,
        };
        request.answered(reply, intended, sent)
    }
}

/// Returns whether the connection ended before the first byte of the response.
fn was_cut(error: &reqwest::Error) -> bool {
    error.is_request() && !error.is_connect() && !error.is_timeout()
}
