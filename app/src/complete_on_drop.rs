//! Work that continues after its caller is gone.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

/// A future that its caller polls. If it is dropped before its end, a new task completes it. A separate task from the
/// beginning would cost each purchase two wake-ups.
///
/// It must be dropped inside a runtime: outside of one it ends unfinished.
pub(crate) struct CompleteOnDrop<T: Send + 'static>(Option<Work<T>>);

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl<T: Send + 'static> CompleteOnDrop<T> {
    /// Wraps `work`. It starts with the first poll.
    pub(crate) fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Some(Box::pin(work)))
    }
}

impl<T: Send + 'static> Future for CompleteOnDrop<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // Taken out while it runs: work that panicked is not polled again.
        let mut work = self.0.take().expect("a future that has ended is not polled");
        let polled = work.as_mut().poll(cx);
        if polled.is_pending() {
            self.0 = Some(work);
        }
        polled
    }
}

impl<T: Send + 'static> Drop for CompleteOnDrop<T> {
    fn drop(&mut self) {
        if let Some(work) = self.0.take()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn dropped_work_continues_to_its_end() {
        let (go, gone) = oneshot::channel::<u8>();
        let (tell, told) = oneshot::channel();
        let mut work = CompleteOnDrop::new(async move {
            let _ = tell.send(gone.await);
        });
        assert!((&mut work).now_or_never().is_none());
        drop(work);
        go.send(7).unwrap();
        assert_eq!(told.await.unwrap(), Ok(7));
    }

    #[tokio::test]
    async fn finished_work_does_not_start_again() {
        let (tell, told) = oneshot::channel();
        CompleteOnDrop::new(async { tell.send(7).unwrap() }).await;
        assert_eq!(told.await, Ok(7));
    }
}
