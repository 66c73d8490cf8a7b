//! The thread on which the ledgers are read.
//!
//! The buyers of a round are hundreds of tasks. Among them a reading would queue again at each of its steps. On a busy
//! machine that takes longer than a store may take to answer, and the store would be blamed for it.

use std::io;
use std::sync::LazyLock;

use anyhow::{Context, Result};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

static THREAD: LazyLock<io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build());

/// Carries out a reading on the thread. The reading ends early if the caller stops waiting for it.
///
/// # Errors
/// When the thread could not be started, or the reading fails.
pub(super) async fn read<T: Send + 'static>(reading: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    let thread = THREAD
        .as_ref()
        .context("the thread that reads the ledgers did not start")?;
    // Other than a handle, a set stops its tasks when it is dropped.
    let mut one = JoinSet::new();
    one.spawn_on(reading, thread.handle());
    one.join_next().await.context("there is one reading")??
}
