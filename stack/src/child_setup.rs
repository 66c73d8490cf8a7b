//! The steps of a child between fork and exec. Only async-signal-safe calls are allowed there.

use std::ffi::CStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use nix::unistd::{Pid, getegid, geteuid};

/// A crowd needs more open files than the usual limit of 1024, and nginx in one process cannot raise its own.
const OPEN_FILES: rlim_t = 16_384;

/// The user in a namespace where there is no other.
const NOBODY: u32 = 65_534;

/// The child reports a number alone. No call that starts a program ends with this one.
const NO_NAMESPACE: Errno = Errno::EUSERS;

/// Gives the child its own process group, so that Ctrl-C on the terminal reaches only the parent, and a clean start.
pub(crate) fn prepare(command: &mut Command) {
    let parent = Pid::this();
    command.process_group(0);
    // SAFETY: the closure allocates nothing, takes no lock and makes only async-signal-safe calls.
    unsafe { command.pre_exec(move || set_up(parent).map_err(io::Error::from)) };
}

/// Sets a child apart that may outlive this program: it has its own process group, so that Ctrl-C on the terminal does not reach
/// it, and no signal is blocked in it.
pub fn set_apart(command: &mut Command) {
    command.process_group(0);
    // SAFETY: the closure allocates nothing, takes no lock and makes only async-signal-safe calls.
    unsafe { command.pre_exec(|| unblock_signals().map_err(io::Error::from)) };
}

/// Lets a child of root be another user, in a user namespace of its own: there root is this one, and its files are this one's.
/// Call it before [`prepare`]: a change of the user clears the signal that [`prepare`] asks for.
pub(crate) fn leave_root(command: &mut Command) {
    if !geteuid().is_root() {
        return;
    }
    let maps = [
        (c"/proc/self/setgroups", "deny".to_owned()),
        (c"/proc/self/uid_map", format!("{NOBODY} 0 1")),
        (c"/proc/self/gid_map", format!("{NOBODY} {} 1", getegid())),
    ];
    // SAFETY: the closure allocates nothing, takes no lock and makes only async-signal-safe calls.
    unsafe { command.pre_exec(move || become_nobody(&maps).map_err(|_| NO_NAMESPACE.into())) };
}

/// Says in words why a child could not be started, where the number of the error does not.
pub(crate) fn explained(error: io::Error) -> anyhow::Error {
    match error.raw_os_error() {
        Some(number) if number == NO_NAMESPACE as i32 => anyhow::anyhow!(
            "it does not run as root, and this system forbids the user namespace in which it would be another user; \
             start oversell as another user than root"
        ),
        _ => error.into(),
    }
}

/// Blocks every signal in this thread, so that the threads that wait for signals of the process receive them.
pub(crate) fn block_signals() {
    // It fails only on a wrong argument.
    let _ = SigSet::all().thread_set_mask();
}

fn set_up(parent: Pid) -> Result<(), Errno> {
    unblock_signals()?;
    // A limit that cannot be raised is no reason not to start: the program reports what it lacks.
    let _ = raise_open_files();
    die_with(parent)
}

#[cfg(target_os = "linux")]
fn become_nobody(maps: &[(&CStr, String)]) -> Result<(), Errno> {
    use nix::fcntl::{OFlag, open};
    use nix::sys::stat::Mode;

    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUSER)?;
    for (path, text) in maps {
        let file = open(*path, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())?;
        // The kernel takes each of these files in one piece or not at all.
        nix::unistd::write(&file, text.as_bytes())?;
    }
    Ok(())
}

/// Elsewhere there are no such namespaces.
#[cfg(not(target_os = "linux"))]
fn become_nobody(_maps: &[(&CStr, String)]) -> Result<(), Errno> {
    Err(Errno::ENOSYS)
}

/// The standard library lets a child inherit the blocked signals; a server that never receives SIGTERM cannot stop cleanly.
fn unblock_signals() -> Result<(), Errno> {
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)
}

fn raise_open_files() -> Result<(), Errno> {
    let (now, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if now >= OPEN_FILES {
        return Ok(());
    }
    setrlimit(Resource::RLIMIT_NOFILE, OPEN_FILES.min(most), most)
}

#[cfg(target_os = "linux")]
fn die_with(parent: Pid) -> Result<(), Errno> {
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
    // A parent that died before the call above sends nothing any more.
    if Pid::parent() == parent {
        Ok(())
    } else {
        Err(Errno::ESRCH)
    }
}

/// Elsewhere there is no such signal: a parent killed by SIGKILL leaves its children running.
#[cfg(not(target_os = "linux"))]
fn die_with(_parent: Pid) -> Result<(), Errno> {
    Ok(())
}
