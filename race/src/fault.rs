//! The fault of a race: how it is done, and how the shop is made good again.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use loadtest::audit::{ExplainedUnknowns, FaultSeen};
use loadtest::shop::response::ResponseKind;
use serde::Serialize;
use stack::{Direction, Relay};
use tokio::sync::oneshot::Receiver;
use tokio::time::{sleep, sleep_until};

use crate::description::{Disturbance, Fault, FaultKind, Step, Template, Values, shown};
use crate::program;
use crate::sale::Sale;
use crate::session::Session;
use crate::trial::Trial;

/// The time by which everything arrives later at a slow store, in each direction.
const SLOW_BY: Duration = Duration::from_millis(100);

/// The time that a relay has to close all connections.
const CUT_WITHIN: Duration = Duration::from_millis(100);

/// The longest time until the shop is ready, and the pause between two requests that ask for it.
const READY_WITHIN: Duration = Duration::from_secs(60);
const ASK_EVERY: Duration = Duration::from_millis(100);

/// What a fault did to a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Struck {
    /// What it was, in words.
    pub what: String,
    /// The time from the release of the last bytes to its begin, in milliseconds.
    pub began_ms: u64,
    /// The time for which it lasted, in milliseconds. A program may have done its work before its end.
    pub lasted_ms: u64,
    /// The pieces of bytes that a relay delayed, held back or lost, and the connections that it closed; `None` for a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affected: Option<u64>,
    /// Why it struck nothing, if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<&'static str>,
}

/// What was seen of a fault.
#[derive(Clone, Copy)]
pub struct Done {
    released: Instant,
    began: Instant,
    ended: Instant,
    affected: Option<u64>,
}

/// What was seen of the answers to the raced requests.
#[derive(Clone, Copy)]
pub struct Answered {
    /// When the last one was there, or the wait for it ended.
    pub last: Instant,
    /// Whether the shop file knows the meaning of all of them.
    pub are_clear: bool,
}

impl Answered {
    /// Adds another answer.
    pub fn add(all: &mut Option<Self>, ended: Instant, kind: ResponseKind) {
        let is_clear = kind != ResponseKind::Unknown;
        *all = Some(all.map_or(
            Self {
                last: ended,
                are_clear: is_clear,
            },
            |all| Self {
                last: all.last.max(ended),
                are_clear: all.are_clear && is_clear,
            },
        ));
    }
}

impl Struck {
    /// Returns what the audit has to know of it, if everything was back then.
    pub(crate) fn seen(&self, healed: Instant) -> FaultSeen {
        if self.missed.is_some() {
            return FaultSeen::Missed;
        }
        FaultSeen::Struck {
            healed,
            explains: ExplainedUnknowns::All,
            mistimed: None,
        }
    }
}

impl Done {
    /// Returns what the fault did to a race with these answers.
    pub fn struck(self, what: String, answered: Answered) -> Struck {
        let ms = |from: Instant, to: Instant| u64::try_from(to.duration_since(from).as_millis()).unwrap_or(u64::MAX);
        Struck {
            what,
            began_ms: ms(self.released, self.began),
            lasted_ms: ms(self.began, self.ended),
            affected: self.affected,
            missed: self.missed(answered),
        }
    }

    fn missed(self, answered: Answered) -> Option<&'static str> {
        if self.affected == Some(0) {
            return Some("no bytes came to the relay meanwhile");
        }
        if self.began > answered.last {
            return Some("all answers were here before it began");
        }
        // A program that kills the shop may end after the connections that broke by that.
        let is_late = self.affected.is_none() && self.ended > answered.last && answered.are_clear;
        is_late.then_some("all answers were here before its program ended")
    }
}

