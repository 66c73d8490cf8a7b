//! XA: a transaction of one server that is a branch of a larger one. A prepared branch outlives its connection and even
//! the server, with all its locks, until it is committed or rolled back.

mod branch;
mod statements;
mod xid;

pub use self::branch::{Branch, XA_COMMIT, XA_PREPARE, XA_ROLLBACK, XA_START};
pub use self::statements::Decision;
pub use self::xid::{Protocol, Xid};
use super::Sql;
use crate::domain::Error;
use crate::probe::{Probe, Step};

/// Lists the prepared branches of a server.
pub const XA_RECOVER: Step = Step::command("xa-recover", &["xa"]).looking_for_work();

impl Sql {
    /// Lists the prepared branches of a protocol, including those whose purchase has yet to decide.
    ///
    /// # Errors
    /// When MariaDB does not answer.
    pub async fn recover(&self, protocol: Protocol, probe: &Probe) -> Result<Vec<Xid>, Error> {
        let mut sql = self.connected(probe).await?;
        let words = |found: &Vec<Xid>| format!("{} prepared", found.len());
        probe.step(&XA_RECOVER, &"xa", sql.recover(protocol), words).await
    }

    /// Lists the same for an operator, which is not a step of a purchase.
    ///
    /// # Errors
    /// When MariaDB does not answer.
    pub async fn prepared(&self, protocol: Protocol) -> Result<Vec<Xid>, Error> {
        self.lend().await?.recover(protocol).await
    }

    /// Ends a prepared branch as decided. Returns false where it does not exist, or where its purchase still holds the
    /// connection: no other connection can end it then.
    ///
    /// # Errors
    /// When MariaDB refuses or does not answer.
    pub async fn end_prepared(&self, xid: &Xid, decision: Decision, probe: &Probe) -> Result<bool, Error> {
        let mut sql = self.connected(probe).await?;
        let (step, word) = match decision {
            Decision::Commit => (&XA_COMMIT, "committed"),
            Decision::Rollback => (&XA_ROLLBACK, "rolled back"),
        };
        let words = |ended: &bool| if *ended { word } else { "not to be ended here" };
        probe.step(step, xid, sql.end_prepared(xid, decision), words).await
    }
}
