//! The transactions of tcc in Redis; each change is one script. `tcc:{item}` has them by order id, with the number of
//! the open ones and of those that can still be cancelled. `tcc-deadlines` has the deadlines of all items.

use std::sync::Arc;
use std::time::Duration;

use redis::{Script, ScriptInvocation};
use uuid::Uuid;

use crate::domain::{Error, Name, Purchase};
use crate::probe::{Probe, Role, Step, StepValue};
use crate::reconciler::BATCH;
use crate::stores::{Redis, Store};

pub(super) const TRY: Step = Step::command("try", &["EVALSHA"]).plays(Role::Write);
pub(super) const CONFIRM: Step = Step::command("confirm", &["EVALSHA"]).plays(Role::Commit);
pub(super) const CANCEL: Step = Step::command("cancel", &["EVALSHA"]);
pub(super) const COMPLETE: Step = Step::command("complete", &["EVALSHA"]);
pub(super) const OVERDUE: Step = Step::command("overdue", &["EVALSHA"]).looking_for_work();
pub(super) const LOOK: Step = Step::command("look", &["EVALSHA"]);

const DEADLINES: &str = "tcc-deadlines";

/// How long a cancelled transaction is remembered: longer than a try can be on its way.
const CANCELLED_FOR: Duration = Duration::from_secs(600);

/// One attempt to buy. Each delivery of a purchase is another one.
pub(super) struct Transaction {
    pub(super) item: Name,
    pub(super) order: Uuid,
    pub(super) id: Uuid,
}

impl Transaction {
    pub(super) fn of(purchase: &Purchase) -> Self {
        Self {
            item: purchase.item.clone(),
            order: purchase.order,
            id: Uuid::new_v4(),
        }
    }

    fn key(&self) -> String {
        transactions_key(&self.item)
    }

    /// Its name among the deadlines of all items.
    fn member(&self) -> String {
        format!("{} {}", self.item, self.order)
    }

    fn cancelled_key(&self) -> String {
        format!("tcc-cancelled:{{{}}}:{}", self.item, self.id)
    }
}

pub(super) fn transactions_key(item: &Name) -> String {
    format!("tcc:{{{item}}}")
}

/// The state of an open transaction.
pub(super) enum State {
    Trying,
    Confirmed,
}

pub(super) struct Transactions {
    redis: Arc<Redis>,
    lease: Duration,
    try_: Script,
    confirm: Script,
    cancel: Script,
    complete: Script,
    overdue: Script,
    look: Script,
}

impl Transactions {
    pub(super) fn new(redis: Arc<Redis>, lease: Duration) -> Self {
        Self {
            redis,
            lease,
            try_: Script::new(include_str!("try.lua")),
            confirm: Script::new(include_str!("confirm.lua")),
            cancel: Script::new(include_str!("cancel.lua")),
            complete: Script::new(include_str!("complete.lua")),
            overdue: Script::new(include_str!("overdue.lua")),
            look: Script::new(include_str!("look.lua")),
        }
    }

    /// Reserves the units for one lease. Returns the result as a word, and the units left.
    pub(super) async fn reserve(
        &self,
        transaction: &Transaction,
        purchase: &Purchase,
        probe: &Probe,
    ) -> Result<(String, i64), Error> {
        let mut script = self.try_.key(Redis::stock_key(&transaction.item));
        script
            .key(transaction.key())
            .key(DEADLINES)
            .key(transaction.cancelled_key())
            .arg(purchase.quantity)
            .arg(transaction.order.to_string())
            .arg(transaction.id.to_string())
            .arg(transaction.member())
            .arg(self.lease_ms())
            .arg(self.redis.entry(purchase));
        let words = |(word, left): &(String, i64)| StepValue::Left(*left).after(word);
        probe.step(&TRY, &transaction.id, self.redis.run(&script), words).await
    }

    /// Makes the reservation final. False when it was cancelled.
    pub(super) async fn confirm(&self, transaction: &Transaction, probe: &Probe) -> Result<bool, Error> {
        let mut script = self.confirm.key(transaction.key());
        script
            .key(DEADLINES)
            .arg(transaction.order.to_string())
            .arg(transaction.id.to_string())
            .arg(transaction.member())
            .arg(self.lease_ms());
        let word: String = self.run(&CONFIRM, transaction, &script, probe).await?;
        Ok(word == "confirmed")
    }

