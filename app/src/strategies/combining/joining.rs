//! Joining the queue of an item, and waiting there to lead a batch or to be carried out by one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::queue::{Item, Lead, LeadOrOutcome, QueuedPurchase, Queues};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::probe::Probe;

/// The most purchases of one item that wait. A buyer beyond that is told busy: a longer queue helps nobody.
pub(super) const MAX_WAITING: usize = 1_024;

/// The result of joining the queue of an item.
pub(super) enum Joined {
    Leads(Lead),
    Waits(BatchTicket),
    Full,
}

/// Leads if no purchase leads. Otherwise joins the queue.
pub(super) fn join(queues: &Arc<Queues>, purchase: &Purchase, probe: &Probe) -> Joined {
    let mut items = queues.items();
    let Some(item) = items.get_mut(&purchase.item) else {
        items.insert(purchase.item.clone(), Item::led());
        return Joined::Leads(Lead::of(queues, &purchase.item));
    };
    if item.waiting.len() >= MAX_WAITING {
        return Joined::Full;
    }
    let (tell, told) = oneshot::channel();
    item.waiting.push_back(QueuedPurchase {
        purchase: purchase.clone(),
        probe: probe.clone(),
        tell,
    });
    let next = item.next();
    drop(items);
    queues.lead(next, &purchase.item);
    Joined::Waits(BatchTicket {
        queues: queues.clone(),
        item: purchase.item.clone(),
        number: probe.actor().number(),
        told,
        is_told: false,
    })
}

/// A place in the queue. Dropping it leaves the queue.
pub(super) struct BatchTicket {
    queues: Arc<Queues>,
    item: Name,
    number: u64,
    told: oneshot::Receiver<LeadOrOutcome>,
    is_told: bool,
}

impl BatchTicket {
    /// Waits for the lead or the outcome. [`Outcome::Busy`] when no batch takes the purchase within `wait`. Once a
    /// batch has taken it, the purchase waits for its outcome, which is unknown if the leader dies.
    pub(super) async fn told(mut self, wait: Duration, store: &'static str) -> LeadOrOutcome {
        let told = match timeout(wait, &mut self.told).await {
            Ok(told) => told,
            Err(_) if self.leave() => Ok(LeadOrOutcome::Outcome(Ok(Outcome::Busy))),
            Err(_) => (&mut self.told).await,
        };
        self.is_told = true;
        told.unwrap_or_else(|gone| LeadOrOutcome::Outcome(Err(Error::failed(store, gone))))
    }

    /// Leaves the queue. False when it was no longer in it.
    fn leave(&self) -> bool {
        let mut items = self.queues.items();
        let Some(Item { waiting, .. }) = items.get_mut(&self.item) else {
            return false;
        };
        let at = waiting
            .iter()
            .position(|place| place.probe.actor().number() == self.number);
        at.and_then(|at| waiting.remove(at)).is_some()
    }
}

impl Drop for BatchTicket {
    fn drop(&mut self) {
        if !self.is_told {
            self.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::FULL;
    use super::*;
    use crate::probe::Observers;

    const LONG: Duration = Duration::from_secs(20);

    fn joined(queues: &Arc<Queues>) -> Joined {
        let name = |text| Name::parse(text).unwrap();
        let purchase = Purchase::new(name("sku"), 1, name("b-1"), None);
        let probe = Probe::new(&purchase, Duration::ZERO, None, Observers::new(Vec::new()));
        join(queues, &purchase, &probe)
    }

    fn leads(queues: &Arc<Queues>) -> Lead {
        match joined(queues) {
            Joined::Leads(lead) => lead,
            _ => panic!("another purchase leads"),
        }
    }

    fn waits(queues: &Arc<Queues>) -> BatchTicket {
        match joined(queues) {
            Joined::Waits(waiting) => waiting,
            _ => panic!("no purchase leads, or too many wait"),
        }
    }

    #[tokio::test]
    async fn the_lead_goes_to_the_first_who_still_waits_and_the_item_with_the_last() {
        let queues = Arc::<Queues>::default();
        let (first, gone, next, last) = (leads(&queues), waits(&queues), waits(&queues), waits(&queues));
        drop(gone);
        drop(first);
        let LeadOrOutcome::Lead(lead) = next.told(LONG, "redis").await else {
            panic!("it should lead")
        };
        assert_eq!(lead.take(9).len(), 1);
        drop(lead);
        assert!(queues.items().is_empty());
        assert!(matches!(
            last.told(LONG, "redis").await,
            LeadOrOutcome::Outcome(Err(Error::Failed { .. }))
        ));
    }

    #[tokio::test]
    async fn a_lead_that_was_given_to_somebody_who_never_took_it_goes_on_to_the_next() {
        let queues = Arc::<Queues>::default();
        let (first, gone, next) = (leads(&queues), waits(&queues), waits(&queues));
        drop(first);
        drop(gone);
        assert!(matches!(next.told(LONG, "redis").await, LeadOrOutcome::Lead(_)));
        assert!(queues.items().is_empty());
    }

    #[tokio::test]
    async fn who_was_taken_out_of_the_queue_waits_for_its_outcome_and_who_was_not_is_told_to_come_again() {
        let queues = Arc::<Queues>::default();
        let (lead, taken, left) = (leads(&queues), waits(&queues), waits(&queues));
        let mut places = lead.take(1);
        let soon = Duration::from_millis(1);
        let tells = async {
            let told = left.told(soon, "redis").await;
            places.remove(0).tell(Ok(Outcome::SoldOut));
            told
        };
        let (taken, left) = tokio::join!(taken.told(soon, "redis"), tells);
        assert!(matches!(taken, LeadOrOutcome::Outcome(Ok(Outcome::SoldOut))));
        assert!(matches!(left, LeadOrOutcome::Outcome(Ok(Outcome::Busy))));
        assert_eq!(lead.take(9).len(), 0, "a purchase that gave up is not in a batch");
    }

    #[tokio::test]
    async fn a_full_batch_goes_beside_one_that_is_on_its_way_and_no_third_does() {
        let queues = Arc::<Queues>::default();
        let lead = leads(&queues);
        let first: Vec<_> = (0..FULL).map(|_| waits(&queues)).collect();
        assert_eq!(
            lead.take(FULL).len(),
            FULL,
            "a purchase that comes before a batch is sent is in it"
        );
        let mut second: Vec<_> = (0..FULL).map(|_| waits(&queues)).collect();
        assert!(second[0].told.try_recv().is_err(), "the first one is not sent");
        drop(second.pop());
        lead.sent();
        assert!(second[0].told.try_recv().is_err(), "one is missing");
        second.push(waits(&queues));
        let LeadOrOutcome::Lead(next) = second.remove(0).told(LONG, "redis").await else {
            panic!("it should lead")
        };
        assert_eq!(next.take(FULL).len(), FULL - 1);
        next.sent();
        let mut third: Vec<_> = (0..FULL).map(|_| waits(&queues)).collect();
        assert!(third[0].told.try_recv().is_err(), "two are on their way");
        drop(lead);
        assert!(matches!(
            third.remove(0).told(LONG, "redis").await,
            LeadOrOutcome::Lead(_)
        ));
        drop((first, next));
    }

    #[test]
    fn who_comes_when_the_queue_is_full_does_not_wait() {
        let queues = Arc::<Queues>::default();
        let _lead = leads(&queues);
        let _waiting: Vec<_> = (0..MAX_WAITING).map(|_| waits(&queues)).collect();
        assert!(matches!(joined(&queues), Joined::Full));
    }
}
