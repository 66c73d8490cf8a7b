//! Requests that leave their client and reach the store late.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, sink};
use tokio::sync::oneshot;

/// A request that a relay keeps. Its client gets no reply. Dropping it closes the connection to the store, which never gets the
/// request.
#[derive(Debug)]
pub struct LateRequest {
    go: oneshot::Sender<()>,
    /// Closed when the store has closed its connection.
    ended: oneshot::Receiver<()>,
}

/// The part of a late request that stays with its connection.
pub(super) struct Kept {
    bytes: Vec<u8>,
    gone: oneshot::Receiver<()>,
    /// Dropped when the store has closed its connection.
    _end: oneshot::Sender<()>,
}

/// The late requests that nobody has taken from the relay yet.
#[derive(Default)]
pub(super) struct LateRequests(Mutex<Vec<LateRequest>>);

impl LateRequest {
    /// Lets the request reach the store. The answer is the end of the connection: the store closes it after it has carried out the
    /// request, because no client is there any more.
    pub fn arrive(self) -> impl Future<Output = ()> {
        // The relay may have been dropped.
        let _ = self.go.send(());
        async move {
            // Nothing is ever sent: the sender is dropped at the end.
            let _ = self.ended.await;
        }
    }
}

impl LateRequests {
    /// Keeps a request that begins with these bytes.
    pub(super) fn keep(&self, bytes: Vec<u8>) -> Kept {
        let ((go, gone), (end, ended)) = (oneshot::channel(), oneshot::channel());
        self.all().push(LateRequest { go, ended });
        Kept { bytes, gone, _end: end }
    }

    /// Returns the requests that were kept since the last call, the oldest first.
    pub(super) fn take(&self) -> Vec<LateRequest> {
        std::mem::take(&mut *self.all())
    }

    fn all(&self) -> MutexGuard<'_, Vec<LateRequest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Adds the next bytes of the request.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Waits until the request may go on, sends it to the store, and waits until the store has closed the connection.
    pub(super) async fn arrive(self, mut from_store: impl AsyncRead + Unpin, mut to_store: impl AsyncWrite + Unpin) {
        if self.gone.await.is_err() || to_store.write_all(&self.bytes).await.is_err() {
            return;
        }
        // The store may have closed the connection already.
        let _ = to_store.shutdown().await;
        let _ = copy(&mut from_store, &mut sink()).await;
    }
}
