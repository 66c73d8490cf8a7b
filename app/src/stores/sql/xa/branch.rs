//! One branch, on the connection that began it.

use super::Xid;
use crate::domain::Error;
use crate::probe::{Probe, Role, Step};
use crate::stores::sql::Connection;

/// Begins a branch.
pub const XA_START: Step = Step::command("xa-start", &["xa"]);
/// Makes its work durable, but not decided.
pub const XA_PREPARE: Step = Step::command("xa-prepare", &["xa"]);
/// Commits a branch.
pub const XA_COMMIT: Step = Step::command("xa-commit", &["xa"]).plays(Role::Commit);
/// Rolls a branch back.
pub const XA_ROLLBACK: Step = Step::command("xa-rollback", &["xa"]);

/// A branch that has begun and not ended. Dropping it closes its connection: MariaDB then rolls it back, except when it
/// is prepared. A prepared branch stays until it is recovered.
pub struct Branch {
    sql: Connection,
    xid: Xid,
    /// Whether it accepts statements: `xa end` was not sent.
    is_active: bool,
}

impl Branch {
    /// `xa start`
    ///
    /// # Errors
    /// When MariaDB refuses or does not answer.
    pub async fn start(mut sql: Connection, xid: &Xid, probe: &Probe) -> Result<Self, Error> {
        let start = sql.xa_start(xid);
        probe.step(&XA_START, xid, start, |()| "begun").await?;
        Ok(Self {
            sql,
            xid: xid.clone(),
            is_active: true,
        })
    }

    /// Returns the connection for its statements.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.sql
    }

    /// `xa end`: its work is done.
    ///
    /// # Errors
    /// When MariaDB does not answer, or refuses because it gave up the branch.
    pub async fn end(&mut self, step: &Step, probe: &Probe) -> Result<(), Error> {
        let end = self.sql.xa(format!("xa end {}", self.xid));
        probe.step(step, &self.xid, end, |()| "ended").await?;
        self.is_active = false;
        Ok(())
    }

    /// `xa prepare`, and `xa end` before it unless it was sent.
    ///
    /// # Errors
    /// When MariaDB refuses or does not answer. Without an answer the branch may be prepared.
    pub async fn prepare(&mut self, step: &Step, probe: &Probe) -> Result<(), Error> {
        let statements = self.after_its_end("xa prepare");
        let prepare = self.sql.xa(statements);
        probe.step(step, &self.xid, prepare, |()| "prepared").await?;
        self.is_active = false;
        Ok(())
    }

    /// `xa commit`
    ///
    /// # Errors
    /// When MariaDB does not answer: the branch then waits to be recovered.
    pub async fn commit(mut self, step: &Step, probe: &Probe) -> Result<(), Error> {
        let commit = self.sql.xa_over(format!("xa commit {}", self.xid));
        probe.step(step, &self.xid, commit, |()| "committed").await
    }

    /// `xa rollback`, and `xa end` before it unless it was sent.
    ///
    /// # Errors
    /// When MariaDB does not answer: it then rolls back by itself, unless the branch is prepared.
    pub async fn roll_back(mut self, probe: &Probe) -> Result<(), Error> {
        let statements = self.after_its_end("xa rollback");
        let rollback = self.sql.xa_over(statements);
        probe.step(&XA_ROLLBACK, &self.xid, rollback, |()| "rolled back").await
    }

    /// Returns the statement, after `xa end` where that was not sent: both go in one round trip.
    fn after_its_end(&self, statement: &str) -> String {
        let xid = &self.xid;
        match self.is_active {
            true => format!("xa end {xid}; {statement} {xid}"),
            false => format!("{statement} {xid}"),
        }
    }
}
