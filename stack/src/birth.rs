//! What a child does between fork and becoming its program. Only async-signal-safe calls are allowed there.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{io, mem, ptr};

/// A crowd needs more open files than the usual limit of 1024, and nginx in one process cannot raise its own.
const OPEN_FILES: libc::rlim_t = 16_384;

/// Gives the child its own process group, so that Ctrl-C on the terminal reaches only the parent, and a clean start.
pub(crate) fn prepare(command: &mut Command) {
    // SAFETY: getpid takes nothing and cannot fail.
    let parent = unsafe { libc::getpid() };
    command.process_group(0);
    // SAFETY: the closure allocates nothing, takes no lock and makes only async-signal-safe calls.
    unsafe { command.pre_exec(move || be_born(parent)) };
}

/// Blocks every signal in this thread, so that those meant for the process are taken by the threads that wait for them.
pub(crate) fn deaf() {
    // SAFETY: both calls write only to the set on this stack.
    unsafe {
        let mut all: libc::sigset_t = mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, ptr::null_mut());
    }
}

fn be_born(parent: libc::pid_t) -> io::Result<()> {
    hear_signals()?;
    raise_open_files();
    die_with(parent)
}

/// The standard library lets a child inherit the blocked signals; a server that cannot hear SIGTERM cannot stop cleanly.
fn hear_signals() -> io::Result<()> {
    // SAFETY: both calls write only to the set on this stack.
    let result = unsafe {
        let mut none: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, ptr::null_mut())
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// A limit that cannot be raised is no reason not to start: the program says what it misses.
fn raise_open_files() {
    // SAFETY: both calls touch only the struct on this stack.
    unsafe {
        let mut limit: libc::rlimit = mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 && limit.rlim_cur < OPEN_FILES {
            limit.rlim_cur = OPEN_FILES.min(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

#[cfg(target_os = "linux")]
fn die_with(parent: libc::pid_t) -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // A parent that died before the call above sends nothing any more.
    // SAFETY: getppid takes nothing and cannot fail.
    if unsafe { libc::getppid() } != parent {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}

/// Elsewhere there is no such signal: a parent killed by SIGKILL leaves its children running.
#[cfg(not(target_os = "linux"))]
fn die_with(_parent: libc::pid_t) -> io::Result<()> {
    Ok(())
}
