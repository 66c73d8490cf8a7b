//! Replies that are lost, and requests that arrive late: relays before the stores make both happen.

use anyhow::{Context, Result};
use stack::{InstanceRelays, LateRequest, Relay, ServiceKind};

use crate::choice::Choice;
use crate::play::Player;

/// The requests that have left their purchases and have not reached a store, the oldest first.
#[derive(Default)]
pub struct LateRequests(Vec<Late>);

/// One of them.
struct Late {
    purchase: usize,
    service: ServiceKind,
    request: LateRequest,
}

impl LateRequests {
    /// Returns the arrivals that are possible.
    pub fn arrivals(&self) -> impl Iterator<Item = Choice> {
        let purchases: std::collections::BTreeSet<usize> = self.0.iter().map(|late| late.purchase).collect();
        purchases.into_iter().map(Choice::Arrival)
    }

    /// Returns whether a request is late.
    pub fn is_any(&self) -> bool {
        !self.0.is_empty()
    }
}

impl Player {
    /// Lets a purchase take its next step, and closes the connection before the reply comes. A reply that waits for another
    /// purchase is not lost.
    pub(super) async fn lose_reply(&mut self, purchase: usize) -> Result<()> {
        self.interrupt(purchase, Relay::lose_replies).await
    }

    /// Lets a purchase take its next step, and closes the connection before the request arrives.
    pub(super) async fn send_late(&mut self, purchase: usize) -> Result<()> {
        self.interrupt(purchase, Relay::keep_requests).await
    }

    /// Lets a purchase take its next step while relays treat it like that, and closes the connections that they have affected.
    async fn interrupt(&mut self, purchase: usize, treat: impl Fn(&Relay)) -> Result<()> {
        let instance = self.turns.arrivals().instance(purchase);
        let relays: Option<&InstanceRelays> = self.instances[instance].relays.as_deref();
        let relays = relays.context("a message is lost or late at a relay")?;
        relays.all().for_each(treat);
        self.turns.allow(purchase);
        let is_affected = || relays.all().any(|relay| relay.affected() > 0);
        self.waits.settle_unless(&self.turns, is_affected).await?;
        if is_affected() {
            self.turns.lose_reply(purchase);
        }
        for (service, request) in relays.late_requests() {
            if is_sql(service) {
                self.waits.keep();
            }
            self.late.0.push(Late {
                purchase,
                service,
                request,
            });
        }
        relays.all().for_each(Relay::pass);
        self.is_warm[instance] = false;
        Ok(())
    }

    /// Lets the oldest late request of a purchase arrive. MariaDB may let it wait for another purchase.
    pub(super) async fn let_arrive(&mut self, purchase: usize) -> Result<()> {
        let oldest = self.late.0.iter().position(|late| late.purchase == purchase);
        let Late { service, request, .. } = self.late.0.remove(oldest.context("no request is late")?);
        let ended = request.arrive();
        if is_sql(service) {
            self.waits.let_go();
        } else {
            ended.await;
        }
        Ok(())
    }

    /// Drops the late requests, which never arrive, and closes their connections.
    pub(super) fn drop_late(&mut self) {
        for Late { service, .. } in self.late.0.drain(..) {
            if is_sql(service) {
                self.waits.let_go();
            }
        }
    }
}

fn is_sql(service: ServiceKind) -> bool {
    matches!(service, ServiceKind::Sql | ServiceKind::SecondSql | ServiceKind::Pg)
}