    /// Gives reserved units back, and refuses a later try. Returns how long they were reserved in ms; `None` if none.
    pub(super) async fn cancel(&self, transaction: &Transaction, probe: &Probe) -> Result<Option<u64>, Error> {
        let mut script = self.cancel.key(Redis::stock_key(&transaction.item));
        script
            .key(transaction.key())
            .key(DEADLINES)
            .key(transaction.cancelled_key())
            .arg(transaction.order.to_string())
            .arg(transaction.id.to_string())
            .arg(transaction.member())
            .arg(CANCELLED_FOR.as_millis() as u64);
        let words = |(word, _): &(String, u64)| word.clone();
        let (word, hung_ms) = probe
            .step(&CANCEL, &transaction.order, self.redis.run(&script), words)
            .await?;
        Ok((word == "cancelled").then_some(hung_ms))
    }

    /// Ends a confirmed transaction whose order is in the ledger. Returns its age in ms; `None` if it had ended before.
    pub(super) async fn complete(&self, transaction: &Transaction, probe: &Probe) -> Result<Option<u64>, Error> {
        let mut script = self.complete.key(transaction.key());
        script
            .key(DEADLINES)
            .arg(transaction.order.to_string())
            .arg(transaction.member());
        let words = |took_ms: &i64| if *took_ms < 0 { "over before" } else { "completed" };
        let took_ms = probe
            .step(&COMPLETE, &transaction.order, self.redis.run(&script), words)
            .await?;
        Ok(u64::try_from(took_ms).ok())
    }

    /// Returns a batch of overdue transactions, by item and order.
    pub(super) async fn overdue(&self, probe: &Probe) -> Result<Vec<(Name, String)>, Error> {
        let mut script = self.overdue.key(DEADLINES);
        script.arg(BATCH);
        let words = |members: &Vec<String>| format!("{} overdue", members.len());
        let members = probe.step(&OVERDUE, &DEADLINES, self.redis.run(&script), words).await?;
        let parse = |member: &String| {
            let (item, order) = member.split_once(' ')?;
            Some((Name::parse(item).ok()?, order.to_owned()))
        };
        let parse = |member: &String| parse(member).ok_or_else(|| corrupt(member));
        members.iter().map(parse).collect()
    }

    /// Returns the transaction of an order, its state, and the purchase; `None` when it is over.
    pub(super) async fn look(
        &self,
        item: &Name,
        order: &str,
        probe: &Probe,
    ) -> Result<Option<(Transaction, State, Purchase)>, Error> {
        let key = transactions_key(item);
        let mut script = self.look.key(&key);
        script.key(DEADLINES).arg(order).arg(format!("{item} {order}"));
        let words = |known: &Option<String>| match known {
            Some(known) => known.split(' ').next().unwrap_or_default().to_owned(),
            None => "none".to_owned(),
        };
        let known: Option<String> = probe.step(&LOOK, &key, self.redis.run(&script), words).await?;
        let Some(known) = known else { return Ok(None) };
        let mut parts = known.splitn(4, ' ');
        let (state, id, entry) = (parts.next(), parts.next(), parts.nth(1));
        let state = match state {
            Some("trying") => State::Trying,
            Some("confirmed") => State::Confirmed,
            _ => return Ok(None),
        };
        let purchase = Redis::purchase(item, order, entry.unwrap_or_default())?;
        let transaction = Transaction {
            item: item.clone(),
            order: purchase.order,
            id: id.and_then(|id| id.parse().ok()).ok_or_else(|| corrupt(&key))?,
        };
        Ok(Some((transaction, state, purchase)))
    }

    /// Returns the number of open transactions of an item.
    pub(super) async fn open(&self, item: &Name) -> Result<u64, Error> {
        self.redis.count(&transactions_key(item), "open").await
    }

    /// Deletes the transactions of an item. Their deadlines are removed when they pass.
    pub(super) async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&[transactions_key(item)]).await
    }

    async fn run(
        &self,
        step: &Step,
        transaction: &Transaction,
        script: &ScriptInvocation<'_>,
        probe: &Probe,
    ) -> Result<String, Error> {
        probe
            .step(step, &transaction.order, self.redis.run(script), String::clone)
            .await
    }

    fn lease_ms(&self) -> u64 {
        self.lease.as_millis() as u64
    }
}

fn corrupt(what: &str) -> Error {
    Error::Corrupt {
        store: Redis::NAME,
        what: what.to_owned(),
    }
}
