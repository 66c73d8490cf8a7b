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

/// A script of these parts. One that may end it stands before the functions that are not needed then: Redis makes each of them anew
/// in each run.
macro_rules! script {
    ($($part:literal),+) => {
        Script::new(concat!($(include_str!(concat!("scripts/", $part))),+))
    };
}

impl Scripts {
    pub(crate) fn new() -> Self {
        Self {
            acquire: script!("keys.lua", "fences.lua", "take.lua", "hand_over.lua", "acquire.lua"),
            release: script!("keys.lua", "release.lua", "fences.lua", "hand_over.lua", "hand_on.lua"),
            renew: script!("renew.lua"),
        }
    }

    /// For a waiter that needs `fences`.
    pub(crate) fn acquire(
        &self,
        name: &str,
        token: &str,
        grace: Duration,
        again: bool,
        fences: u32,
    ) -> ScriptInvocation<'_> {
        let mut call = self.acquire.key(&keys(name));
        call.arg(token)
            .arg(grace.as_millis() as u64)
            .arg(u8::from(again))
            .arg(fences);
        call
    }

    pub(crate) fn release(&self, name: &str, owner_or_token: &str, grace: Duration) -> ScriptInvocation<'_> {
        let mut call = self.release.key(&keys(name));
        call.arg(owner_or_token).arg(grace.as_millis() as u64);
        call
    }

    pub(crate) fn renew<'a>(
        &self,
        held: impl Iterator<Item = (&'a str, &'a str)>,
        lease: Duration,
    ) -> ScriptInvocation<'_> {
        let mut call = self.renew.prepare_invoke();
        call.arg(lease.as_millis() as u64);
        for (name, owner) in held {
            call.key(owner_key(name)).arg(owner);
        }
        call
    }
}

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Place {
    /// It was free.
    Taken {
        /// The first of the waiter's.
        fence: u64,
    },
    Owner {
        /// The token, or several of this process, that have it one after the other.
        owner: String,
        /// Of the first of them.
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
            Self::Taken { fence } | Self::Owner { fence, .. } => format!("taken, fence {fence}"),
            Self::Waiting { place, lease, .. } => format!("place {place}, lease {} ms", lease.as_millis()),
        }
    }
}

impl FromRedisValue for Place {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        if let Value::Int(_) = value {
            let fence = FromRedisValue::from_redis_value(value)?;
            return Ok(Self::Taken { fence });
        }
        if let Value::Array(parts) = &value
            && parts.len() == 2
        {
            let (owner, fence) = FromRedisValue::from_redis_value(value)?;
            return Ok(Self::Owner { owner, fence });
        }
        let (place, lease_ms, now_us): (u64, i64, u64) = FromRedisValue::from_redis_value(value)?;
        Ok(Self::Waiting {
            place,
            // Negative where there is none.
            lease: Duration::from_millis(lease_ms.max(0) as u64),
            now_us,
        })
    }
}

/// A turn, as it is told over the channel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Turn<'a> {
    /// The token, or several with commas, that have it one after the other.
    pub(crate) owner: &'a str,
    /// Of the first of them.
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
            owner: words.next()?,
            fence: words.next()?.parse().ok()?,
            at_us: words.next()?.parse().ok()?,
            name: name_of(words.next()?)?,
        })
    }

    /// The tokens in their order, each with the first of its fences.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = (&'a str, u64)> {
        self.owner.split(',').scan(self.fence, |next, token| {
            let fence = *next;
            let fences = token.rsplit(':').next().and_then(|count| count.parse().ok());
            *next = next.saturating_add(fences.unwrap_or(1));
            Some((token, fence))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_turn_or_nothing() {
        let turn = Turn {
            owner: "p:1:8,p:2:8",
            fence: 7,
            at_us: 9,
            name: "a lock",
        };
        assert_eq!(turn.tokens().collect::<Vec<_>>(), [("p:1:8", 7), ("p:2:8", 15)]);
        assert_eq!(Turn::parse("p:1:8,p:2:8 7 9 baton:{a lock}"), Some(turn));
        for no_turn in ["", "p:1:8 7 9", "p:1:8 x 9 baton:{a}", "p:1:8 7 9 lock:{a}"] {
            assert_eq!(Turn::parse(no_turn), None, "{no_turn}");
        }
    }
}
