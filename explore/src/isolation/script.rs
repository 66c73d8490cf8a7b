//! A script: statements of two or three transactions in a fixed order, and what has to be seen for the anomaly to have happened.

use anyhow::Result;

use super::database::{Database, Session};

/// A row: its id and its units.
pub(super) type Row = (i64, i64);

/// What became of a statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    /// The rows that it found; none for a statement that is no query.
    Rows(Vec<Row>),
    /// The database refused it, and with it the transaction.
    Refused,
}

/// The statements of some transactions.
pub(super) struct Script {
    /// Each statement after the number of its transaction, from 0. Every transaction ends itself.
    pub(super) moves: &'static [(usize, &'static str)],
    /// Whether a transaction writes by a predicate that it has read.
    pub(super) writes_by_predicate: bool,
    /// Whether the anomaly is in what was seen.
    pub(super) happened: fn(&Seen) -> bool,
}

/// What the transactions and a later reader saw.
pub(super) struct Seen {
    said: Vec<Said>,
    after: Vec<Row>,
    all_committed: bool,
}

impl Seen {
    /// Returns the rows that the statement of that place found.
    pub(super) fn rows(&self, place: usize) -> &[Row] {
        match &self.said[place] {
            Said::Rows(rows) => rows,
            Said::Refused => &[],
        }
    }

    /// Returns the units of a row that the statement of that place found.
    pub(super) fn units(&self, place: usize, id: i64) -> Option<i64> {
        let row = self.rows(place).iter().find(|(of, _)| *of == id);
        row.map(|(_, units)| *units)
    }

    /// Returns the rows after all transactions.
    pub(super) fn after(&self) -> &[Row] {
        &self.after
    }

    /// Whether no transaction was refused.
    pub(super) fn all_committed(&self) -> bool {
        self.all_committed
    }
}

impl Script {
    /// Plays it from two fresh rows and says whether the anomaly happened.
    pub(super) async fn happens(&self, database: &Database) -> Result<bool> {
        let mut reader = database.fresh().await?;
        let most = self.moves.iter().map(|(session, _)| session + 1).max().unwrap_or(0);
        let mut sessions = Vec::new();
        for _ in 0..most {
            sessions.push(database.begun().await?);
        }
        let mut said = vec![Said::Refused; self.moves.len()];
        let mut left: Vec<usize> = (0..self.moves.len()).collect();
        while !left.is_empty() || sessions.iter().any(Session::is_waiting) {
            let free = |place: &usize| !sessions[self.moves[*place].0].is_waiting();
            // Where all wait for each other, the database is about to end one of them.
            if let Some(next) = left.iter().position(free) {
                let place = left.remove(next);
                let (session, statement) = self.moves[place];
                sessions[session].ask(place, statement);
            }
            settle(&mut sessions, database, &mut said).await?;
        }
        let all_committed = !said.contains(&Said::Refused);
        let after = reader.read_all().await?;
        Ok((self.happened)(&Seen {
            said,
            after,
            all_committed,
        }))
    }
}

/// Waits until each session has its answer, or the database says that it waits for a lock.
async fn settle(sessions: &mut [Session], database: &Database, said: &mut [Said]) -> Result<()> {
    loop {
        let mut is_settled = true;
        for session in sessions.iter_mut() {
            if let Some((place, answer)) = session.answered().await? {
                said[place] = answer;
            }
            is_settled &= !session.is_waiting() || database.lets_wait(session).await?;
        }
        if is_settled {
            return Ok(());
        }
        tokio::task::yield_now().await;
    }
}
