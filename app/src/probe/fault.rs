//! Faults that are real: the process stops itself with SIGSTOP or ends itself with SIGKILL.

use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::Step;

/// The longest pause that can be asked for, in milliseconds.
const MAX_PAUSE_MS: u64 = 60_000;

/// What happens to the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blow {
    /// SIGSTOP now, SIGCONT after this long.
    Pause(Duration),
    /// SIGKILL: no destructor runs, no connection is closed in order.
    Crash,
}

/// A blow, and the step before which it falls; at once where no step is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happens.
    pub blow: Blow,
    /// Just before which step.
    pub step: Option<Step>,
}

/// Why a text names no fault.
#[derive(Debug, thiserror::Error)]
pub enum BadFault {
    /// The part before the `@`.
    #[error("a fault is crash or pause=MILLISECONDS (1 to {MAX_PAUSE_MS}), then perhaps @STEP")]
    Blow,
    /// The part after the `@`.
    #[error("a step is one of lock, read, write, record, commit, release, renew")]
    Step,
}

impl FromStr for Fault {
    type Err = BadFault;

    /// Reads `crash`, `crash@release`, `pause=3000`, `pause=3000@write`.
    fn from_str(text: &str) -> Result<Self, BadFault> {
        let (blow, step) = match text.split_once('@') {
            Some((blow, step)) => (blow, Some(step.parse()?)),
            None => (text, None),
        };
        let blow = match blow.split_once('=') {
            None if blow == "crash" => Blow::Crash,
            Some(("pause", ms)) => match ms.parse() {
                Ok(ms @ 1..=MAX_PAUSE_MS) => Blow::Pause(Duration::from_millis(ms)),
                _ => return Err(BadFault::Blow),
            },
            _ => return Err(BadFault::Blow),
        };
        Ok(Self { blow, step })
    }
}

impl Blow {
    /// Lets the blow fall on this process.
    pub fn strike(self) {
        tracing::warn!(blow = ?self, "a fault strikes");
        match self {
            Self::Crash => signal_self(libc::SIGKILL),
            Self::Pause(length) => pause(length),
        }
    }
}

/// A stopped process cannot wake itself, so a shell that outlives the stop does it.
fn pause(length: Duration) {
    let wake = format!("sleep {}; kill -CONT {}", length.as_secs_f64(), std::process::id());
    let waker = Command::new("/bin/sh")
        .args(["-c", &wake])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    match waker {
        Ok(mut waker) => {
            signal_self(libc::SIGSTOP);
            std::thread::spawn(move || waker.wait());
        }
        Err(error) => tracing::error!(%error, "not paused: nobody would have woken the process"),
    }
}

fn signal_self(signal: libc::c_int) {
    // SAFETY: kill(2) takes plain numbers and touches no memory of ours.
    unsafe {
        libc::kill(libc::getpid(), signal);
    }
}

/// The faults armed for the whole process: each strikes once, the first purchase that comes by.
#[derive(Debug, Default)]
pub struct Faults {
    any: AtomicBool,
    armed: Mutex<Vec<Fault>>,
}

/// How many faults may lie armed at once.
const MAX_ARMED: usize = 64;

impl Faults {
    /// Arms `fault` for the first purchase that reaches its step. False when too many lie armed already.
    pub fn arm(&self, fault: Fault) -> bool {
        let mut armed = self.armed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if armed.len() >= MAX_ARMED {
            return false;
        }
        armed.push(fault);
        self.any.store(true, Ordering::Relaxed);
        true
    }

    pub(super) fn strike_at(&self, step: Step) {
        if self.any.load(Ordering::Relaxed)
            && let Some(fault) = self.take(step)
        {
            fault.blow.strike();
        }
    }

    fn take(&self, step: Step) -> Option<Fault> {
        let mut armed = self.armed.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let at = armed.iter().position(|fault| fault.step == Some(step))?;
        let fault = armed.swap_remove(at);
        self.any.store(!armed.is_empty(), Ordering::Relaxed);
        Some(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_read_from_its_text() {
        let pause = Fault {
            blow: Blow::Pause(Duration::from_secs(3)),
            step: Some(Step::Write),
        };
        assert_eq!("pause=3000@write".parse::<Fault>().unwrap(), pause);
        let crash = Fault {
            blow: Blow::Crash,
            step: None,
        };
        assert_eq!("crash".parse::<Fault>().unwrap(), crash);
    }

    #[test]
    fn what_is_no_fault_is_refused() {
        for bad in [
            "",
            "crash@",
            "crash@lunch",
            "pause",
            "pause=",
            "pause=0",
            "pause=-1",
            "pause=60001",
            "crash=1",
        ] {
            assert!(bad.parse::<Fault>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_armed_fault_is_taken_once() {
        let faults = Faults::default();
        faults.arm("crash@read".parse().unwrap());
        assert_eq!(faults.take(Step::Write), None);
        assert!(faults.take(Step::Read).is_some());
        assert_eq!(faults.take(Step::Read), None);
    }
}
