//! The stream of all messages of a mechanism, named after it, with a group of one consumer per instance; and a hash for
//! each item, whose field `open` is the number of open messages.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use redis::{FromRedisValue, RedisError, Script, Value, cmd, pipe};

use crate::domain::{Error, Name, Purchase};
use crate::probe::{Probe, Step};
use crate::reconciler::BATCH;
use crate::stores::{Redis, Store};

pub(in crate::strategies) const JOIN: Step = Step::command("join-group", &["XGROUP"]);
pub(in crate::strategies) const RECEIVE: Step = Step::command("receive", &["XREADGROUP"]).looking_for_work();
pub(in crate::strategies) const CLAIM: Step = Step::command("claim", &["XAUTOCLAIM"]);
pub(in crate::strategies) const ACK: Step = Step::command("ack", &["EVALSHA"]);

const GROUP: &str = "orders";

/// The most messages in a stream. Beyond that buyers are told busy.
pub(in crate::strategies) const MAX_MESSAGES: usize = 10_000;

/// The messages that a consumer asks for.
#[derive(Clone, Copy)]
pub(super) enum Ask {
    /// Messages that no consumer has received.
    New,
    /// Messages that this consumer has received and not acknowledged, also before a restart.
    Own,
}

/// A message: an order that has taken units.
pub(super) struct Message {
    id: String,
    pub(super) purchase: Purchase,
}

/// A message in Redis: its id and its fields. The fields are missing if it was deleted meanwhile.
type Entry = (String, Option<HashMap<String, String>>);

pub(in crate::strategies) struct Stream {
    redis: Arc<Redis>,
    /// The name of the stream, and the first part of the key of each item.
    name: &'static str,
    consumer: Name,
    ack: Script,
}

impl Stream {
    pub(in crate::strategies) fn new(name: &'static str, redis: Arc<Redis>, consumer: Name) -> Self {
        Self {
            redis,
            name,
            consumer,
            ack: Script::new(include_str!("ack.lua")),
        }
    }

    /// The key of the hash of an item.
    pub(in crate::strategies) fn key_of(&self, item: &Name) -> String {
        format!("{}:{{{item}}}", self.name)
    }

    /// Creates the group of consumers, unless it exists.
    pub(super) async fn join(&self, probe: &Probe) -> Result<(), Error> {
        let mut command = cmd("XGROUP");
        command.arg("CREATE").arg(self.name).arg(GROUP).arg(0).arg("MKSTREAM");
        let made = probe.step(&JOIN, &self.name, self.redis.send::<Value>(&command), |_| "made");
        match made.await {
            Err(error) if !error.to_string().contains("BUSYGROUP") => Err(error),
            _ => Ok(()),
        }
    }

    /// Receives a batch of messages.
    pub(super) async fn receive(&self, ask: Ask, probe: &Probe) -> Result<Vec<Message>, Error> {
        let from = match ask {
            Ask::New => ">",
            Ask::Own => "0",
        };
        let mut command = cmd("XREADGROUP");
        command.arg("GROUP").arg(GROUP).arg(self.consumer.as_str());
        command.arg("COUNT").arg(BATCH).arg("STREAMS").arg(self.name).arg(from);
        let words = |streams: &Option<Vec<(String, Vec<Entry>)>>| {
            let found = streams.iter().flatten().map(|(_, entries)| entries.len());
            format!("{} messages", found.sum::<usize>())
        };
        let streams = probe
            .step(&RECEIVE, &self.name, self.redis.send(&command), words)
            .await?;
        Ok(messages(streams.into_iter().flatten().flat_map(|(_, entries)| entries)))
    }

    /// Claims a batch of messages that other consumers have received and not acknowledged for `idle`.
    pub(super) async fn claim(&self, idle: Duration, probe: &Probe) -> Result<Vec<Message>, Error> {
        let mut command = cmd("XAUTOCLAIM");
        command.arg(self.name).arg(GROUP).arg(self.consumer.as_str());
        command.arg(idle.as_millis() as u64).arg("0-0").arg("COUNT").arg(BATCH);
        // The reply of a version before 7 is shorter: it has no list of deleted messages.
        let entries = |reply: &Vec<Value>| reply.get(1).cloned().map(Vec::<Entry>::from_redis_value);
        let words = |reply: &Vec<Value>| match entries(reply) {
            Some(Ok(entries)) => format!("{} messages", entries.len()),
            _ => "no answer that can be read".to_owned(),
        };
        let reply = probe.step(&CLAIM, &self.name, self.redis.send(&command), words).await?;
        let entries = entries(&reply).transpose().map_err(RedisError::from)?;
        Ok(messages(entries.unwrap_or_default()))
    }

    /// Acknowledges a message whose order is in the ledger. Returns its age in ms; `None` if another was first.
    pub(super) async fn ack(&self, message: &Message, probe: &Probe) -> Result<Option<u64>, Error> {
        let mut script = self.ack.key(self.key_of(&message.purchase.item));
        script.key(self.name).arg(GROUP).arg(&message.id);
        let words = |took_ms: &i64| format!("{took_ms} ms");
        let took_ms = probe.step(&ACK, &message.id, self.redis.run(&script), words).await?;
        Ok(u64::try_from(took_ms).ok())
    }

    /// Returns the number of open messages of an item.
    pub(in crate::strategies) async fn open(&self, item: &Name) -> Result<u64, Error> {
        self.redis.count(&self.key_of(item), "open").await
    }

    pub(in crate::strategies) async fn forget(&self, item: &Name) -> Result<(), Error> {
        let mut forget = pipe();
        forget.cmd("EVAL").arg(include_str!("forget.lua")).arg(2);
        forget.arg(self.key_of(item)).arg(self.name).arg(item.as_str()).ignore();
        self.redis.operate(&forget).await
    }
}

/// Returns the messages that can be read. Any other stays in the stream, for an operator.
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
