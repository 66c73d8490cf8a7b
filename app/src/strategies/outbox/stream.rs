//! The stream of messages, `outbox`, with one group of consumers, one in each instance; and `outbox:{item}`, the orders of an
//! item that units were taken for, with how many messages of it are open.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use redis::{FromRedisValue, RedisError, Script, Value, cmd, pipe};

use crate::domain::{Error, Name, Purchase};
use crate::probe::{Probe, Role, Step};
use crate::reconciler::BATCH;
use crate::stores::{Redis, Store};

pub(super) const TAKE: Step = Step::command("take", &["EVALSHA"]).plays(Role::Write);
pub(super) const JOIN: Step = Step::command("join-group", &["XGROUP"]);
pub(super) const RECEIVE: Step = Step::command("receive", &["XREADGROUP"]);
pub(super) const CLAIM: Step = Step::command("claim", &["XAUTOCLAIM"]);
pub(super) const ACK: Step = Step::command("ack", &["EVALSHA"]);

const STREAM: &str = "outbox";
const GROUP: &str = "orders";

/// The most messages that lie in the stream. Past that buyers are told to wait.
const MAX_MESSAGES: usize = 10_000;

fn taken_key(item: &Name) -> String {
    format!("outbox:{{{item}}}")
}

/// Which messages a consumer asks for.
#[derive(Clone, Copy)]
pub(super) enum Ask {
    /// Those that no consumer has received.
    New,
    /// Those that this consumer, or the one of its name before it, has received and not ended.
    Own,
}

/// A message: an order that units were taken for.
pub(super) struct Message {
    id: String,
    pub(super) purchase: Purchase,
}

/// A message as Redis has it: its id and its fields. It has none when it was taken out meanwhile.
type Entry = (String, Option<HashMap<String, String>>);

pub(super) struct Stream {
    redis: Arc<Redis>,
    consumer: Name,
    take: Script,
    ack: Script,
}

impl Stream {
    pub(super) fn new(redis: Arc<Redis>, consumer: Name) -> Self {
        Self {
            redis,
            consumer,
            take: Script::new(include_str!("take.lua")),
            ack: Script::new(include_str!("ack.lua")),
        }
    }

    /// Takes the units and leaves the message. In a word what came of it, and how many are left.
    pub(super) async fn take(&self, purchase: &Purchase, probe: &Probe) -> Result<(String, i64), Error> {
        let stock = Redis::stock_key(&purchase.item);
        let mut script = self.take.key(&stock);
        script
            .key(taken_key(&purchase.item))
            .key(STREAM)
            .arg(purchase.quantity)
            .arg(purchase.order.to_string())
            .arg(purchase.item.as_str())
            .arg(self.redis.entry(purchase))
            .arg(MAX_MESSAGES);
        let words = |(word, left): &(String, i64)| format!("{word}, left {left}");
        probe.step(&TAKE, &stock, self.redis.run(&script), words).await
    }

    /// Makes the group, unless there is one.
    pub(super) async fn join(&self, probe: &Probe) -> Result<(), Error> {
        let mut command = cmd("XGROUP");
        command.arg("CREATE").arg(STREAM).arg(GROUP).arg(0).arg("MKSTREAM");
        let made = probe.step(&JOIN, &STREAM, self.redis.send::<Value>(&command), |_| "made");
        match made.await {
            Err(error) if !error.to_string().contains("BUSYGROUP") => Err(error),
            _ => Ok(()),
        }
    }

    /// Some messages for this consumer.
    pub(super) async fn receive(&self, ask: Ask, probe: &Probe) -> Result<Vec<Message>, Error> {
        let from = match ask {
            Ask::New => ">",
            Ask::Own => "0",
        };
        let mut command = cmd("XREADGROUP");
        command.arg("GROUP").arg(GROUP).arg(self.consumer.as_str());
        command.arg("COUNT").arg(BATCH).arg("STREAMS").arg(STREAM).arg(from);
        let words = |streams: &Option<Vec<(String, Vec<Entry>)>>| {
            let found = streams.iter().flatten().map(|(_, entries)| entries.len());
            format!("{} messages", found.sum::<usize>())
        };
        let streams = probe.step(&RECEIVE, &STREAM, self.redis.send(&command), words).await?;
        Ok(messages(streams.into_iter().flatten().flat_map(|(_, entries)| entries)))
    }

    /// Some messages that other consumers have received and not ended for this long: from now on they are this one's.
    pub(super) async fn claim(&self, idle: Duration, probe: &Probe) -> Result<Vec<Message>, Error> {
        let mut command = cmd("XAUTOCLAIM");
        command.arg(STREAM).arg(GROUP).arg(self.consumer.as_str());
        command.arg(idle.as_millis() as u64).arg("0-0").arg("COUNT").arg(BATCH);
        // Before version 7 there was no list of those that were taken out.
        let entries = |reply: &Vec<Value>| reply.get(1).cloned().map(Vec::<Entry>::from_redis_value);
        let words = |reply: &Vec<Value>| match entries(reply) {
            Some(Ok(entries)) => format!("{} messages", entries.len()),
            _ => "no answer that can be read".to_owned(),
        };
        let reply = probe.step(&CLAIM, &STREAM, self.redis.send(&command), words).await?;
        let entries = entries(&reply).transpose().map_err(RedisError::from)?;
        Ok(messages(entries.unwrap_or_default()))
    }

    /// Ends a message whose order is in the ledger. How long it was in the stream in ms; none where somebody else has.
    pub(super) async fn ack(&self, message: &Message, probe: &Probe) -> Result<Option<u64>, Error> {
        let mut script = self.ack.key(taken_key(&message.purchase.item));
        script.key(STREAM).arg(GROUP).arg(&message.id);
        let words = |took_ms: &i64| format!("{took_ms} ms");
        let took_ms = probe.step(&ACK, &message.id, self.redis.run(&script), words).await?;
        Ok(u64::try_from(took_ms).ok())
    }

    /// How many messages of an item are open.
    pub(super) async fn open(&self, item: &Name) -> Result<u64, Error> {
        self.redis.count(&taken_key(item), "open").await
    }

    pub(super) async fn forget(&self, item: &Name) -> Result<(), Error> {
        let mut forget = pipe();
        forget.cmd("EVAL").arg(include_str!("forget.lua")).arg(2);
        forget.arg(taken_key(item)).arg(STREAM).arg(item.as_str()).ignore();
        self.redis.operate(&forget).await
    }
}

/// Those that can be read. Another one stays where it is, for somebody to look at.
fn messages(entries: impl IntoIterator<Item = Entry>) -> Vec<Message> {
    let message = |(id, fields): Entry| {
        let fields = fields?;
        match read(&fields) {
            Ok(purchase) => Some(Message { id, purchase }),
            Err(error) => {
                tracing::warn!(%error, id, "a message cannot be read");
                None
            }
        }
    };
    entries.into_iter().filter_map(message).collect()
}

fn read(fields: &HashMap<String, String>) -> Result<Purchase, Error> {
    let field = |name: &str| fields.get(name).map_or("", String::as_str);
    let item = Name::parse(field("item")).map_err(|error| Error::Corrupt {
        store: Redis::NAME,
        what: error.to_string(),
    })?;
    Redis::purchase(&item, field("order"), field("entry"))
}
