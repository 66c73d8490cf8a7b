//! How a command that a node of a cluster has refused is sent again.
//!
//! The client does not do that by itself: its own retries do not tell a refusal, which changed nothing, from a lost reply, after
//! which a second try could sell twice.

use std::time::Duration;

use redis::{ErrorKind, RedisError, RedisResult, ServerError, ServerErrorKind};
use tokio::time::{Instant, sleep};

use super::super::ANSWER_WITHIN;

/// Between two tries, for as long as no node serves the slot, or only a part of its keys.
const PAUSE: Duration = Duration::from_millis(20);

/// Where a refused command goes next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum To {
    /// To the node that serves the slot, as far as the client knows by now.
    Owner,
    /// To the node that serves the slot by its own word.
    Moved(String),
    /// To the node that has the key already, for this one command.
    Asked(String),
}

impl To {
    /// Returns the next place of a command that was refused; `None` after any other error.
    pub(super) fn after(error: &RedisError) -> Option<Self> {
        if error.kind() == ErrorKind::ClusterConnectionNotFound {
            return Some(Self::Owner);
        }
        let refusals = error.clone().into_server_errors()?;
        refusals.iter().find_map(|(_, refusal)| Self::of(refusal))
    }

    fn of(refusal: &ServerError) -> Option<Self> {
        let named = || Some(refusal.details()?.split(' ').nth(1)?.to_owned());
        match refusal.kind()? {
            ServerErrorKind::Moved => named().map(Self::Moved),
            ServerErrorKind::Ask => named().map(Self::Asked),
            ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::BusyLoading
            | ServerErrorKind::ReadOnly => Some(Self::Owner),
            _ => None,
        }
    }
}

/// The tries of one command.
pub(super) struct Tries {
    until: Instant,
    so_far: u32,
}

impl Tries {
    pub(super) fn begin() -> Self {
        Self {
            until: Instant::now() + ANSWER_WITHIN,
            so_far: 0,
        }
    }

    /// Waits before the next try. Returns the error where there is none: after an error that is no refusal, or too late.
    pub(super) async fn next(&mut self, error: RedisError) -> RedisResult<To> {
        let Some(to) = To::after(&error).filter(|_| Instant::now() < self.until) else {
            return Err(error);
        };
        if to == To::Owner || self.so_far > 0 {
            sleep(PAUSE).await;
        }
        self.so_far += 1;
        Ok(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(line: &str) -> Option<To> {
        let refusal = redis::parse_redis_value(format!("-{line}\r\n").as_bytes()).unwrap();
        To::after(&refusal.extract_error().unwrap_err())
    }

    #[test]
    fn only_a_command_that_was_refused_is_sent_again() {
        let node = "127.0.0.1:7001".to_owned();
        assert_eq!(after("MOVED 93 127.0.0.1:7001"), Some(To::Moved(node.clone())));
        assert_eq!(after("ASK 93 127.0.0.1:7001"), Some(To::Asked(node)));
        for waits in [
            "TRYAGAIN a part is elsewhere",
            "CLUSTERDOWN The cluster is down",
            "READONLY a replica",
        ] {
            assert_eq!(after(waits), Some(To::Owner), "{waits}");
        }
        for other in ["ERR no", "NOSCRIPT no", "WRONGTYPE no", "CROSSSLOT no", "OOM no"] {
            assert_eq!(after(other), None, "{other}");
        }
        let lost = RedisError::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert_eq!(To::after(&lost), None);
        assert_eq!(To::after(&RedisError::from((ErrorKind::Parse, "odd"))), None);
    }
}
