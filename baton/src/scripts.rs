//! What Redis does in one step, and the keys it does it to.

use std::time::Duration;

use redis::{FromRedisValue, ParsingError, Script, ScriptInvocation, Value};

/// A lock's keys: the owner, the queue, the last fence that was given out. The braces are literal: they keep the keys together.
pub(crate) fn keys(name: &str) -> [String; 3] {
    let owner = owner_key(name);
    let (queue, last_fence) = (format!("{owner}:queue"), format!("{owner}:last-fence"));
    [owner, queue, last_fence]
}

fn owner_key(name: &str) -> String {
    format!("baton:{{{name}}}")
}

/// The name of the lock that an owner's key is of.
pub(crate) fn name_of(owner_key: &str) -> Option<&str> {
    owner_key.strip_prefix("baton:{")?.strip_suffix('}')
}

/// Where a process hears of its turns.
pub(crate) fn channel(process: &str) -> String {
    format!("baton:{process}")
}

pub(crate) struct Scripts {
    acquire: Script,
    release: Script,
    renew: Script,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        let hand_over = |then: &str| Script::new(&format!("{}\n{then}", include_str!("scripts/hand_over.lua")));
        Self {
            acquire: hand_over(include_str!("scripts/acquire.lua")),
            release: hand_over(include_str!("scripts/release.lua")),
            renew: Script::new(include_str!("scripts/renew.lua")),
        }
    }

    pub(crate) fn acquire(&self, name: &str, token: &str, grace: Duration, again: bool) -> ScriptInvocation<'_> {
        let mut call = self.acquire.key(&keys(name));
        call.arg(token).arg(grace.as_millis() as u64).arg(u8::from(again));
        call
    }

    pub(crate) fn release(&self, name: &str, token: &str, grace: Duration) -> ScriptInvocation<'_> {
        let mut call = self.release.key(&keys(name));
        call.arg(token).arg(grace.as_millis() as u64);
        call
    }

    pub(crate) fn renew<'a>(
        &self,
        held: impl Iterator<Item = (&'a str, &'a str)>,
        lease: Duration,
    ) -> ScriptInvocation<'_> {
        let mut call = self.renew.prepare_invoke();
        call.arg(lease.as_millis() as u64);
        for (name, token) in held {
            call.key(owner_key(name)).arg(token);
        }
        call
    }
}

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Owner {
        fence: u64,
    },
    Waiting {
        /// How many are before it in the queue.
        place: u64,
        /// Of the owner.
        lease: Duration,
        /// By Redis' clock.
        now_us: u64,
    },
}

impl Place {
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Owner { fence } => format!("taken, fence {fence}"),
            Self::Waiting { place, lease, .. } => format!("place {place}, lease {} ms", lease.as_millis()),
        }
    }
}

impl FromRedisValue for Place {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        match *Vec::<i64>::from_redis_value(value)? {
            [1, fence] => Ok(Self::Owner { fence: fence as u64 }),
            [0, place, lease_ms, now_us] => Ok(Self::Waiting {
                place: place as u64,
                // Negative where there is none.
                lease: Duration::from_millis(lease_ms.max(0) as u64),
                now_us: now_us as u64,
            }),
            _ => Err("neither a lock nor a place".into()),
        }
    }
}

/// A turn, as it is told over the channel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Turn<'a> {
    pub(crate) token: &'a str,
    pub(crate) fence: u64,
    /// When it was given, by Redis' clock.
    pub(crate) at_us: u64,
    pub(crate) name: &'a str,
}

impl<'a> Turn<'a> {
    /// None when it is no such message.
    pub(crate) fn parse(message: &'a str) -> Option<Self> {
        let mut words = message.splitn(4, ' ');
        Some(Self {
            token: words.next()?,
            fence: words.next()?.parse().ok()?,
            at_us: words.next()?.parse().ok()?,
            name: name_of(words.next()?)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_turn_or_nothing() {
        let turn = Turn {
            token: "p:1:8",
            fence: 7,
            at_us: 9,
            name: "a lock",
        };
        assert_eq!(Turn::parse("p:1:8 7 9 baton:{a lock}"), Some(turn));
        for no_turn in ["", "p:1:8 7 9", "p:1:8 x 9 baton:{a}", "p:1:8 7 9 lock:{a}"] {
            assert_eq!(Turn::parse(no_turn), None, "{no_turn}");
        }
    }
}
