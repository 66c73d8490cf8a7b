//! Plays the plan: for each round a fresh sale, the attack with its fault, one last buyer, one second click, the
//! books, the verdict. What a round showed is kept before the next one begins.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::attack::{Attack, Crowd};
use crate::audit::{FaultSeen, Stake, judge};
use crate::facts::{Books, Facts};
use crate::ground::{Ground, Site};
use crate::plan::{Load, Round};
use crate::result::{RoundResult, RunResult};
use crate::shop::Wish;
use crate::told::{Answer, SecondClick, Told, Word, hear};

/// How often one more buyer tries before the sale counts as stuck.
const LAST_TRIES: usize = 2;

/// More orders than two clicks can make, even in a shop that records each of them twice.
const CLICKS: usize = 8;

/// Who is told of each round: to show progress, and to keep what it showed.
pub trait Watch: Send + Sync {
    /// A round begins; `done` of `all` are over.
    fn begins(&self, round: &Round, done: usize, all: usize);

    /// A round is over, and `run` holds all there is so far.
    ///
    /// # Errors
    /// When it cannot be kept: the run ends, rather than measure for nothing.
    fn over(&self, run: &RunResult) -> Result<()>;
}

/// Plays all rounds into `run`. Items are named after `run_id`, so that no two runs on one pair of stores meet.
///
/// # Errors
/// When a part of the experiment fails; what the shop does wrong is a finding, not an error.
pub async fn play(
    ground: &mut Ground,
    books: &Books,
    rounds: &[Round],
    run_id: &str,
    run: &mut RunResult,
    watch: &dyn Watch,
) -> Result<()> {
    let mut crowd = None;
    for (number, round) in rounds.iter().enumerate() {
        watch.begins(round, number, rounds.len());
        let result = match ground.why_not(round.instances) {
            Some(why) => RoundResult::skipped(round, why),
            None => {
                let trial = Trial {
                    site: ground.site(round.instances)?,
                    books,
                    round,
                    item: format!("{run_id}-{number}"),
                };
                trial.play(&mut crowd).await.with_context(|| {
                    let (strategy, threat) = (&round.strategy.name, round.threat.name());
                    format!("round {number} ({strategy}, {threat}) could not be played")
                })?
            }
        };
        run.rounds.push(result);
        run.as_designed = crate::cell::standing(run).as_designed();
        watch.over(run)?;
    }
    match crowd {
        Some(crowd) => crowd.dismiss().await,
        None => Ok(()),
    }
}

/// The crowd that was here last, or another one where that does not suit.
async fn suitable<'a>(crowd: &'a mut Option<Crowd>, attack: &Attack) -> Result<&'a mut Crowd> {
    if crowd.as_ref().is_some_and(|crowd| !crowd.suits(attack))
        && let Some(other) = crowd.take()
    {
        other.dismiss().await?;
    }
    match crowd {
        Some(crowd) => Ok(crowd),
        None => Ok(crowd.insert(Crowd::gather(&attack.shop.host, attack.load.buyers)?)),
    }
}

/// One round being played.
struct Trial<'a> {
    site: Site,
    books: &'a Books,
    round: &'a Round,
    item: String,
}

impl Trial<'_> {
    async fn play(&self, crowd: &mut Option<Crowd>) -> Result<RoundResult> {
        let load = self.round.load;
        self.site.mend().await?;
        self.site.shop.open_sale(&self.item, load.stock).await?;
        let mut told = self.attack(crowd).await?;
        let mut facts = self.look(&told).await?;
        if facts.stock_left >= i64::from(load.quantity) {
            told.last_buyer = Some(self.last_buyer().await);
            facts = self.look(&told).await?;
        }
        if told.count(Word::Sold) > 0 {
            told.second_click = self.second_click().await?;
        }
        let judgement = judge(&self.stake(&told), &told, &facts);
        self.site.shop.close_sale(&self.item).await?;
        Ok(RoundResult::played(self.round, &told, &facts, judgement))
    }

    async fn attack(&self, crowd: &mut Option<Crowd>) -> Result<Told> {
        let attack = Attack {
            shop: self.site.shop.at.clone(),
            strategy: self.round.strategy.name.clone(),
            item: self.item.clone(),
            load: self.round.load,
            fault: self.round.threat.fault(&self.round.load),
        };
        let crowd = suitable(crowd, &attack).await?;
        crowd.attack(attack, self.site.mend()).await
    }

    /// Reads the books; more patiently when some buyers never heard how their purchase ended.
    async fn look(&self, told: &Told) -> Result<Facts> {
        // Every purchase once more, and then some: a ledger longer than that needs no counting.
        let limit = self.round.load.requests * 2 + 16;
        let store = self.round.strategy.store;
        if told.count(Word::Unknown) > 0 {
            self.books.settled(store, &self.item, limit).await
        } else {
            self.books.read(store, &self.item, limit).await
        }
    }

    /// Units are left: one more buyer, alone, has to get some.
    async fn last_buyer(&self) -> Answer {
        let mut answer = self.buy(&self.item, "last").await;
        for _ in 1..LAST_TRIES {
            if answer.word != Word::Busy {
                break;
            }
            answer = self.buy(&self.item, "last").await;
        }
        answer
    }

    /// A buyer who clicks again must be told of the same order, and must not buy twice. It takes a sale of its own: in
    /// one that is sold out nobody could, and in one that lost an order the second click might make it good.
    async fn second_click(&self) -> Result<Option<SecondClick>> {
        let Load { quantity, .. } = self.round.load;
        let item = format!("{}-again", self.item);
        self.site.shop.open_sale(&item, i64::from(quantity) * 2).await?;
        let first = self.buy(&item, "0").await;
        let click = if first.word == Word::Sold {
            let second = self.buy(&item, "0").await;
            let facts = self.books.read(self.round.strategy.store, &item, CLICKS).await?;
            let by_click = facts
                .orders
                .iter()
                .filter(|order| order.key.as_ref() == Some(&first.key));
            let recorded = by_click.map(|order| order.quantity).sum();
            Some(SecondClick {
                first,
                second,
                recorded,
            })
        } else {
            None
        };
        self.site.shop.close_sale(&item).await?;
        Ok(click)
    }

    async fn buy(&self, item: &str, place: &str) -> Answer {
        let key = format!("{item}-{place}");
        let wish = Wish {
            strategy: &self.round.strategy.name,
            item,
            quantity: self.round.load.quantity,
            buyer: &format!("b-{place}"),
            key: &key,
            work_ms: 0,
            fault: None,
        };
        let sent = Instant::now();
        let (word, order, instance) = hear(self.site.shop.purchase(&wish).send().await).await;
        Answer {
            word,
            order,
            instance,
            intended: sent,
            sent,
            ended: Instant::now(),
            key,
        }
    }

    fn stake(&self, told: &Told) -> Stake {
        let Load {
            buyers,
            stock,
            quantity,
            ..
        } = self.round.load;
        let fault = self.round.threat.fault(&self.round.load).map(|(place, _)| {
            // Who was to crash the shop can have been told nothing.
            let key = format!("{}-{place}", self.item);
            let struck = told
                .answers
                .iter()
                .any(|answer| answer.key == key && answer.word == Word::Unknown);
            if struck { FaultSeen::Struck } else { FaultSeen::Missed }
        });
        Stake {
            stock,
            quantity: i64::from(quantity),
            contended: buyers > 1,
            // Who is killed may not have sold anything yet.
            instances: if buyers > 1 && fault.is_none() {
                self.round.instances
            } else {
                1
            },
            fault,
        }
    }
}
