//! Real faults: the process stops itself with SIGSTOP, ends itself with SIGKILL, or blocks its own executor. A delay
//! holds one purchase at a step, so that another fault can meet it there.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, raise};
use tokio::runtime::Handle;

use super::{Role, Step};

/// The longest pause, block or delay, in milliseconds.
const MAX_STILL_MS: u64 = 60_000;

/// The effect of a fault on the process, or on one purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAction {
    /// SIGSTOP now, SIGCONT after this time.
    Pause(Duration),
    /// Every thread of the executor is blocked for this time, as by a call that does not yield: the process runs, but
    /// no renewal does.
    Block(Duration),
    /// The actor takes the step later by this time. The process and all other actors continue.
    Delay(Duration),
    /// SIGKILL: no destructor runs, no connection is closed properly.
    Crash,
}

/// The side of a step on which a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Just before it: the store has not received the command.
    Before,
    /// Just after it: the store has executed the command, but no actor has received the response.
    After,
}

/// A step, by name, and one side of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name of a step or of a role.
    pub step: &'static str,
    /// The side of it.
    pub when: When,
}

/// An action, and the step where it strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The action.
    pub action: FaultAction,
    /// The step; `None` for a fault that strikes at once.
    pub at: Option<Target>,
}

/// The error for a text that is not a fault.
#[derive(Debug, thiserror::Error)]
pub enum BadFault {
    /// The part before the `@` is wrong.
    #[error(
        "a fault is crash, pause=MILLISECONDS, block=MILLISECONDS or delay=MILLISECONDS (1 to {MAX_STILL_MS}), \
         optionally followed by @STEP or @STEP+"
    )]
    Action,
    /// A delay has no `@`.
    #[error("a delay needs a @STEP: only a purchase at a step can be delayed")]
    Nowhere,
    /// The part after the `@` is wrong.
    #[error("a step is one of lock, read, write, record, commit, release, renew, or one that GET /strategies lists")]
    Step,
}

impl Fault {
    /// Parses `crash`, `crash@release`, `pause=3000`, `block=3000@set-nx`, `delay=400@read`, `crash@write+`. A step is
    /// a role or one of `steps`; the `+` means after it.
    ///
    /// # Errors
    /// [`BadFault`] when the text is not a fault, or the step is neither.
    pub fn parse(text: &str, steps: &[Step]) -> Result<Self, BadFault> {
        let (action, at) = match text.split_once('@') {
            Some((action, target)) => (action, Some(Target::parse(target, steps)?)),
            None => (text, None),
        };
        let action = match action.split_once('=') {
            None if action == "crash" => FaultAction::Crash,
            Some(("pause", ms)) => FaultAction::Pause(still(ms)?),
            Some(("block", ms)) => FaultAction::Block(still(ms)?),
            Some(("delay", ms)) => FaultAction::Delay(still(ms)?),
            _ => return Err(BadFault::Action),
        };
        match (action, at) {
            (FaultAction::Delay(_), None) => Err(BadFault::Nowhere),
            _ => Ok(Self { action, at }),
        }
    }

    /// Returns whether it strikes on this side of `step`.
    pub(super) fn is_for(&self, step: &Step, when: When) -> bool {
        self.at.is_some_and(|at| at.when == when && step.is_called(at.step))
    }
}

fn still(ms: &str) -> Result<Duration, BadFault> {
    match ms.parse() {
        Ok(millis @ 1..=MAX_STILL_MS) if !ms.starts_with(['+', '0']) => Ok(Duration::from_millis(millis)),
        _ => Err(BadFault::Action),
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

impl FaultAction {
    /// Applies the fault to this process, or for a delay to the calling task.
    pub async fn inject(self) {
        tracing::warn!(action = ?self, "a fault strikes");
        match self {
            Self::Crash => crash(),
            Self::Pause(length) => pause(length),
            Self::Block(length) => block(length),
            Self::Delay(length) => tokio::time::sleep(length).await,
        }
    }
}

/// Stops the process. A stopped process cannot wake itself, so a shell stops and wakes it, in this order however short
/// the pause is. The calling thread waits for the shell: otherwise it could go past the step before the process is
/// stopped.
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

/// Blocks every worker of the executor. Each worker takes one of the tasks and is blocked by it; this worker is blocked
/// by its own call. There is one task more than workers, because the last one waits in the slot of this worker, where
/// no other worker can take it.
fn block(length: Duration) {
    let until = Instant::now() + length;
    let sleep_on = move || std::thread::sleep(until.saturating_duration_since(Instant::now()));
    for _ in 0..=Handle::current().metrics().num_workers() {
        tokio::spawn(async move { sleep_on() });
    }
    sleep_on();
}

/// Kills the process by a signal to the calling thread: a signal to the process may be taken by another thread while
/// this one goes past the step.
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
    fn a_fault_is_parsed_from_its_text() {
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
            (
                "block=3000@write",
                FaultAction::Block(Duration::from_secs(3)),
                before("write"),
            ),
            (
                "delay=400@set-nx+",
                FaultAction::Delay(Duration::from_millis(400)),
                after("set-nx"),
            ),
        ] {
            assert_eq!(Fault::parse(text, STEPS).unwrap(), Fault { action, at }, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_a_fault_is_refused() {
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
            "block",
            "block=0",
            "block=60001@write",
            "delay",
            "delay=400",
            "delay=0@write",
            "delay=60001@write",
            "crash=1",
        ] {
            assert!(Fault::parse(bad, STEPS).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_fault_strikes_a_step_by_its_own_name_and_by_the_name_of_its_role() {
        for (name, is_struck) in [("set-nx", true), ("lock", true), ("release", false)] {
            let fault = Fault::parse(&format!("crash@{name}"), STEPS).unwrap();
            assert_eq!(fault.is_for(&STEPS[0], When::Before), is_struck, "{name}");
            assert!(!fault.is_for(&STEPS[0], When::After), "{name}");
        }
    }
}
