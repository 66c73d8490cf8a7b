//! Faults that are real: the process stops itself with SIGSTOP or ends itself with SIGKILL.

use std::process::{Command, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use nix::sys::signal::{Signal, raise};

use super::{Actor, Observer, Passing, Role, Step};

/// The longest pause that can be asked for, in milliseconds.
const MAX_PAUSE_MS: u64 = 60_000;

/// What happens to the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAction {
    /// SIGSTOP now, SIGCONT after this long.
    Pause(Duration),
    /// SIGKILL: no destructor runs, no connection is closed in order.
    Crash,
}

/// On which side of a step a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Just before it: the store has not seen it.
    Before,
    /// Just after it: the store did it, and nobody was told.
    After,
}

/// A step by name, and a side of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name of a step or of a role.
    pub step: &'static str,
    /// Which side of it.
    pub when: When,
}

/// An action, and where it strikes; at once where no step is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happens.
    pub action: FaultAction,
    /// Where.
    pub at: Option<Target>,
}

/// Why a text names no fault.
#[derive(Debug, thiserror::Error)]
pub enum BadFault {
    /// The part before the `@`.
    #[error("a fault is crash or pause=MILLISECONDS (1 to {MAX_PAUSE_MS}), then perhaps @STEP or @STEP+")]
    Action,
    /// The part after the `@`.
    #[error("a step is one of lock, read, write, record, commit, release, renew, or one that GET /strategies lists")]
    Step,
}

impl Fault {
    /// Reads `crash`, `crash@release`, `pause=3000`, `pause=3000@set-nx`, `crash@write+`. A step is a role or one of
    /// `steps`; the `+` means after it.
    ///
    /// # Errors
    /// [`BadFault`] when it is neither.
    pub fn parse(text: &str, steps: &[Step]) -> Result<Self, BadFault> {
        let (action, at) = match text.split_once('@') {
            Some((action, target)) => (action, Some(Target::parse(target, steps)?)),
            None => (text, None),
        };
        let action = match action.split_once('=') {
            None if action == "crash" => FaultAction::Crash,
            Some(("pause", ms)) => match ms.parse() {
                Ok(millis @ 1..=MAX_PAUSE_MS) if !ms.starts_with(['+', '0']) => {
                    FaultAction::Pause(Duration::from_millis(millis))
                }
                _ => return Err(BadFault::Action),
            },
            _ => return Err(BadFault::Action),
        };
        Ok(Self { action, at })
    }

    /// Whether it strikes on this side of `step`.
    pub(super) fn is_for(&self, step: &Step, when: When) -> bool {
        self.at.is_some_and(|at| at.when == when && step.is_called(at.step))
    }
}

impl Target {
    fn parse(text: &str, steps: &[Step]) -> Result<Self, BadFault> {
        let (name, when) = match text.strip_suffix('+') {
            Some(name) => (name, When::After),
            None => (text, When::Before),
        };
        let roles = Role::ALL.into_iter().map(Role::name);
        let mut known = roles.chain(steps.iter().map(|step| step.name));
        let step = known.find(|known| *known == name).ok_or(BadFault::Step)?;
        Ok(Self { step, when })
    }
}

/// The fault of one purchase stands at the seam of that purchase alone.
#[async_trait]
impl Observer for Fault {
    fn observes(&self, _actor: &Actor) -> bool {
        true
    }

    async fn before(&self, passing: &Passing<'_>) {
        if self.is_for(passing.step, When::Before) {
            self.action.inject();
        }
    }

    async fn after(&self, passing: &Passing<'_>, _said: &str) {
        if self.is_for(passing.step, When::After) {
            self.action.inject();
        }
    }
}

impl FaultAction {
    /// Does it to this process.
    pub fn inject(self) {
        tracing::warn!(action = ?self, "a fault strikes");
        match self {
            Self::Crash => crash(),
            Self::Pause(length) => pause(length),
        }
    }
}

/// A stopped process cannot wake itself, so a shell stops it and wakes it: in this order however short the pause. This
/// very thread waits for the shell, or it would go on past the step before the process stands still.
fn pause(length: Duration) {
    let (length, process) = (length.as_secs_f64(), std::process::id());
    let paused = Command::new("/bin/sh")
        .args([
            "-c",
            &format!("kill -STOP {process}; sleep {length}; kill -CONT {process}"),
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    if let Err(error) = paused {
        tracing::error!(%error, "the fault did not strike");
    }
}

/// To this very thread: a signal to the process may be taken by another one while this one goes on past the step.
fn crash() {
    if let Err(error) = raise(Signal::SIGKILL) {
        tracing::error!(%error, "the fault did not strike");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: &[Step] = &[Step::command("set-nx", &["SETNX"]).plays(Role::Lock)];

    #[test]
    fn a_fault_is_read_from_its_text() {
        let pause = FaultAction::Pause(Duration::from_secs(3));
        let before = |step| {
            Some(Target {
                step,
                when: When::Before,
            })
        };
        let after = |step| {
            Some(Target {
                step,
                when: When::After,
            })
        };
        for (text, action, at) in [
            ("crash", FaultAction::Crash, None),
            ("pause=3000@write", pause, before("write")),
            ("crash@write+", FaultAction::Crash, after("write")),
            ("pause=3000@set-nx", pause, before("set-nx")),
            ("crash@set-nx+", FaultAction::Crash, after("set-nx")),
        ] {
            assert_eq!(Fault::parse(text, STEPS).unwrap(), Fault { action, at }, "{text}");
        }
    }

    #[test]
    fn what_is_no_fault_is_refused() {
        for bad in [
            "",
            "crash@",
            "crash@+",
            "crash@write++",
            "crash@lunch",
            "pause",
            "pause=",
            "pause=0",
            "pause=-1",
            "pause=+1",
            "pause=01",
            "pause=60001",
            "crash=1",
        ] {
            assert!(Fault::parse(bad, STEPS).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_step_is_struck_by_its_own_name_and_by_that_of_its_role() {
        for (name, is_struck) in [("set-nx", true), ("lock", true), ("release", false)] {
            let fault = Fault::parse(&format!("crash@{name}"), STEPS).unwrap();
            assert_eq!(fault.is_for(&STEPS[0], When::Before), is_struck, "{name}");
            assert!(!fault.is_for(&STEPS[0], When::After), "{name}");
        }
    }
}
