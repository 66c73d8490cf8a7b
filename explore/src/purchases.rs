//! The purchases of one schedule as tasks, which can be killed.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use app::domain::{Error, Name, Outcome, Purchase};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use crate::arrivals::Arrivals;
use crate::instances::Instance;
use crate::judge::Told;
use crate::turns::Turns;

/// The outcome of a purchase, with its place among these, and the time.
type Ended = (usize, Result<Outcome, Error>, Instant);

/// Purchases that are under way or over.
pub struct Purchases {
    arrivals: Arrivals,
    tasks: JoinSet<()>,
    /// An outcome is here before its purchase counts as ended.
    outcomes: mpsc::UnboundedReceiver<Ended>,
    ends: mpsc::UnboundedSender<Ended>,
    begun: Vec<Begun>,
}

/// One purchase.
struct Begun {
    handle: AbortHandle,
    told: Told,
}

impl Purchases {
    /// Begins without a purchase.
    pub fn new(arrivals: Arrivals) -> Self {
        let (ends, outcomes) = mpsc::unbounded_channel();
        Self {
            arrivals,
            tasks: JoinSet::new(),
            outcomes,
            ends,
            begun: Vec::new(),
        }
    }

    /// Sends the purchase of this number, of one unit, on the way to its first step, at its instance of these.
    ///
    /// # Errors
    /// When there is no such instance.
    pub fn send(&mut self, number: usize, item: &Name, instances: &[Instance], turns: &Arc<Turns>) -> Result<()> {
        let instance = instances
            .get(self.arrivals.instance(number))
            .context("no such instance")?;
        let purchase = self.purchase(number, item)?;
        let told = Told {
            number,
            purchase: purchase.clone(),
            instance: instance.name.clone(),
            is_killed: false,
            ended: None,
            began: Instant::now(),
        };
        let (strategy, probe, turns) = (instance.strategy.clone(), instance.probe(&purchase), turns.clone());
        let (ends, place) = (self.ends.clone(), self.begun.len());
        turns.enter(number);
        let handle = self.tasks.spawn(async move {
            let outcome = strategy.buy(&purchase, &probe).await;
            // The receiver is there until all tasks have ended.
            let _ = ends.send((place, outcome, Instant::now()));
            turns.end(number);
        });
        self.begun.push(Begun { handle, told });
        Ok(())
    }

    /// Returns the purchase that arrives under this number. The orders have their places in an index in the order of the
    /// purchases, since the gaps that a lock covers depend on these places.
    fn purchase(&self, number: usize, item: &Name) -> Result<Purchase> {
        let nth = self.arrivals.purchase(number);
        for attempt in 0.. {
            let key = Name::parse(&format!("key-{nth}-{attempt}"))?;
            let purchase = Purchase::new(item.clone(), 1, self.arrivals.buyer(number)?, Some(key));
            if usize::from(purchase.order.as_bytes()[0] >> 4) == nth {
                return Ok(purchase);
            }
        }
        bail!("no key has such an order")
    }

    /// Drops the purchases of that purchase's process as they stand: their connections close, and nothing of them runs any
    /// more.
    ///
    /// # Errors
    /// When there is no such purchase.
    pub async fn kill(&mut self, number: usize, turns: &Turns) -> Result<()> {
        let killed = self.begun.iter().find(|begun| begun.told.number == number);
        let process = killed.context("there is no such purchase")?.told.instance.clone();
        for Begun { handle, told } in &mut self.begun {
            if told.instance != process || handle.is_finished() {
                continue;
            }
            handle.abort();
            told.is_killed = true;
            while !handle.is_finished() {
                tokio::task::yield_now().await;
            }
            turns.end(told.number);
        }
        Ok(())
    }

    /// Drops the purchases that have no outcome. Returns what each buyer was told, in the order in which they were sent.
    pub async fn end(mut self, turns: &Turns) -> Vec<Told> {
        self.tasks.shutdown().await;
        for begun in &self.begun {
            turns.end(begun.told.number);
        }
        while let Ok((place, outcome, at)) = self.outcomes.try_recv() {
            self.begun[place].told.ended = Some((outcome, at));
        }
        self.begun.into_iter().map(|begun| begun.told).collect()
    }
}
