//! What a relay does with the bytes that it receives.

use std::time::Duration;

/// The direction of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Requests to the store.
    ToStore,
    /// Replies of the store.
    FromStore,
}

impl Direction {
    /// Both directions.
    pub const BOTH: [Direction; 2] = [Direction::ToStore, Direction::FromStore];
}

/// The state of a relay at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Treatment {
    delays: [Duration; 2],
    /// Connections with a smaller number are silent.
    pub(super) silent_below: u64,
    pub(super) loses_replies: bool,
    pub(super) keeps_requests: bool,
    /// How often all connections were cut.
    pub(super) cuts: u64,
    pub(super) is_over: bool,
}

/// The fate of one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is passed on this long after it arrived.
    Comes(Duration),
    /// It waits for a change of the treatment.
    Waits,
    /// It is dropped.
    Lost,
    /// It is kept, and its client gets no reply.
    Kept,
}

impl Treatment {
    /// Returns a treatment that passes everything; cut connections stay cut.
    pub(super) fn passing(self) -> Treatment {
        Treatment {
            cuts: self.cuts,
            is_over: self.is_over,
            ..Treatment::default()
        }
    }

    pub(super) fn delay_mut(&mut self, direction: Direction) -> &mut Duration {
        &mut self.delays[direction as usize]
    }

    /// Returns the fate of a piece on that connection.
    pub(super) fn fate(&self, connection: u64, direction: Direction) -> Fate {
        if connection < self.silent_below {
            Fate::Waits
        } else if self.loses_replies && direction == Direction::FromStore {
            Fate::Lost
        } else if self.keeps_requests && direction == Direction::ToStore {
            Fate::Kept
        } else {
            Fate::Comes(self.delays[direction as usize])
        }
    }
}