impl Trial {
    /// Does the fault after the release. Returns `None` if the raced requests were never released.
    pub(crate) async fn strike(&self, fault: &Fault, sale: &Sale, released: Receiver<Instant>) -> Result<Option<Done>> {
        let Ok(released) = released.await else {
            return Ok(None);
        };
        sleep_until((released + fault.after).into()).await;
        sale.is_struck.store(true, Ordering::SeqCst);
        let began = Instant::now();
        let affected = match (&fault.kind, &self.relay) {
            (FaultKind::Program { run, .. }, _) => {
                self.run(run, &sale.values).await.context("`run` in [fault]")?;
                None
            }
            (FaultKind::Relay(of), Some(relay)) => Some(disturb(relay, of.does).await),
            (FaultKind::Relay(_), None) => bail!("[fault] has no relay"),
        };
        Ok(Some(Done {
            released,
            began,
            ended: Instant::now(),
            affected,
        }))
    }

    /// Makes good again what the fault did, if it has begun, and waits until the shop is ready.
    pub(crate) async fn restore(&self, sale: &Sale) -> Result<()> {
        let Some(fault) = &self.description.fault else {
            return Ok(());
        };
        if !sale.is_struck.load(Ordering::SeqCst) {
            return Ok(());
        }
        if let Some(relay) = &self.relay {
            relay.pass();
        }
        let mut done = Ok(());
        if let FaultKind::Program { then: Some(then), .. } = &fault.kind {
            done = self.run(then, &sale.values).await.context("`then` in [fault]");
        }
        // Only now: a request to stop may come meanwhile, and then this is done once more.
        sale.is_struck.store(false, Ordering::SeqCst);
        done?;
        self.ready_for(&sale.values).await
    }

    /// Waits until the request that says so succeeds.
    pub(crate) async fn ready_for(&self, values: &Values) -> Result<()> {
        let fault = self.description.fault.as_ref();
        let Some(line) = fault.and_then(|fault| fault.ready.as_ref()) else {
            return Ok(());
        };
        let step = Step::reading(line.clone(), BTreeMap::new());
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            let mut session = Session::new(&self.base, &self.trust, values.clone())?;
            let taken = session.take(&step).await;
            match taken {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() >= deadline => {
                    let within = READY_WITHIN.as_secs();
                    return Err(error.context(format!("`ready` in [fault]: no success within {within} s")));
                }
                Err(_) => sleep(ASK_EVERY).await,
            }
        }
    }

    async fn run(&self, program: &[Template], values: &Values) -> Result<()> {
        let words: Vec<_> = program.iter().map(|word| word.filled(values)).collect();
        let ran = program::run(&words).await;
        ran.map_err(|error| anyhow!("{}", self.hidden(&format!("{error:#}"))))
            .with_context(|| shown(program, values))
    }
}

/// Disturbs the connections of a relay. Returns how many pieces and connections that affected.
async fn disturb(relay: &Relay, how: Disturbance) -> u64 {
    let lasts = match how {
        Disturbance::LoseReplies(lasts) => {
            relay.lose_replies();
            lasts
        }
        Disturbance::Silent(lasts) => {
            relay.silence();
            lasts
        }
        Disturbance::Slow(lasts) => {
            for direction in Direction::BOTH {
                relay.delay(direction, SLOW_BY);
            }
            lasts
        }
        Disturbance::Cut => {
            relay.cut();
            CUT_WITHIN
        }
    };
    sleep(lasts).await;
    let affected = relay.affected();
    relay.pass();
    affected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_that_comes_after_all_answers_struck_nothing() {
        let released = Instant::now();
        let at = |ms| released + Duration::from_millis(ms);
        let missed = |began, ended, affected, last, are_clear| {
            let done = Done {
                released,
                began: at(began),
                ended: at(ended),
                affected,
            };
            let last = at(last);
            done.struck("it".to_owned(), Answered { last, are_clear })
                .missed
                .is_some()
        };
        assert!(!missed(20, 30, None, 40, true));
        assert!(missed(20, 30, None, 25, true), "the program ended too late");
        assert!(!missed(20, 30, None, 25, false), "an answer broke off while it ran");
        assert!(missed(20, 30, None, 10, false), "the program began too late");
        assert!(!missed(20, 30, Some(1), 25, true));
        assert!(missed(20, 30, Some(1), 10, true));
        assert!(missed(20, 30, Some(0), 40, true));
    }
}
