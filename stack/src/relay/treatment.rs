//! What a relay does with what it is to pass on.

use std::time::Duration;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// What the store is told.
    ToStore,
    /// What the store says.
    FromStore,
}

impl Direction {
    /// Both ways.
    pub const BOTH: [Direction; 2] = [Direction::ToStore, Direction::FromStore];
}

/// All of it at one time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Treatment {
    delays: [Duration; 2],
    /// Connections with a smaller number are silent.
    pub(super) silent_below: u64,
    pub(super) loses_replies: bool,
    /// How often all connections were cut.
    pub(super) cuts: u64,
    pub(super) is_over: bool,
}

/// What is done with one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is passed on so long after it came.
    Comes(Duration),
    /// It waits for another treatment.
    Waits,
    /// It is thrown away.
    Lost,
}

impl Treatment {
    /// Nothing is done to anything any more; what was cut stays cut.
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

    /// What happens to a piece on that connection.
    pub(super) fn fate(&self, connection: u64, direction: Direction) -> Fate {
        if connection < self.silent_below {
            Fate::Waits
        } else if self.loses_replies && direction == Direction::FromStore {
            Fate::Lost
        } else {
            Fate::Comes(self.delays[direction as usize])
        }
    }
}
