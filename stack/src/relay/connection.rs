//! One connection through a relay.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};

use super::alarm::Alarm;
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
}

/// The state that both directions of a connection share.
#[derive(Default)]
struct Talk {
    /// Whether a reply was lost.
    has_gap: AtomicBool,
    /// Whether the client has sent a request, and nothing has come back since.
    awaits_reply: AtomicBool,
}

/// Bytes, and the time of their arrival.
struct Piece {
    came: Instant,
    bytes: Vec<u8>,
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
        let ((from_client, to_client), (from_store, to_store)) = (split(client), split(store));
        tokio::join!(
            self.clone().pump(from_client, to_store, Direction::ToStore, talk),
            self.pump(from_store, to_client, Direction::FromStore, talk),
        );
    }

    async fn pump(
        mut self,
        mut from: ReadHalf<Box<dyn Stream>>,
        mut to: WriteHalf<Box<dyn Stream>>,
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
                // A reply after a gap would be taken for the missing one.
                is_lost |= !self.may_pass(piece.came, direction, talk, &mut alarm).await;
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
            // The receiver may be gone.
            let _ = to.shutdown().await;
        };
        tokio::pin!(write);
        tokio::select! {
            () = &mut write => {}
            () = read => write.await,
        }
    }

    /// Waits until a piece is due. Returns whether it arrives.
    async fn may_pass(&mut self, came: Instant, direction: Direction, talk: &Talk, alarm: &mut Option<Alarm>) -> bool {
        let mut is_counted = false;
        loop {
            let mut fate = self.treatment.borrow_and_update().fate(self.number, direction);
            // A message to a subscriber is no reply.
            if fate == Fate::Lost && !talk.awaits_reply.load(Ordering::SeqCst) {
                fate = Fate::Comes(Duration::ZERO);
            }
            if fate != Fate::Comes(Duration::ZERO) && !is_counted {
                self.affects();
                is_counted = true;
            }
            match fate {
                Fate::Lost => return false,
                // The relay was dropped, and this connection ends with it.
                Fate::Waits if self.treatment.changed().await.is_err() => return false,
                Fate::Waits => {}
                Fate::Comes(delay) => {
                    let remains = (came + delay).saturating_duration_since(Instant::now());
                    if remains.is_zero() {
                        return true;
                    }
                    tokio::select! {
                        _ = self.treatment.changed() => {}
                        () = passes(alarm, remains) => return true,
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
