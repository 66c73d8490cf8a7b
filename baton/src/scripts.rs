//! The scripts that Redis runs as one step each, and the keys they use.

use std::time::Duration;

use redis::{FromRedisValue, ParsingError, Script, ScriptInvocation, Value};

/// The keys of a lock: the owner, the queue, the last fence. The braces are literal: they keep the keys in one hash
/// slot.
pub(crate) fn keys(name: &str) -> [String; 3] {
    let owner = owner_key(name);
    let (queue, last_fence) = (format!("{owner}:queue"), format!("{owner}:last-fence"));
    [owner, queue, last_fence]
}

fn owner_key(name: &str) -> String {
    format!("baton:{{{name}}}")
}

/// The name of the lock with this owner key.
pub(crate) fn name_of(owner_key: &str) -> Option<&str> {
    owner_key.strip_prefix("baton:{")?.strip_suffix('}')
}

/// The channel on which a process receives its handoffs from one server.
pub(crate) fn channel(process: &str) -> String {
    format!("baton:{process}")
}

/// The channel on which a process receives the handoffs of one lock in a cluster. It lies in the slot of the lock.
pub(crate) fn shard_channel(name: &str, process: &str) -> String {
    format!("{}:{process}", owner_key(name))
}

pub(crate) struct Scripts {
    acquire: Script,
    release: Script,
    renew: Script,
}

/// Joins parts to a script. A part that may return early stands before functions that only later parts need, because
/// Redis creates each function anew in each run.
macro_rules! script {
    ($($part:literal),+) => {
        concat!($(include_str!(concat!("scripts/", $part))),+)
    };
}

impl Scripts {
    /// The scripts for one server.
    pub(crate) fn for_one_server() -> Self {
        Self::that_tell(include_str!("scripts/tell.lua"))
    }

    /// The scripts for a cluster.
    pub(crate) fn for_a_cluster() -> Self {
        Self::that_tell(include_str!("scripts/tell_in_cluster.lua"))
    }

    fn that_tell(tell: &str) -> Self {
        let joined = |first: &str, then: &str| Script::new(&[first, tell, then].concat());
        Self {
            acquire: joined(
                script!("keys.lua", "fences.lua", "take.lua"),
                script!("hand_off.lua", "acquire.lua"),
            ),
            release: joined(
                script!("keys.lua", "release.lua", "fences.lua"),
                script!("hand_off.lua", "release_to_waiter.lua"),
            ),
            renew: Script::new(script!("renew.lua")),
        }
    }

    /// Asks for the lock, and for as many fences.
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

    /// Gives up the lock of an owner, or the place of a token in the queue.
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

/// The answer to an acquisition.
#[derive(Debug)]
pub(crate) enum AcquireReply {
    /// The lock was free.
    Taken {
        /// The first fence of the waiter.
        fence: u64,
    },
    /// An earlier question or a handoff already gave the lock to the waiter.
    Owned {
        /// The token, or several tokens of this process, which hold the lock one after the other.
        owner: String,
        /// The first fence of the first token.
        fence: u64,
    },
    Queued {
        /// The number of waiters before this one.
        ahead: u64,
        /// The lease that the owner has left.
        lease: Duration,
        /// The clock of Redis.
        now_us: u64,
    },
}

impl AcquireReply {
    /// Returns the fence, if the waiter has the lock.
    pub(crate) fn fence(&self) -> Option<u64> {
        match self {
            Self::Taken { fence } | Self::Owned { fence, .. } => Some(*fence),
            Self::Queued { .. } => None,
        }
    }

    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Taken { fence } | Self::Owned { fence, .. } => format!("taken, fence {fence}"),
            Self::Queued { ahead, lease, .. } => format!("place {ahead}, lease {} ms", lease.as_millis()),
        }
    }
}

impl FromRedisValue for AcquireReply {
    fn from_redis_value(value: Value) -> Result<Self, ParsingError> {
        if let Value::Int(_) = value {
            let fence = FromRedisValue::from_redis_value(value)?;
            return Ok(Self::Taken { fence });
        }
        if let Value::Array(parts) = &value
            && parts.len() == 2
        {
            let (owner, fence) = FromRedisValue::from_redis_value(value)?;
            return Ok(Self::Owned { owner, fence });
        }
        let (ahead, lease_ms, now_us): (u64, i64, u64) = FromRedisValue::from_redis_value(value)?;
        Ok(Self::Queued {
            ahead,
            // Negative if there is no owner.
            lease: Duration::from_millis(lease_ms.max(0) as u64),
            now_us,
        })
    }
}

/// The news that Redis gave a lock to this process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Handoff<'a> {
    /// The token, or several with commas, which hold the lock one after the other.
    pub(crate) owner: &'a str,
    /// The first fence of the first token.
    pub(crate) fence: u64,
    /// The time of the handoff by the clock of Redis.
    pub(crate) at_us: u64,
    pub(crate) name: &'a str,
}

impl<'a> Handoff<'a> {
    /// Reads a message of the channel. None for any other text.
    pub(crate) fn parse(message: &'a str) -> Option<Self> {
        let mut words = message.splitn(4, ' ');
        Some(Self {
            owner: words.next()?,
            fence: words.next()?.parse().ok()?,
            at_us: words.next()?.parse().ok()?,
            name: name_of(words.next()?)?,
        })
    }

    /// The tokens in their order, each with its first fence.
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
    fn a_message_is_a_handoff_or_nothing() {
        let handoff = Handoff {
            owner: "p:1:8,p:2:8",
            fence: 7,
            at_us: 9,
            name: "a lock",
        };
        assert_eq!(handoff.tokens().collect::<Vec<_>>(), [("p:1:8", 7), ("p:2:8", 15)]);
        assert_eq!(Handoff::parse("p:1:8,p:2:8 7 9 baton:{a lock}"), Some(handoff));
        for other in ["", "p:1:8 7 9", "p:1:8 x 9 baton:{a}", "p:1:8 7 9 lock:{a}"] {
            assert_eq!(Handoff::parse(other), None, "{other}");
        }
    }
}
