//! Faults that are real: the process stops itself with SIGSTOP, ends itself with SIGKILL, or blocks its own executor. And a
//! purchase that stands still at a step, so that a fault of somebody else meets it there.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, raise};
use tokio::runtime::Handle;

use super::{Role, Step};

/// The longest time that a process or a purchase can be asked to stand still, in milliseconds.
const MAX_STILL_MS: u64 = 60_000;

/// What happens to the process, or to the purchase alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAction {
    /// SIGSTOP now, SIGCONT after this long.
    Pause(Duration),
    /// Every thread of the executor is blocked for this long, as by a call that does not yield: the process runs, and no
    /// renewal does.
    Block(Duration),
    /// Who takes the step takes it so much later. The process and everybody else go on.
    Delay(Duration),
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
    #[error(
        "a fault is crash, pause=MILLISECONDS, block=MILLISECONDS or delay=MILLISECONDS (1 to {MAX_STILL_MS}), then perhaps \
         @STEP or @STEP+"
    )]
    Action,
    /// Without an `@`.
    #[error("a delay needs its @STEP: no purchase stands still anywhere else")]
    Nowhere,
    /// The part after the `@`.
    #[error("a step is one of lock, read, write, record, commit, release, renew, or one that GET /strategies lists")]
    Step,
}

impl Fault {
    /// Reads `crash`, `crash@release`, `pause=3000`, `block=3000@set-nx`, `delay=400@read`, `crash@write+`. A step is a role
    /// or one of `steps`; the `+` means after it.
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

    /// Whether it strikes on this side of `step`.
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
    /// Does it to this process, or to the task that waits for it.
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

/// Each worker of the executor takes one of the tasks and is blocked by it, this one by its own call. One task more than
/// workers: the last one waits in the slot of this worker, where no other can take it.
fn block(length: Duration) {
    let until = Instant::now() + length;
    let sleep_on = move || std::thread::sleep(until.saturating_duration_since(Instant::now()));
    for _ in 0..=Handle::current().metrics().num_workers() {
        tokio::spawn(async move { sleep_on() });
    }
    sleep_on();
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
    fn a_step_is_struck_by_its_own_name_and_by_that_of_its_role() {
        for (name, is_struck) in [("set-nx", true), ("lock", true), ("release", false)] {
            let fault = Fault::parse(&format!("crash@{name}"), STEPS).unwrap();
            assert_eq!(fault.is_for(&STEPS[0], When::Before), is_struck, "{name}");
            assert!(!fault.is_for(&STEPS[0], When::After), "{name}");
        }
    }
}
