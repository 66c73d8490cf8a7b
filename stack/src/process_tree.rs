//! A child process with its descendants, which get each signal too.
//!
//! A signal to a process group reaches no process that left it, and each backend of PostgreSQL is in a group of its own.

use std::fs;
use std::io;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

/// How long all of them may take to stop, or to end.
const LIMIT: Duration = Duration::from_secs(2);
/// Between two checks.
const POLL: Duration = Duration::from_millis(1);

/// A process, told from a later one with the same id by the time of its start.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: Pid,
    started: u64,
}

/// What the system says of a process.
struct Stat {
    state: char,
    parent: i32,
    started: u64,
}

/// Whether the child ended well, if it has ended. A child whose state cannot be read was reaped elsewhere.
pub(crate) fn ended(child: &mut Child) -> Option<bool> {
    child
        .try_wait()
        .map_or(Some(false), |status| status.map(|status| status.success()))
}

/// Signals the child and its process group: the program may be a script that runs the real one.
pub(crate) fn send(child: &Child, signal: Signal) -> io::Result<()> {
    // The child has not been reaped, so its group is still its own.
    Ok(kill_process_group(Pid::from_child(child), signal)?)
}

/// Stops the child and every descendant; returns once all have stopped.
pub(crate) fn pause(child: &Child) -> io::Result<()> {
    stop_all(child).map(drop)
}

/// Continues the child and every descendant.
pub(crate) fn resume(child: &Child) -> io::Result<()> {
    for process in descendants(child) {
        process.send(Signal::CONT)?;
    }
    send(child, Signal::CONT)
}

/// Kills the child and every descendant; returns once all are gone.
pub(crate) fn kill(child: &mut Child) -> io::Result<()> {
    if ended(child).is_some() {
        return Ok(());
    }
    // One that hangs in the kernel does not stop, and is killed all the same.
    let known = stop_all(child).unwrap_or_else(|_| descendants(child));
    for process in &known {
        process.send(Signal::KILL)?;
    }
    send(child, Signal::KILL)?;
    child.wait()?;
    wait_until(|| known.iter().all(|process| process.is_in(&['Z', 'X'])))
}

/// Stops them from the child downwards. A process that has stopped makes no other, and reaps none: the ids of its children stay
/// theirs.
fn stop_all(child: &Child) -> io::Result<Vec<Process>> {
    send(child, Signal::STOP)?;
    wait_until_stopped(child)?;
    let mut stopped = Vec::new();
    loop {
        let mut running = descendants(child);
        running.retain(|process| !stopped.contains(process));
        if running.is_empty() {
            return Ok(stopped);
        }
        for process in &running {
            process.send(Signal::STOP)?;
        }
        wait_until(|| running.iter().all(|process| process.is_in(&['T', 't', 'Z', 'X'])))?;
        stopped.append(&mut running);
    }
}

/// Waits for SIGSTOP to take effect, which is after `kill` returns. Does not reap the child.
fn wait_until_stopped(child: &Child) -> io::Result<()> {
    let watched = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let pid = Pid::from_child(child);
    let mut failed = Ok(());
    wait_until(|| match waitid(WaitId::Pid(pid), watched) {
        Ok(status) => status.is_some(),
        Err(error) => {
            failed = Err(error.into());
            true
        }
    })?;
    failed
}

fn wait_until(mut holds: impl FnMut() -> bool) -> io::Result<()> {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() >= LIMIT {
            return Err(io::ErrorKind::TimedOut.into());
        }
        thread::sleep(POLL);
    }
    Ok(())
}

/// Returns every descendant of the child; none on a system that does not list its processes as Linux does.
fn descendants(child: &Child) -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    let every: Vec<_> = pids.filter_map(|pid| Some((pid, Stat::of(pid)?))).collect();
    let mut parents = vec![Pid::from_child(child)];
    let mut found = Vec::new();
    while let Some(parent) = parents.pop() {
        let children = every.iter().filter(|(_, stat)| stat.parent == parent.as_raw_pid());
        for (pid, stat) in children {
            parents.push(*pid);
            found.push(Process {
                pid: *pid,
                started: stat.started,
            });
        }
    }
    found
}

impl Process {
    /// A process that has ended meanwhile needs no signal.
    fn send(self, signal: Signal) -> io::Result<()> {
        match kill_process(self.pid, signal) {
            Err(error) if error != Errno::SRCH => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Whether it is in one of these states, or gone.
    fn is_in(self, states: &[char]) -> bool {
        Stat::of(self.pid).is_none_or(|stat| stat.started != self.started || states.contains(&stat.state))
    }
}

impl Stat {
    fn of(pid: Pid) -> Option<Stat> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in brackets, may hold anything. After it: state, parent, and as the 20th the start.
        let mut fields = text.rsplit_once(") ")?.1.split(' ');
        Some(Stat {
            state: fields.next()?.parse().ok()?,
            parent: fields.next()?.parse().ok()?,
            started: fields.nth(17)?.parse().ok()?,
        })
    }
}
