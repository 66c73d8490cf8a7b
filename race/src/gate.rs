//! Connections that hold back what makes their requests whole, until a gate opens for all of them at one moment.
//!
//! With HTTP/1.1 that is the last byte: a server cannot begin with a request before it, and everything else has come before. With
//! HTTP/2 all requests share one connection, which holds back all of them and sends them in one piece.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

use crate::wire::Stream;

/// The gate of one race.
#[derive(Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    is_open: bool,
    /// The connections that hold back their last byte.
    waiting: usize,
    wakers: Vec<Waker>,
    /// When each connection had sent its last byte.
    sent: Vec<Instant>,
}

impl Gate {
    /// Waits until so many connections hold back their last byte.
    pub async fn all_wait(&self, connections: usize) {
        loop {
            let changed = self.changed.notified();
            if self.state().waiting >= connections {
                return;
            }
            changed.await;
        }
    }

    /// Lets all last bytes go.
    pub fn open(&self) {
        let mut state = self.state();
        state.is_open = true;
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns when the last bytes were sent.
    pub fn sent(&self) -> Vec<Instant> {
        self.state().sent.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a connection holds back.
#[derive(Clone)]
pub enum Keep {
    /// The last byte that was written.
    LastByte,
    /// Everything from the moment at which this is true.
    AllFrom(Arc<AtomicBool>),
}

/// A connection behind the gate.
pub struct Gated {
    stream: Box<dyn Stream>,
    gate: Arc<Gate>,
    keep: Keep,
    /// What was written and not sent yet.
    held: Vec<u8>,
    is_counted: bool,
    is_sent: bool,
}

impl Gated {
    /// Puts a connection behind a gate.
    pub fn new(stream: Box<dyn Stream>, gate: Arc<Gate>, keep: Keep) -> Self {
        Self {
            stream,
            gate,
            keep,
            held: Vec::new(),
            is_counted: false,
            is_sent: false,
        }
    }

    /// Sends what is held back, but for the last `keep` bytes.
    fn poll_send(&mut self, keep: usize, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.held.len() > keep {
            let length = self.held.len() - keep;
            match Pin::new(&mut self.stream).poll_write(cx, &self.held[..length]) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(sent)) => drop(self.held.drain(..sent)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Sends everything that was held back.
    fn poll_finish(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_send(0, cx))?;
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        if !std::mem::replace(&mut self.is_sent, true) {
            self.gate.state().sent.push(Instant::now());
        }
        Poll::Ready(Ok(()))
    }

    /// Notes that all is here but what is held back. Returns whether the gate is open.
    fn wait(&mut self, cx: &mut Context<'_>) -> bool {
        let mut state = self.gate.state();
        if state.is_open {
            return true;
        }
        state.wakers.push(cx.waker().clone());
        if !std::mem::replace(&mut self.is_counted, true) {
            state.waiting += 1;
            self.gate.changed.notify_waiters();
        }
        false
    }
}

impl AsyncWrite for Gated {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.held.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.held.is_empty() {
            return Pin::new(&mut self.stream).poll_flush(cx);
        }
        match self.keep.clone() {
            Keep::AllFrom(now) if !now.load(Ordering::SeqCst) => {
                ready!(self.poll_send(0, cx))?;
                return Pin::new(&mut self.stream).poll_flush(cx);
            }
            // Further requests are still to be written.
            Keep::AllFrom(_) if !self.wait(cx) => return Poll::Ready(Ok(())),
            Keep::AllFrom(_) => {}
            Keep::LastByte if self.gate.state().is_open => {}
            Keep::LastByte => {
                ready!(self.poll_send(1, cx))?;
                ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
                if !self.wait(cx) {
                    return Poll::Pending;
                }
            }
        }
        self.poll_finish(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl AsyncRead for Gated {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // A connection that shares many requests may only read by now.
        if !self.held.is_empty() && self.gate.state().is_open {
            let _ = self.poll_finish(cx)?;
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    /// Writes a request to a gated connection. Returns the end at which the server reads.
    fn written(gate: &Arc<Gate>, keep: Keep) -> DuplexStream {
        let (near, far) = duplex(64);
        let mut gated = Gated::new(Box::new(near), gate.clone(), keep);
        tokio::spawn(async move {
            gated.write_all(b"request").await.unwrap();
            gated.flush().await.unwrap();
            // As a client does that waits for the answer.
            let _ = gated.read_u8().await;
        });
        far
    }

    async fn rest(held: &[u8], keep: Keep) {
        let gate = Arc::new(Gate::default());
        let mut servers = [written(&gate, keep.clone()), written(&gate, keep)];
        gate.all_wait(2).await;
        let before = b"request".len() - held.len();
        for server in &mut servers {
            let mut read = vec![0; before];
            server.read_exact(&mut read).await.unwrap();
            assert_eq!(read, b"request"[..before]);
            assert!(
                server.read_u8().now_or_never().is_none(),
                "more came before the gate opened"
            );
        }
        assert!(gate.sent().is_empty());
        gate.open();
        for server in &mut servers {
            let mut read = vec![0; held.len()];
            server.read_exact(&mut read).await.unwrap();
            assert_eq!(read, held);
        }
        assert_eq!(gate.sent().len(), 2);
    }

    #[tokio::test]
    async fn the_last_byte_of_each_request_comes_when_the_gate_opens() {
        rest(b"t", Keep::LastByte).await;
    }

    #[tokio::test]
    async fn a_connection_of_several_requests_holds_all_of_them_back() {
        rest(b"request", Keep::AllFrom(Arc::new(AtomicBool::new(true)))).await;
    }
}
