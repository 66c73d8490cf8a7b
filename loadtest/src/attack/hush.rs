//! Keeps stdout clean: goose prints a line there even when told to be quiet, and stdout is for results.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// While this lives, whatever the process writes to stdout goes nowhere.
pub(super) struct Hush {
    stdout: OwnedFd,
}

impl Hush {
    pub(super) fn stdout() -> io::Result<Self> {
        io::stdout().flush()?;
        let nowhere = File::options().write(true).open("/dev/null")?;
        // SAFETY: dup(2) and dup2(2) take descriptor numbers only; the new descriptor belongs to nobody else.
        unsafe {
            let stdout = libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3);
            if stdout < 0 || libc::dup2(nowhere.as_raw_fd(), libc::STDOUT_FILENO) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self {
                stdout: OwnedFd::from_raw_fd(stdout),
            })
        }
    }
}

impl Drop for Hush {
    fn drop(&mut self) {
        // What was buffered meanwhile belongs to the silence.
        let _ = io::stdout().flush();
        // SAFETY: as above; both descriptors are open.
        unsafe {
            libc::dup2(self.stdout.as_raw_fd(), libc::STDOUT_FILENO);
        }
    }
}
