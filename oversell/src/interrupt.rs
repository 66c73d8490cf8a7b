//! Ctrl-C and other requests to stop, for one receiver.

use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};
use tokio::runtime::Builder;
use tokio::sync::{Notify, SetOnce};
use tokio::time::timeout;

/// Signals that ask the program to stop.
const ASKED_TO_STOP: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// The longest time that most commands may take to clean up after a request to stop. Their children end with the program anyway.
pub const CLEAN_UP_WITHIN: Duration = Duration::from_secs(3);

/// Set by a request to stop.
pub type Stop = Arc<SetOnce<()>>;

/// Runs a command that cleans up before it ends. Returns `None` when a request to stop came first; everything that the
/// command held is dropped then.
///
/// Goose installs its own handler for SIGINT. A signal that is blocked in every thread reaches no handler, only the thread
/// that waits for it here.
pub fn unless_interrupted<T, C>(command: impl FnOnce(Stop) -> C) -> Option<T>
where
    T: Send + 'static,
    C: Future<Output = T> + Send + 'static,
{
    unless_interrupted_on(Builder::new_multi_thread(), CLEAN_UP_WITHIN, command)
}

/// The same, on a runtime of the caller's choice, with another limit for the time in which the command may clean up.
pub fn unless_interrupted_on<T, C>(
    mut threads: Builder,
    clean_up_within: Duration,
    command: impl FnOnce(Stop) -> C,
) -> Option<T>
where
    T: Send + 'static,
    C: Future<Output = T> + Send + 'static,
{
    // No other thread runs yet: later threads inherit the mask.
    SigSet::from_iter(ASKED_TO_STOP)
        .thread_block()
        .expect("three signals that can be blocked");
    let runtime = threads.enable_all().build();
    let runtime = runtime.expect("the operating system gives threads to a program that has just started");
    let result = runtime.block_on(async {
        let stop = Stop::default();
        let mut command = tokio::spawn(command(stop.clone()));
        tokio::select! {
            result = &mut command => Some(result),
            () = asked_to_stop() => {
                // Nothing else sets it.
                let _ = stop.set(());
                if timeout(clean_up_within, &mut command).await.is_err() {
                    command.abort();
                    let _ = timeout(CLEAN_UP_WITHIN, command).await;
                }
                None
            }
        }
    });
    runtime.shutdown_timeout(Duration::from_millis(100));
    result.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())))
}

async fn asked_to_stop() {
    let heard = Arc::new(Notify::new());
    let tell = heard.clone();
    std::thread::spawn(move || {
        // It fails only for a set without signals.
        let _ = SigSet::from_iter(ASKED_TO_STOP).wait();
        tell.notify_one();
    });
    heard.notified().await;
}
