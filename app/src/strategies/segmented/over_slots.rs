//! Segments in a cluster, each in a slot of its own with its own orders.
//!
//! ```text
//! A: sell -> short              -- A's order belongs to segment 3, which has no unit
//! A: look -> left 9             -- segment 5 has most of them
//! A: give -> 2 so far           -- two units leave segment 5, for segment 3
//!                     B: look -> left 9      -- two of them are on their way: B is not told "sold out"
//! A: receive -> 2               -- in segment 3; a second message of the same two adds none
//! A: sell -> sold
//! ```
//!
//! A script sells from one segment: units and order change in one step on one node. The order id says which segment, so that a
//! repeated purchase finds its order. Stolen units leave one node before they come to another. Both nodes count all units that
//! ever went this way: if A dies in between, the next purchase that looks sees the difference and brings them there. "Sold out" is
//! told after two looks with the same result: between them there was a moment at which no segment had changed since the first
//! look. The answer of a sale has the units that the segment has left; a sum would be another look at all nodes. Cost: one round
//! trip, five when it steals.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use redis::{Script, ScriptInvocation};

use super::super::Strategy;
use super::SELL;
use crate::domain::{Error, Outcome, Purchase};
use crate::probe::{Data, Probe, Role, Step, StepValue};
use crate::stores::redis::{SEGMENTS, SegmentKeys};
use crate::stores::{CLUSTER, Redis};

pub(super) const LOOK: Step = Step::command("look", &["EVALSHA"; SEGMENTS as usize])
    .reads(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Read);
pub(super) const GIVE: Step = Step::command("give", &["EVALSHA"]).writes(Data::STOCK);
pub(super) const RECEIVE: Step = Step::command("receive", &["EVALSHA"]).writes(Data::STOCK);

/// How often a purchase steals before it is told busy: others stole from its segment each time.
const MOST_TURNS: u32 = 16;

pub(super) struct Segmented {
    redis: Arc<Redis>,
    sell: Script,
    look: Script,
    give: Script,
    receive: Script,
}

/// What a look shows of a segment: its units; how many it gave to each other segment and received from each so far, as
/// [`SegmentKeys::moved`] has them; and how many orders it has. Only the first may come back to an earlier value: a segment that
/// looks the same twice did not change in between.
type Segment = (Option<i64>, BTreeMap<String, i64>, u64);

impl Segmented {
    pub(super) fn new(redis: Arc<Redis>) -> Self {
        Self {
            redis,
            sell: Script::new(include_str!("sell_part.lua")),
            look: Script::new(include_str!("look.lua")),
            give: Script::new(include_str!("give.lua")),
            receive: Script::new(include_str!("receive.lua")),
        }
    }

    /// Sells from the segment `home`. `None` when that has too few units.
    async fn sell(&self, home: u32, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let keys = SegmentKeys::of(&purchase.item, home);
        let mut sell = self.sell.key(&keys.stock);
        sell.key(&keys.orders)
            .arg(purchase.order.to_string())
            .arg(purchase.quantity)
            .arg(self.redis.entry(purchase));
        let (word, rest): (String, String) = self
            .step(&SELL, &keys.stock, &sell, |(word, _): &(String, _)| word.clone(), probe)
            .await?;
        match (word.as_str(), rest.parse()) {
            ("sold", Ok(remaining)) => Ok(Some(Outcome::Sold { remaining })),
            ("repeated", _) => Ok(Some(Outcome::Repeated(Redis::order(&rest)?))),
            ("short", _) => Ok(None),
            _ => Err(Error::Corrupt {
                store: CLUSTER,
                what: word,
            }),
        }
    }

    /// Looks at all segments.
    async fn look(&self, purchase: &Purchase, probe: &Probe) -> Result<Vec<Segment>, Error> {
        let looks: Vec<_> = (0..SEGMENTS)
            .map(|segment| {
                let keys = SegmentKeys::of(&purchase.item, segment);
                let mut look = self.look.prepare_invoke();
                look.key(&[keys.stock, keys.moved, keys.orders][..]);
                look
            })
            .collect();
        let words = |seen: &Vec<Segment>| StepValue::Left(in_all(seen));
        probe
            .step(&LOOK, &purchase.item, self.redis.run_all(&looks), words)
            .await
    }

