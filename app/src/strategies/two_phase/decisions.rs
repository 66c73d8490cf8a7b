//! The log of decisions, in the database of the stock. One row per transaction means one decision: a second one finds
//! the first. Without a row nothing was decided yet, and a rollback may be presumed.

use crate::domain::Error;
use crate::probe::{Probe, Step};
use crate::stores::sql::xa::{Decision, Xid};
use crate::stores::sql::{Connection, Row, query};

pub(super) const DECIDE: Step = Step::command("decide", &["insert"]);
pub(super) const LOOK_UP: Step = Step::command("look-up", &["select"]);

pub(super) const TABLE: &str = include_str!("decisions.sql");

/// Stores a decision. False when there was one before.
pub(super) async fn decide(xid: &Xid, decision: Decision, probe: &Probe, log: &mut Connection) -> Result<bool, Error> {
    let word = match decision {
        Decision::Commit => "commit",
        Decision::Rollback => "rollback",
    };
    let insert = query("insert into two_phase (id, item, decision) values (?, ?, ?)")
        .bind(xid.transaction.to_string())
        .bind(xid.item.as_str())
        .bind(word);
    match probe.step(&DECIDE, xid, log.execute(insert), |_| word).await {
        Ok(_) => Ok(true),
        Err(Error::Duplicate) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the decision. Without one it decides to roll back, and no other decision is possible any more.
pub(super) async fn conclude(xid: &Xid, probe: &Probe, log: &mut Connection) -> Result<Decision, Error> {
    if decide(xid, Decision::Rollback, probe, log).await? {
        return Ok(Decision::Rollback);
    }
    let select =
        query("select 1 from two_phase where id = ? and decision = 'commit'").bind(xid.transaction.to_string());
    let decision = |row: &Option<Row>| match row {
        Some(_) => Decision::Commit,
        None => Decision::Rollback,
    };
    let words = |row: &Option<Row>| format!("{:?}", decision(row)).to_lowercase();
    let row = probe.step(&LOOK_UP, xid, log.fetch(select), words).await?;
    Ok(decision(&row))
}
