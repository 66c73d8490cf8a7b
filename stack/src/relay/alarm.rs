//! An exact delay. The runtime's own timers round up to whole milliseconds, so a delay of one would become two.

use std::io;
use std::time::Duration;

pub(super) use self::system::Alarm;

#[cfg(target_os = "linux")]
mod system {
    use std::os::fd::{AsFd, AsRawFd, RawFd};

    use nix::sys::time::TimeSpec;
    use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
    use tokio::io::unix::AsyncFd;

    use super::{Duration, io};

    /// A timer of the kernel.
    pub(in crate::relay) struct Alarm(AsyncFd<Timer>);

    struct Timer(TimerFd);

    impl AsRawFd for Timer {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_fd().as_raw_fd()
        }
    }

    impl Alarm {
        /// Needs a runtime around it.
        ///
        /// # Errors
        ///
        /// When the system gives no more file descriptors.
        pub(in crate::relay) fn new() -> io::Result<Self> {
            let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
            let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
            // SAFETY: the timer is owned, is open as long as it is, and has one descriptor all the time.
            let registered = unsafe { AsyncFd::register(Timer(timer)) };
            Ok(Self(registered?))
        }

        /// Returns after `delay`, which must not be zero.
        ///
        /// # Errors
        ///
        /// When the system does not set the timer.
        pub(in crate::relay) async fn after(&self, delay: Duration) -> io::Result<()> {
            let timer = &self.0.get_ref().0;
            timer.set(
                Expiration::OneShot(TimeSpec::from_duration(delay)),
                TimerSetTimeFlags::empty(),
            )?;
            loop {
                let mut ready = self.0.readable().await?;
                if let Ok(rang) = ready.try_io(|timer| Ok(timer.get_ref().0.wait()?)) {
                    return rang;
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{Duration, io};

    /// A timer of the runtime: there is no other one.
    pub(in crate::relay) struct Alarm;

    impl Alarm {
        pub(in crate::relay) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        pub(in crate::relay) async fn after(&self, delay: Duration) -> io::Result<()> {
            tokio::time::sleep(delay).await;
            Ok(())
        }
    }
}
