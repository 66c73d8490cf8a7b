//! A batch at Redis: one script.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;
use tokio::task::yield_now;
use uuid::Uuid;

use super::batch::Batch;
use super::{BatchStore, Combining, MECHANISM, WAIT};
use crate::domain::{Error, Outcome};
use crate::probe::{Data, Role, Step, StepResult, StepValue};
use crate::stores::redis::Answer;
use crate::stores::{Redis, Store};
use crate::strategies::{NativeEntry, opened};

const SELL: Step = Step::command("sell", &["EVALSHA"])
    .writes(Data::STOCK.and(Data::ORDERS))
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: MECHANISM,
    stores: &["redis", "cluster"],
    steps: &[WAIT, SELL],
    open: |world, store| {
        Box::pin(async move {
            let script = BatchScript {
                redis: world.redis(store)?,
                sell: Script::new(include_str!("sell.lua")),
            };
            opened(Combining::new(script, world.timeouts.wait))
        })
    },
};

struct BatchScript {
    redis: Arc<Redis>,
    sell: Script,
}

#[async_trait]
impl BatchStore for BatchScript {
    fn name(&self) -> &'static str {
        Redis::NAME
    }

    async fn put_through(&self, batch: &mut Batch<'_>) -> Result<Vec<Outcome>, Error> {
        // Purchases whose requests are read at this moment join the batch.
        yield_now().await;
        batch.gather();
        let item = &batch.first().item;
        let mut sell = self.sell.key(Redis::stock_key(item));
        sell.key(Redis::orders_key(item));
        for purchase in batch.purchases() {
            let mut order = Uuid::encode_buffer();
            sell.arg(&*purchase.order.hyphenated().encode_lower(&mut order))
                .arg(purchase.quantity)
                .arg(self.redis.entry(purchase));
        }
        // While Redis runs this batch, the instance prepares the next one.
        let run = self.redis.run(&sell).on_send(|| batch.sent());
        let answers: Vec<Answer> = batch
            .probe()
            .step(&SELL, item, run, |answers: &Vec<_>| in_words(answers))
            .await?;
        if answers.len() != batch.len() {
            let what = format!("{} answers to {} purchases", answers.len(), batch.len());
            return Err(Error::Corrupt {
                store: Redis::NAME,
                what,
            });
        }
        answers.into_iter().map(Answer::outcome).collect()
    }
}

fn in_words(answers: &[Answer]) -> StepResult {
    let left = answers.iter().filter_map(|answer| match answer {
        Answer::Sold { left } => Some(left),
        _ => None,
    });
    match left.clone().next_back() {
        Some(last) => StepValue::Left(*last).after(format_args!("{} of {} sold", left.count(), answers.len())),
        None => format!("0 of {} sold", answers.len()).into(),
    }
}
