//! The broker's half messages in Redis: those of an item in the hash of its stream's messages, and the times at which the
//! broker asks back about those of all items.

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Script};
use uuid::Uuid;

use super::super::messages::{MAX_MESSAGES, Stream};
use super::NAME;
use crate::domain::{Error, Name, Purchase};
use crate::probe::{Probe, Step};
use crate::reconciler::BATCH;
use crate::stores::{Redis, Store};

pub(super) const SEND_HALF: Step = Step::command("send-half", &["EVALSHA"]);
pub(super) const COMMIT_HALF: Step = Step::command("commit-half", &["EVALSHA"]);
pub(super) const ROLL_BACK_HALF: Step = Step::command("roll-back-half", &["EVALSHA"]);
pub(super) const CHECK_BACK: Step = Step::command("check-back", &["EVALSHA"]).looking_for_work();
pub(super) const IS_HALF: Step = Step::command("is-half", &["HEXISTS"]);

/// The times at which the broker asks back.
const TIMES: &str = "half-message-times";

/// A half message. Each attempt to buy sends one of its own.
pub(super) struct Half {
    pub(super) item: Name,
    pub(super) id: Uuid,
}

impl Half {
    pub(super) fn of(purchase: &Purchase) -> Self {
        Self {
            item: purchase.item.clone(),
            id: Uuid::new_v4(),
        }
    }

    /// Its name among those of all items.
    fn member(&self) -> String {
        format!("{} {}", self.item, self.id)
    }
}

/// The end of a half message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Consumers receive it.
    Commit,
    /// It is dropped.
    RollBack,
}

pub(super) struct Broker {
    redis: Arc<Redis>,
    lease: Duration,
    send_half: Script,
    end_half: Script,
    check_back: Script,
}

impl Broker {
    /// A broker that asks back about a half message after each `lease`.
    pub(super) fn new(redis: Arc<Redis>, lease: Duration) -> Self {
        Self {
            redis,
            lease,
            send_half: Script::new(include_str!("send_half.lua")),
            end_half: Script::new(include_str!("end_half.lua")),
            check_back: Script::new(include_str!("check_back.lua")),
        }
    }

    /// Sends a half message. False when there is no room.
    pub(super) async fn send(
        &self,
        half: &Half,
        purchase: &Purchase,
        stream: &Stream,
        probe: &Probe,
    ) -> Result<bool, Error> {
        let mut script = self.send_half.key(stream.key_of(&half.item));
        script
            .key(TIMES)
            .key(NAME)
            .arg(half.id.to_string())
            .arg(purchase.order.to_string())
            .arg(half.member())
            .arg(self.lease_ms())
            .arg(MAX_MESSAGES)
            .arg(self.redis.entry(purchase));
        let sent = probe.step(&SEND_HALF, &half.id, self.redis.run(&script), String::clone);
        Ok(sent.await? == "sent")
    }

    /// Ends a half message. Returns its age in ms; `None` if it had ended before.
    pub(super) async fn end(
        &self,
        half: &Half,
        ending: Ending,
        stream: &Stream,
        probe: &Probe,
    ) -> Result<Option<u64>, Error> {
        let (step, word) = match ending {
            Ending::Commit => (&COMMIT_HALF, "commit"),
            Ending::RollBack => (&ROLL_BACK_HALF, "roll back"),
        };
        let mut script = self.end_half.key(stream.key_of(&half.item));
        script
            .key(TIMES)
            .key(NAME)
            .arg(half.id.to_string())
            .arg(half.member())
            .arg(half.item.as_str())
            .arg(word);
        let words = |took_ms: &i64| format!("{took_ms} ms");
        let took_ms = probe.step(step, &half.id, self.redis.run(&script), words).await?;
        Ok(u64::try_from(took_ms).ok())
    }

    /// Returns a batch of half messages that the broker asks back about.
    pub(super) async fn asks(&self, probe: &Probe) -> Result<Vec<Half>, Error> {
        let mut script = self.check_back.key(TIMES);
        script.arg(BATCH).arg(self.lease_ms());
        let words = |members: &Vec<String>| format!("asks about {}", members.len());
        let members = probe.step(&CHECK_BACK, &TIMES, self.redis.run(&script), words).await?;
        let parse = |member: &String| {
            let (item, id) = member.split_once(' ')?;
            Some(Half {
                item: Name::parse(item).ok()?,
                id: id.parse().ok()?,
            })
        };
        let corrupt = |member: &String| Error::Corrupt {
            store: Redis::NAME,
            what: member.clone(),
        };
        members
            .iter()
            .map(|member| parse(member).ok_or_else(|| corrupt(member)))
            .collect()
    }

    /// Returns whether the message is still half. It is gone when its sale was closed.
    pub(super) async fn is_half(&self, half: &Half, stream: &Stream, probe: &Probe) -> Result<bool, Error> {
        let command = Cmd::hexists(stream.key_of(&half.item), half.id.to_string());
        let words = |is_half: &bool| if *is_half { "half" } else { "gone" };
        probe.step(&IS_HALF, &half.id, self.redis.send(&command), words).await
    }

    fn lease_ms(&self) -> u64 {
        self.lease.as_millis() as u64
    }
}
