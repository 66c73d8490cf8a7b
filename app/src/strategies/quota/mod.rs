//! Quotas: each instance takes a slice of the stock for itself, and asks the counter again when it is used up.
//!
//! ```text
//! A: take-slice          -- up to ten units are the slice of A's instance; one of them is sold
//!                     B: take-slice        -- the counter and all slices are empty: sold out
//! ```
//!
//! An instance remembers how much of its slice is left, and purchases take from that. Memory alone would oversell: one
//! that was paused or forgets does not know what became of its slice. So each slice is kept in Redis as well, and the
//! order is entered by a script that takes the units from there: memory only says which script is worth a try. When the
//! counter is empty, any instance sells from the slices of the others, also of one that is dead: no unit is left
//! behind, no buyer is refused while units are left, and no lease is needed. Here that gains nothing over `lua`, as
//! Redis has one thread: slices pay off where each has its own row or node. Cost: one round trip, and another one where
//! others have sold from the slice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use redis::Script;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepValue};
use crate::stores::{MAX_SALES, Redis, Store};

/// The units of a slice, or as many as a purchase asks for, if that is more.
const SLICE: u32 = 10;

const SELL: Step = Step::command("sell", &["EVALSHA"])
    .writes(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Write);
const TAKE_SLICE: Step = Step::command("take-slice", &["EVALSHA"])
    .writes(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "quota",
        family: Family::Atomic,
        lesson: 9,
        summary: "each instance takes ten units at a time and sells from them, and from those of others at the end",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("mod.rs"),
    },
    stores: &["redis", "cluster"],
    steps: &[SELL, TAKE_SLICE],
    open: |world, store| {
        Box::pin(async move {
            opened(Quota {
                redis: world.redis(store)?,
                slice: world.instance.clone(),
                sell: Script::new(include_str!("sell.lua")),
                take_slice: Script::new(include_str!("take_slice.lua")),
                left: Mutex::default(),
            })
        })
    },
};

/// The answer of both scripts: a word, an entry of the ledger, the units of the sale that are left, and those of the
/// slice.
type Answer = (String, String, i64, i64);

struct Quota {
    redis: Arc<Redis>,
    /// The name of its slices: that of the instance.
    slice: Name,
    sell: Script,
    take_slice: Script,
    /// The units left of its slices, as far as it knows.
    left: Mutex<HashMap<Name, i64>>,
}

impl Quota {
    fn left(&self) -> MutexGuard<'_, HashMap<Name, i64>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the units from the slice in memory. False when it has too few.
    fn reserve(&self, purchase: &Purchase) -> bool {
        let mut slices = self.left();
        let left = slices.get_mut(&purchase.item);
        let taken = left.filter(|left| **left >= purchase.quantity.into());
        taken.map(|left| *left -= i64::from(purchase.quantity)).is_some()
    }

    /// Notes what is left of the slice. Forgets it when there are as many as sales can be open: then the counter is asked.
    fn note(&self, item: &Name, units: i64) {
        let mut slices = self.left();
        if slices.len() < MAX_SALES as usize || slices.contains_key(item) {
            slices.insert(item.clone(), units);
        }
    }

    async fn run(&self, step: &Step, script: &Script, purchase: &Purchase, probe: &Probe) -> Result<Answer, Error> {
        let mut run = script.key(Redis::stock_key(&purchase.item));
        run.key(Redis::orders_key(&purchase.item))
            .key(Redis::segments_key(&purchase.item))
            .arg(purchase.order.to_string())
            .arg(purchase.quantity)
            .arg(self.redis.entry(purchase))
            .arg(self.slice.as_str())
            .arg(SLICE);
        let words = |(word, _, left, _): &Answer| match word.as_str() {
            "sold" => StepValue::Left(*left).after("sold"),
            other => other.to_owned().into(),
        };
        let answer = probe.step(step, &purchase.item, self.redis.run(&run), words).await;
        // After an error it is not known what is left, and the counter is asked.
        let units = answer.as_ref().map_or(0, |(_, _, _, units)| *units);
        if *step == TAKE_SLICE || answer.is_err() || answer.as_ref().is_ok_and(|(word, ..)| word == "short") {
            self.note(&purchase.item, units);
        }
        answer
    }
}

#[async_trait]
impl Strategy for Quota {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let mut answer = None;
        if self.reserve(purchase) {
            let sold = self.run(&SELL, &self.sell, purchase, probe).await?;
            answer = Some(sold).filter(|(word, ..)| word != "short");
        }
        let (word, entry, remaining, _) = match answer {
            Some(answer) => answer,
            None => self.run(&TAKE_SLICE, &self.take_slice, purchase, probe).await?,
        };
        match word.as_str() {
            "sold" => Ok(Outcome::Sold { remaining }),
            "repeated" => Ok(Outcome::Repeated(Redis::order(&entry)?)),
            "sold out" => Ok(Outcome::SoldOut),
            "unknown" => Ok(Outcome::UnknownItem),
            _ => Err(Error::Corrupt {
                store: Redis::NAME,
                what: word,
            }),
        }
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.left().remove(item);
        Ok(())
    }
}
