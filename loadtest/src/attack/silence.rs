//! Keeps stdout clean: goose prints a line there even when told to be quiet, and stdout is for results.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// While one of these lives, whatever the process writes to stdout goes nowhere.
pub(super) struct SilencedStdout(());

/// How many live, and the stdout that comes back with the last of them. It is one for the process: if each of two
/// attacks at once kept its own, one of them would keep the silence of the other, and give that back.
static SILENCE: Mutex<(usize, Option<OwnedFd>)> = Mutex::new((0, None));

fn silence() -> MutexGuard<'static, (usize, Option<OwnedFd>)> {
    SILENCE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SilencedStdout {
    pub(super) fn begin() -> io::Result<Self> {
        let mut silence = silence();
        if silence.0 == 0 {
            silence.1 = Some(turn_away()?);
        }
        silence.0 += 1;
        Ok(Self(()))
    }
}

impl Drop for SilencedStdout {
    fn drop(&mut self) {
        let mut silence = silence();
        silence.0 -= 1;
        if silence.0 > 0 {
            return;
        }
        // What was buffered meanwhile belongs to the silence.
        let _ = io::stdout().flush();
        if let Some(stdout) = silence.1.take() {
            // SAFETY: dup2(2) takes descriptor numbers only, and both are open.
            unsafe {
                libc::dup2(stdout.as_raw_fd(), libc::STDOUT_FILENO);
            }
        }
    }
}

/// Points stdout to nowhere; returns what it was.
fn turn_away() -> io::Result<OwnedFd> {
    io::stdout().flush()?;
    let nowhere = File::options().write(true).open("/dev/null")?;
    // SAFETY: fcntl(2) and dup2(2) take descriptor numbers only; the new descriptor belongs to nobody else.
    unsafe {
        let stdout = libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3);
        if stdout < 0 {
            return Err(io::Error::last_os_error());
        }
        let stdout = OwnedFd::from_raw_fd(stdout);
        if libc::dup2(nowhere.as_raw_fd(), libc::STDOUT_FILENO) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stdout)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use std::path::{Path, PathBuf};

    use super::SilencedStdout;

    fn stdout() -> PathBuf {
        std::fs::read_link("/proc/self/fd/1").unwrap()
    }

    #[test]
    fn stdout_comes_back_with_the_last_of_two_attacks_at_once() {
        let before = stdout();
        let (one, other) = (SilencedStdout::begin().unwrap(), SilencedStdout::begin().unwrap());
        let nowhere = Path::new("/dev/null");
        assert_eq!(stdout(), nowhere);
        drop(one);
        assert_eq!(stdout(), nowhere);
        drop(other);
        assert_eq!(stdout(), before);
    }
}
