//! A fault that is done to the shop while it is raced.

use std::net::SocketAddr;
use std::time::Duration;

use serde::Deserialize;

use super::step::RequestLine;
use super::template::{Template, Values};
use crate::own::is_private_address;

/// The longest time until a fault begins, and for which one lasts, in ms: no answer is waited for any longer.
const MAX_MS: u64 = 30_000;

/// A fault.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Fields")]
pub struct Fault {
    /// The time from the moment at which the last bytes are released.
    pub after: Duration,
    /// What is done.
    pub kind: FaultKind,
    /// The request that has to succeed before a sale is opened, and after the fault.
    pub ready: Option<RequestLine>,
}

/// What a fault does.
#[derive(Debug)]
pub enum FaultKind {
    /// It runs a program.
    Program {
        /// The program with its arguments.
        run: Vec<Template>,
        /// The program that makes everything good again.
        then: Option<Vec<Template>>,
    },
    /// It disturbs the connections to a store.
    Relay(RelayFault),
}

/// A relay before a store, and what it does.
#[derive(Clone, Copy, Debug)]
pub struct RelayFault {
    /// The address of this machine at which the relay listens.
    pub from: SocketAddr,
    /// The address of the store.
    pub to: SocketAddr,
    /// What it does to the connections.
    pub does: Disturbance,
}

/// What a relay does to the connections of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// Replies are lost for this time. Then each connection that lost one is closed.
    LoseReplies(Duration),
    /// Nothing passes for this time. Then everything arrives.
    Silent(Duration),
    /// Everything takes longer for this time.
    Slow(Duration),
    /// Every connection is closed once.
    Cut,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    run: Option<Vec<Template>>,
    then: Option<Vec<Template>>,
    relay: Option<RelayFields>,
    #[serde(default)]
    after_ms: u64,
    ready: Option<RequestLine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RelayFields {
    from: SocketAddr,
    to: SocketAddr,
    does: Does,
    for_ms: Option<u64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Does {
    LoseReplies,
    Silent,
    Slow,
    Cut,
}

impl TryFrom<Fields> for Fault {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Self, String> {
        let kind = match (fields.run, fields.relay) {
            (Some(run), None) => {
                let is_missing = |program: &Vec<Template>| program.first().is_none_or(Template::is_empty);
                if is_missing(&run) || fields.then.as_ref().is_some_and(is_missing) {
                    return Err("a program is expected, such as [\"docker\", \"kill\", \"shop-1\"]".to_owned());
                }
                FaultKind::Program { run, then: fields.then }
            }
            (None, Some(_)) if fields.then.is_some() => {
                return Err("`then` belongs to `run`: a relay ends its fault itself".to_owned());
            }
            (None, Some(relay)) => FaultKind::Relay(relay.checked()?),
            _ => return Err("[fault] has either `run` or `relay`".to_owned()),
        };
        if fields.after_ms > MAX_MS {
            return Err(format!("`after_ms` is at most {MAX_MS}"));
        }
        Ok(Self {
            after: Duration::from_millis(fields.after_ms),
            kind,
            ready: fields.ready,
        })
    }
}

impl RelayFields {
    fn checked(self) -> Result<RelayFault, String> {
        if !self.from.ip().is_loopback() || self.from.port() == 0 {
            return Err("`from` is an address of this machine alone, such as 127.0.0.1:13306".to_owned());
        }
        if !is_private_address(self.to.ip()) || self.to.port() == 0 || self.to == self.from {
            return Err("`to` is another address, of this machine or of a private network".to_owned());
        }
        let lasts = || match self.for_ms {
            Some(ms @ 1..=MAX_MS) => Ok(Duration::from_millis(ms)),
            _ => Err(format!("`for_ms` is expected, a number from 1 to {MAX_MS}")),
        };
        let does = match self.does {
            Does::LoseReplies => Disturbance::LoseReplies(lasts()?),
            Does::Silent => Disturbance::Silent(lasts()?),
            Does::Slow => Disturbance::Slow(lasts()?),
            Does::Cut if self.for_ms.is_some() => return Err("a cut has no `for_ms`: it happens at once".to_owned()),
            Does::Cut => Disturbance::Cut,
        };
        Ok(RelayFault {
            from: self.from,
            to: self.to,
            does,
        })
    }
}

impl Fault {
    /// Returns its texts.
    pub(super) fn templates(&self) -> Vec<&Template> {
        let programs: Vec<_> = match &self.kind {
            FaultKind::Program { run, then } => run.iter().chain(then.iter().flatten()).collect(),
            FaultKind::Relay(_) => Vec::new(),
        };
        programs
            .into_iter()
            .chain(self.ready.iter().map(|line| &line.path))
            .collect()
    }

    /// Returns what it does, in words and without secrets.
    pub(crate) fn in_words(&self, values: &Values) -> String {
        let RelayFault { to, does, .. } = match &self.kind {
            FaultKind::Program { run, .. } => return shown(run, values),
            FaultKind::Relay(relay) => relay,
        };
        match does {
            Disturbance::LoseReplies(lasts) => format!("the replies of {to} are lost for {} ms", lasts.as_millis()),
            Disturbance::Silent(lasts) => format!("nothing passes to or from {to} for {} ms", lasts.as_millis()),
            Disturbance::Slow(lasts) => format!("{to} is slow for {} ms", lasts.as_millis()),
            Disturbance::Cut => format!("the connections to {to} are cut"),
        }
    }
}

/// Returns a program with its arguments, without secrets.
pub(crate) fn shown(program: &[Template], values: &Values) -> String {
    let words: Vec<_> = program.iter().map(|word| word.hidden(values)).collect();
    format!("`{}`", words.join(" "))
}
