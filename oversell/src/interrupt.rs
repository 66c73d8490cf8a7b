//! Ctrl-C and its like: heard once, whoever else may want to hear it.

use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};
use tokio::runtime::Builder;
use tokio::sync::{Notify, SetOnce};
use tokio::time::timeout;

/// Signals that ask the program to stop.
const ASKED_TO_STOP: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

/// How long a command may take to clean up once it was asked to stop. Its children die with the program in any case.
const CLEAN_UP_WITHIN: Duration = Duration::from_secs(3);

/// Set when the program was asked to stop.
pub type Stop = Arc<SetOnce<()>>;

/// Runs a command that has something to put in order before it ends. `None` when it was asked to stop before it ended;
/// what it held is then dropped already.
///
/// Goose installs a handler of its own for SIGINT. A signal that is blocked in every thread reaches no handler, only
/// the one thread that waits for it, so it is heard here all the same.
pub fn unless_interrupted<T, C>(command: impl FnOnce(Stop) -> C) -> Option<T>
where
    T: Send + 'static,
    C: Future<Output = T> + Send + 'static,
{
    unless_interrupted_on(Builder::new_multi_thread(), command)
}

/// The same, on threads as they are chosen.
pub fn unless_interrupted_on<T, C>(mut threads: Builder, command: impl FnOnce(Stop) -> C) -> Option<T>
where
    T: Send + 'static,
    C: Future<Output = T> + Send + 'static,
{
    // No other thread runs yet: those to come inherit it.
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
                // It is set by nobody else.
                let _ = stop.set(());
                if timeout(CLEAN_UP_WITHIN, &mut command).await.is_err() {
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
        // It fails only on a set that holds no signal.
        let _ = SigSet::from_iter(ASKED_TO_STOP).wait();
        tell.notify_one();
    });
    heard.notified().await;
}