    /// Brings as many units to the segment `home` as the purchase lacks there.
    async fn steal(&self, home: u32, seen: &[Segment], purchase: &Purchase, probe: &Probe) -> Result<(), Error> {
        let units = |segment: u32| seen[segment as usize].0.unwrap_or(0);
        let mut missing = i64::from(purchase.quantity) - units(home);
        let mut others: Vec<u32> = (0..SEGMENTS).filter(|segment| *segment != home).collect();
        others.sort_by_key(|segment| -units(*segment) - on_its_way(seen, *segment, home));
        for from in others {
            let on_its_way = on_its_way(seen, from, home);
            if missing <= 0 || units(from) + on_its_way <= 0 {
                break;
            }
            let so_far = match on_its_way < missing {
                true => self.give(from, home, missing - on_its_way, purchase, probe).await?,
                false => given(seen, from, home),
            };
            missing -= self.receive(from, home, so_far, purchase, probe).await?;
        }
        if missing > 0 {
            self.bring_all(seen, purchase, probe).await?;
        }
        Ok(())
    }

    /// Brings all units to where they are on their way to: their purchase may be dead.
    async fn bring_all(&self, seen: &[Segment], purchase: &Purchase, probe: &Probe) -> Result<(), Error> {
        for (from, to) in ways() {
            if on_its_way(seen, from, to) > 0 {
                let so_far = given(seen, from, to);
                self.receive(from, to, so_far, purchase, probe).await?;
            }
        }
        Ok(())
    }

    /// Takes units out of a segment for another one. Returns how many that one was given so far.
    async fn give(&self, from: u32, to: u32, units: i64, purchase: &Purchase, probe: &Probe) -> Result<i64, Error> {
        let keys = SegmentKeys::of(&purchase.item, from);
        let mut give = self.give.key(&[keys.stock.as_str(), &keys.moved, &keys.slots][..]);
        give.arg(to).arg(units).arg(SEGMENTS);
        let words = |so_far: &i64| format!("{so_far} so far");
        self.step(&GIVE, &keys.stock, &give, words, probe).await
    }

    /// Adds units to a segment that another one gave. Returns how many of them came now.
    async fn receive(&self, from: u32, to: u32, so_far: i64, purchase: &Purchase, probe: &Probe) -> Result<i64, Error> {
        let keys = SegmentKeys::of(&purchase.item, to);
        let mut receive = self.receive.key(&[keys.stock.as_str(), &keys.moved][..]);
        receive.arg(from).arg(so_far);
        let words = |came: &i64| came.to_string();
        self.step(&RECEIVE, &keys.stock, &receive, words, probe).await
    }

    async fn step<T: redis::FromRedisValue + Send>(
        &self,
        step: &Step,
        key: &str,
        script: &ScriptInvocation<'_>,
        words: impl FnOnce(&T) -> String + Send,
        probe: &Probe,
    ) -> Result<T, Error> {
        probe.step(step, &key, self.redis.run(script), words).await
    }
}

#[async_trait]
impl Strategy for Segmented {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let home = u32::from(purchase.order.as_bytes()[0] >> 4) % SEGMENTS;
        for _ in 0..MOST_TURNS {
            if let Some(outcome) = self.sell(home, purchase, probe).await? {
                return Ok(outcome);
            }
            let mut seen = self.look(purchase, probe).await?;
            while in_all(&seen) < purchase.quantity.into() {
                if seen[0].0.is_none() {
                    return Ok(Outcome::UnknownItem);
                }
                let again = self.look(purchase, probe).await?;
                if again == seen {
                    return Ok(Outcome::SoldOut);
                }
                seen = again;
            }
            self.steal(home, &seen, purchase, probe).await?;
        }
        Ok(Outcome::Busy)
    }
}

/// Returns the units of all segments, and those on their way between them.
fn in_all(seen: &[Segment]) -> i64 {
    let of_one = |(units, moved, _): &Segment| units.unwrap_or(0) + moved.values().sum::<i64>();
    seen.iter().map(of_one).sum()
}

/// Returns every way from one segment to another.
fn ways() -> impl Iterator<Item = (u32, u32)> {
    (0..SEGMENTS).flat_map(|from| (0..SEGMENTS).map(move |to| (from, to)))
}

/// Returns the units that have left a segment and have not come to the other one.
fn on_its_way(seen: &[Segment], from: u32, to: u32) -> i64 {
    let (_, moved, _) = &seen[to as usize];
    let received = -moved.get(&format!("from-{from}")).copied().unwrap_or(0);
    // Less than 0 where a node has lost what it gave.
    (given(seen, from, to) - received).max(0)
}

fn given(seen: &[Segment], from: u32, to: u32) -> i64 {
    let (_, moved, _) = &seen[from as usize];
    moved.get(&format!("to-{to}")).copied().unwrap_or(0)
}
