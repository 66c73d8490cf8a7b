//! Who waits at this instance, item by item. One purchase leads a batch, and those who come meanwhile wait for the next one.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::probe::Probe;
use crate::sale::{Error, Name, Outcome, Purchase};

/// The most purchases of one item that wait. Who comes past that is told to come again: a longer queue helps nobody.
pub(super) const MAX_WAITING: usize = 1_024;

/// So many who wait go beside a batch that is on its way. Fewer wait for its answer: small batches cost the store more than they
/// gain.
const FULL: usize = 8;

/// The most batches of an item that are on their way at once: so many are left without knowing by a store that falls silent.
const MAX_SENT: usize = 2;

type Items = HashMap<Name, Item>;

/// The queues of an instance, item by item.
#[derive(Default)]
pub(super) struct Queues(Mutex<Items>);

/// The queue of an item, kept for as long as one of its purchases leads.
#[derive(Default)]
struct Item {
    waiting: VecDeque<Place>,
    /// Whether somebody leads whose batch is not sent yet, and will take in who waits then.
    is_gathering: bool,
    /// Batches on their way.
    sent: usize,
}

impl Item {
    /// Who is to lead the next batch, if it may begin.
    fn next(&mut self) -> Option<Place> {
        let goes_beside = self.sent < MAX_SENT && self.waiting.len() >= FULL;
        if self.is_gathering || self.sent > 0 && !goes_beside {
            return None;
        }
        let next = self.waiting.pop_front();
        self.is_gathering = next.is_some();
        next
    }
}

/// A purchase that waits to be put through.
pub(super) struct Place {
    pub(super) purchase: Purchase,
    pub(super) probe: Probe,
    tell: oneshot::Sender<Word>,
}

/// What somebody who waits is told.
pub(super) enum Word {
    /// To lead the next batch, its own purchase first.
    Lead(Lead),
    /// What came of its purchase.
    Outcome(Result<Outcome, Error>),
}

/// How somebody finds the queue of an item.
pub(super) enum Joined {
    Leads(Lead),
    Waits(Waiting),
    Full,
}

impl Queues {
    /// Leads where nobody does, and waits for whoever does otherwise.
    pub(super) fn join(self: &Arc<Self>, purchase: &Purchase, probe: &Probe) -> Joined {
        let mut items = self.items();
        let Some(item) = items.get_mut(&purchase.item) else {
            let first = Item {
                is_gathering: true,
                ..Item::default()
            };
            items.insert(purchase.item.clone(), first);
            return Joined::Leads(Lead::of(self, &purchase.item));
        };
        if item.waiting.len() >= MAX_WAITING {
            return Joined::Full;
        }
        let (tell, told) = oneshot::channel();
        item.waiting.push_back(Place {
            purchase: purchase.clone(),
            probe: probe.clone(),
            tell,
        });
        let next = item.next();
        drop(items);
        self.lead(next, &purchase.item);
        Joined::Waits(Waiting {
            queues: self.clone(),
            item: purchase.item.clone(),
            number: probe.actor().number(),
            told,
            is_told: false,
        })
    }

    /// Lets somebody lead, if anybody is to.
    fn lead(self: &Arc<Self>, next: Option<Place>, item: &Name) {
        if let Some(next) = next {
            // Whoever has gone drops it, and so hands it on.
            let _ = next.tell.send(Word::Lead(Lead::of(self, item)));
        }
    }

    fn items(&self) -> MutexGuard<'_, Items> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    pub(super) fn tell(self, outcome: Result<Outcome, Error>) {
        // It may have gone.
        let _ = self.tell.send(Word::Outcome(outcome));
    }
}

/// The right to put a batch of an item through. When it is dropped, however that comes, the next one may begin.
pub(super) struct Lead {
    queues: Arc<Queues>,
    item: Name,
    is_sent: AtomicBool,
}

impl Lead {
    fn of(queues: &Arc<Queues>, item: &Name) -> Self {
        Self {
            queues: queues.clone(),
            item: item.clone(),
            is_sent: AtomicBool::new(false),
        }
    }

    /// Takes those who wait out of the queue, at most so many, first come first.
    pub(super) fn take(&self, most: usize) -> Vec<Place> {
        let mut items = self.queues.items();
        let Some(item) = items.get_mut(&self.item) else {
            return Vec::new();
        };
        let most = most.min(item.waiting.len());
        item.waiting.drain(..most).collect()
    }

    /// The batch is on its way now, and nobody who comes later can overtake it.
    pub(super) fn sent(&self) {
        self.is_sent.store(true, Ordering::Relaxed);
        self.go_on(|item| {
            item.is_gathering = false;
            item.sent += 1;
        });
    }

    /// Lets the next one lead, if it may after `change`.
    fn go_on(&self, change: impl FnOnce(&mut Item)) {
        let mut items = self.queues.items();
        let Some(item) = items.get_mut(&self.item) else { return };
        change(item);
        let next = item.next();
        if item.sent == 0 && !item.is_gathering {
            items.remove(&self.item);
        }
        drop(items);
        self.queues.lead(next, &self.item);
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        let is_sent = self.is_sent.load(Ordering::Relaxed);
        self.go_on(|item| match is_sent {
            true => item.sent -= 1,
            false => item.is_gathering = false,
        });
    }
}

