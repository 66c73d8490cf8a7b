//! One branch, on the connection that began it.

use super::Xid;
use crate::domain::Error;
use crate::probe::{Probe, Role, Step};
use crate::stores::sql::Connection;

/// Begins a branch.
pub const XA_START: Step = Step::command("xa-start", &["xa"]);
/// Ends its work and makes it durable, undecided.
pub const XA_PREPARE: Step = Step::command("xa-prepare", &["xa"]);
/// Makes it visible.
pub const XA_COMMIT: Step = Step::command("xa-commit", &["xa"]).plays(Role::Commit);
/// Takes it back.
pub const XA_ROLLBACK: Step = Step::command("xa-rollback", &["xa"]);

/// A branch that was begun and not ended. When it is dropped its connection is closed: MariaDB rolls it back, but for one that
/// is prepared, which stays until it is recovered.
pub struct Branch {
    sql: Connection,
    xid: Xid,
    /// Whether it can still work: `xa end` was not sent.
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

    /// What works in it.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.sql
    }

    /// `xa end`: it has done its work.
    ///
    /// # Errors
    /// When MariaDB refuses, because it gave the branch up, or does not answer.
    pub async fn end(&mut self, step: &Step, probe: &Probe) -> Result<(), Error> {
        let end = self.sql.xa(format!("xa end {}", self.xid));
        probe.step(step, &self.xid, end, |()| "ended").await?;
        self.is_active = false;
        Ok(())
    }

    /// `xa prepare`, and `xa end` before it unless it was sent.
    ///
    /// # Errors
    /// When MariaDB refuses. When it does not answer it may be prepared.
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
    /// When MariaDB does not answer: it does the same by itself then, unless the branch is prepared.
    pub async fn roll_back(mut self, probe: &Probe) -> Result<(), Error> {
        let statements = self.after_its_end("xa rollback");
        let rollback = self.sql.xa_over(statements);
        probe.step(&XA_ROLLBACK, &self.xid, rollback, |()| "rolled back").await
    }

    /// In one round trip.
    fn after_its_end(&self, statement: &str) -> String {
        let xid = &self.xid;
        match self.is_active {
            true => format!("xa end {xid}; {statement} {xid}"),
            false => format!("{statement} {xid}"),
        }
    }
}
