//! A connection that holds back the last byte that was written to it, until a gate opens for all connections at one moment.
//!
//! A server cannot begin with a request before its last byte has come, and everything else has come before.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::Notify;

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

/// A connection behind the gate.
pub struct Gated {
    stream: TcpStream,
    gate: Arc<Gate>,
    /// What was written and not sent yet.
    held: Vec<u8>,
    is_counted: bool,
    is_sent: bool,
}

impl Gated {
    /// Puts a connection behind a gate.
    pub fn new(stream: TcpStream, gate: Arc<Gate>) -> Self {
        Self {
            stream,
            gate,
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

    /// Notes that all but the last byte is sent. Returns whether the gate is open.
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
        if !self.held.is_empty() {
            let is_open = self.gate.state().is_open;
            if !is_open {
                let all_but_last = self.poll_send(1, cx);
                if !all_but_last.is_ready() || matches!(all_but_last, Poll::Ready(Err(_))) {
                    return all_but_last;
                }
                if !self.wait(cx) {
                    return Poll::Pending;
                }
            }
            match self.poll_send(0, cx) {
                Poll::Ready(Ok(())) => {}
                other => return other,
            }
            if !std::mem::replace(&mut self.is_sent, true) {
                self.gate.state().sent.push(Instant::now());
            }
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl AsyncRead for Gated {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}