/// A place in the queue, given up when dropped.
pub(super) struct Waiting {
    queues: Arc<Queues>,
    item: Name,
    number: u64,
    told: oneshot::Receiver<Word>,
    is_told: bool,
}

impl Waiting {
    /// What it is told; [`Outcome::Busy`] when nobody has taken it out of the queue in `wait`. Once somebody has, only what came
    /// of it is an answer; where whoever did has gone without a word, that is unknown.
    pub(super) async fn told(mut self, wait: Duration, store: &'static str) -> Word {
        let told = match timeout(wait, &mut self.told).await {
            Ok(told) => told,
            Err(_) if self.leave() => Ok(Word::Outcome(Ok(Outcome::Busy))),
            Err(_) => (&mut self.told).await,
        };
        self.is_told = true;
        told.unwrap_or_else(|gone| Word::Outcome(Err(Error::failed(store, gone))))
    }

    /// Whether it was still in the queue.
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

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.is_told {
            self.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Observers;

    const LONG: Duration = Duration::from_secs(20);

    fn join(queues: &Arc<Queues>) -> Joined {
        let name = |text| Name::parse(text).unwrap();
        let purchase = Purchase::new(name("sku"), 1, name("b-1"), None);
        let probe = Probe::new(&purchase, Duration::ZERO, None, Observers::new(Vec::new()));
        queues.join(&purchase, &probe)
    }

    fn leads(queues: &Arc<Queues>) -> Lead {
        match join(queues) {
            Joined::Leads(lead) => lead,
            _ => panic!("somebody else leads"),
        }
    }

    fn waits(queues: &Arc<Queues>) -> Waiting {
        match join(queues) {
            Joined::Waits(waiting) => waiting,
            _ => panic!("nobody leads, or too many wait"),
        }
    }

    #[tokio::test]
    async fn the_lead_goes_to_the_first_who_still_waits_and_the_item_with_the_last() {
        let queues = Arc::<Queues>::default();
        let (first, gone, next, last) = (leads(&queues), waits(&queues), waits(&queues), waits(&queues));
        drop(gone);
        drop(first);
        let Word::Lead(lead) = next.told(LONG, "redis").await else {
            panic!("it was to lead")
        };
        assert_eq!(lead.take(9).len(), 1);
        drop(lead);
        assert!(queues.items().is_empty());
        assert!(matches!(
            last.told(LONG, "redis").await,
            Word::Outcome(Err(Error::Failed { .. }))
        ));
    }

    #[tokio::test]
    async fn a_lead_that_was_given_to_somebody_who_never_took_it_goes_on_to_the_next() {
        let queues = Arc::<Queues>::default();
        let (first, gone, next) = (leads(&queues), waits(&queues), waits(&queues));
        drop(first);
        drop(gone);
        assert!(matches!(next.told(LONG, "redis").await, Word::Lead(_)));
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
        assert!(matches!(taken, Word::Outcome(Ok(Outcome::SoldOut))));
        assert!(matches!(left, Word::Outcome(Ok(Outcome::Busy))));
        assert_eq!(lead.take(9).len(), 0, "who has given up is not put through");
    }

    #[tokio::test]
    async fn a_full_batch_goes_beside_one_that_is_on_its_way_and_no_third_does() {
        let queues = Arc::<Queues>::default();
        let lead = leads(&queues);
        let first: Vec<_> = (0..FULL).map(|_| waits(&queues)).collect();
        assert_eq!(
            lead.take(FULL).len(),
            FULL,
            "whoever comes before a batch is sent is in it"
        );
        let mut second: Vec<_> = (0..FULL).map(|_| waits(&queues)).collect();
        assert!(second[0].told.try_recv().is_err(), "the first one is not sent");
        drop(second.pop());
        lead.sent();
        assert!(second[0].told.try_recv().is_err(), "one is missing");
        second.push(waits(&queues));
        let Word::Lead(next) = second.remove(0).told(LONG, "redis").await else {
            panic!("it was to lead")
        };
        assert_eq!(next.take(FULL).len(), FULL - 1);
        next.sent();
        let mut third: Vec<_> = (0..FULL).map(|_| waits(&queues)).collect();
        assert!(third[0].told.try_recv().is_err(), "two are on their way");
        drop(lead);
        assert!(matches!(third.remove(0).told(LONG, "redis").await, Word::Lead(_)));
        drop((first, next));
    }

    #[test]
    fn who_comes_when_the_queue_is_full_does_not_wait() {
        let queues = Arc::<Queues>::default();
        let _lead = leads(&queues);
        let _waiting: Vec<_> = (0..MAX_WAITING).map(|_| waits(&queues)).collect();
        assert!(matches!(join(&queues), Joined::Full));
    }
}
