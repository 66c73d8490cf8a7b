//! One connection through a relay.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};

use super::alarm::Alarm;
use super::late::{Kept, LateRequests};
use super::treatment::{Direction, Fate, Treatment};
use crate::service_location::{ServiceLocation, Stream};

/// The most bytes of one piece.
const PIECE: usize = 16 * 1024;

/// The most pieces of one direction that wait; a sender of more has to wait.
const WAITING: usize = 64;

/// One connection from a client to the store.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) target: ServiceLocation,
    /// Its number, counted from 0.
    pub(super) number: u64,
    pub(super) treatment: watch::Receiver<Treatment>,
    pub(super) affected: Arc<AtomicU64>,
    pub(super) late: Arc<LateRequests>,
}

/// The state that both directions of a connection share.
#[derive(Default)]
struct Talk {
    /// Whether a reply was lost.
    has_gap: AtomicBool,
    /// Whether the client has sent a request, and nothing has come back since.
    awaits_reply: AtomicBool,
    /// The request that is kept.
    kept: Mutex<Option<Kept>>,
}

impl Talk {
    /// Keeps a piece of a request.
    fn keep(&self, bytes: Vec<u8>, late: &LateRequests) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *kept {
            Some(kept) => kept.extend(&bytes),
            None => *kept = Some(late.keep(bytes)),
        }
    }

    fn has_kept(&self) -> bool {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn take_kept(&self) -> Option<Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Bytes, and the time of their arrival.
struct Piece {
    came: Instant,
    bytes: Vec<u8>,
}

/// What becomes of a piece that is due.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passes {
    /// It is passed on.
    Now,
    /// It is kept with its request.
    Late,
    /// It is dropped.
    Never,
}

impl Line {
    /// Forwards a connection until it ends.
    pub(super) async fn forward(mut self, client: Box<dyn Stream>) {
        let cuts = self.treatment.borrow_and_update().cuts;
        let talk = Talk::default();
        let mut treatment = self.treatment.clone();
        let broken =
            treatment.wait_for(|now| now.cuts != cuts || talk.has_gap.load(Ordering::Relaxed) && !now.loses_replies);
        let affected = self.affected.clone();
        tokio::select! {
            () = self.exchange(client, &talk) => {}
            _ = broken => drop(affected.fetch_add(1, Ordering::SeqCst)),
        }
    }

    async fn exchange(mut self, client: Box<dyn Stream>, talk: &Talk) {
        // A silent network neither reaches the store nor refuses a client.
        let number = self.number;
        if number < self.treatment.borrow().silent_below {
            self.affects();
        }
        if self.treatment.wait_for(|now| number >= now.silent_below).await.is_err() {
            return;
        }
        let Ok(store) = self.target.connect().await else {
            return;
        };
        let (mut from_store, mut to_store) = split(store);
        let mut treatment = self.treatment.clone();
        let exchanged = async {
            // Both end with this block: so the client sees a closed connection, and the store does not.
            let (from_client, to_client) = split(client);
            tokio::join!(
                self.clone().pump(from_client, &mut to_store, Direction::ToStore, talk),
                self.pump(&mut from_store, to_client, Direction::FromStore, talk),
            );
        };
        tokio::select! {
            () = exchanged => {}
            _ = treatment.wait_for(|now| talk.has_kept() && !now.keeps_requests) => {}
        }
        if let Some(kept) = talk.take_kept() {
            kept.arrive(from_store, to_store).await;
        }
    }

    async fn pump(
        mut self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
        direction: Direction,
        talk: &Talk,
    ) {
        let (pieces, mut waiting) = mpsc::channel(WAITING);
        let read = async move {
            let mut buffer = vec![0; PIECE];
            while let Ok(length @ 1..) = from.read(&mut buffer).await {
                let piece = Piece {
                    came: Instant::now(),
                    bytes: buffer[..length].to_vec(),
                };
                if pieces.send(piece).await.is_err() {
                    return;
                }
            }
        };
        let (mut alarm, mut is_lost) = (None, false);
        let write = async {
            while let Some(piece) = waiting.recv().await {
                let passes = self.may_pass(piece.came, direction, talk, &mut alarm).await;
                if passes == Passes::Late {
                    talk.keep(piece.bytes, &self.late);
                    // Counted when it is there to be taken.
                    self.affects();
                    continue;
                }
                // A reply after a gap would be taken for the missing one.
                is_lost |= passes == Passes::Never;
                if is_lost {
                    talk.has_gap.store(true, Ordering::Relaxed);
                    continue;
                }
                talk.awaits_reply
                    .store(direction == Direction::ToStore, Ordering::SeqCst);
                if to.write_all(&piece.bytes).await.is_err() {
                    return;
                }
            }
            // A request that is kept still goes this way.
            if !talk.has_kept() {
                // The receiver may be gone.
                let _ = to.shutdown().await;
            }
        };
        tokio::pin!(write);
        tokio::select! {
            () = &mut write => {}
            () = read => write.await,
        }
    }

    /// Waits until a piece is due. Returns what becomes of it then.
    async fn may_pass(
        &mut self,
        came: Instant,
        direction: Direction,
        talk: &Talk,
        alarm: &mut Option<Alarm>,
    ) -> Passes {
        let mut is_counted = false;
        loop {
            let mut fate = self.treatment.borrow_and_update().fate(self.number, direction);
            // A message to a subscriber is no reply.
            if fate == Fate::Lost && !talk.awaits_reply.load(Ordering::SeqCst) {
                fate = Fate::Comes(Duration::ZERO);
            }
            if !matches!(fate, Fate::Comes(Duration::ZERO) | Fate::Kept) && !is_counted {
                self.affects();
                is_counted = true;
            }
            match fate {
                Fate::Lost => return Passes::Never,
                Fate::Kept => return Passes::Late,
                // The relay was dropped, and this connection ends with it.
                Fate::Waits if self.treatment.changed().await.is_err() => return Passes::Never,
                Fate::Waits => {}
                Fate::Comes(delay) => {
                    let remains = (came + delay).saturating_duration_since(Instant::now());
                    if remains.is_zero() {
                        return Passes::Now;
                    }
                    tokio::select! {
                        _ = self.treatment.changed() => {}
                        () = passes(alarm, remains) => return Passes::Now,
                    }
                }
            }
        }
    }

    fn affects(&self) {
        self.affected.fetch_add(1, Ordering::SeqCst);
    }
}

/// Returns after that time.
async fn passes(alarm: &mut Option<Alarm>, time: Duration) {
    if alarm.is_none() {
        // Without an alarm the delay is only less exact.
        *alarm = Alarm::new().ok();
    }
    let rang = match alarm {
        Some(alarm) => alarm.after(time).await.is_ok(),
        None => false,
    };
    if !rang {
        sleep(time).await;
    }
}
