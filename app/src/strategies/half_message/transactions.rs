//! The local transactions of half messages, in the database of the stock, and the producer's answer about one.

use super::broker::{Ending, Half};
use crate::domain::{Error, Purchase};
use crate::probe::{Probe, Step};
use crate::stores::sql::{Connection, Row, query, rows};

pub(super) const ENTER: Step = Step::command("enter", &["insert"]);
pub(super) const LOOK: Step = Step::command("look", &["select"]);
pub(super) const ANSWER: Step = Step::command("answer", &["insert"]);
pub(super) const LOOK_UP: Step = Step::command("look-up", &["select"]);

pub(super) const TABLE: &str = include_str!("transactions.sql");

/// Enters the transaction in itself. False when the order has one, or when the broker was told that it is rolled back.
pub(super) async fn enter(
    half: &Half,
    purchase: &Purchase,
    probe: &Probe,
    sql: &mut Connection,
) -> Result<bool, Error> {
    let insert = query("insert into half_messages (message, order_id, item) values (?, ?, ?)")
        .bind(half.id.to_string())
        .bind(purchase.order.to_string())
        .bind(half.item.as_str());
    match probe.step(&ENTER, &half.id, sql.execute(insert), rows).await {
        Ok(_) => Ok(true),
        Err(Error::Duplicate) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether a transaction of this order has committed.
pub(super) async fn has_taken(purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
    let select = query("select 1 from half_messages where order_id = ?").bind(purchase.order.to_string());
    let words = |row: &Option<Row>| if row.is_some() { "taken before" } else { "none" };
    let row = probe.step(&LOOK, &purchase.order, sql.fetch(select), words).await?;
    Ok(row.is_some())
}

/// Answers the broker. A transaction that is not there is rolled back for good: its place is taken. The insert waits for
/// a transaction that is still open.
pub(super) async fn answer(half: &Half, probe: &Probe, sql: &mut Connection) -> Result<Ending, Error> {
    let insert = query("insert into half_messages (message, item) values (?, ?)")
        .bind(half.id.to_string())
        .bind(half.item.as_str());
    match probe
        .step(&ANSWER, &half.id, sql.execute(insert), |_| "rolled back")
        .await
    {
        Ok(_) => return Ok(Ending::RollBack),
        Err(Error::Duplicate) => {}
        Err(error) => return Err(error),
    }
    let select =
        query("select 1 from half_messages where message = ? and order_id is not null").bind(half.id.to_string());
    let words = |row: &Option<Row>| if row.is_some() { "committed" } else { "rolled back" };
    let row = probe.step(&LOOK_UP, &half.id, sql.fetch(select), words).await?;
    Ok(row.map_or(Ending::RollBack, |_| Ending::Commit))
}
