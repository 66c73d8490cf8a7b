//! A connection whose last statement was never answered.

use app::stores::sql::{WRITE, query};
use app::stores::{Connect, Sql, Stock, Store};
use futures_util::FutureExt;
use stack::Stores;

use crate::harness::{LONG, fresh, name, stores};
use crate::locks::probe;

async fn connected(stores: &Stores) -> Sql {
    let instance = name("app-1");
    let to = Connect {
        others: &[],
        url: stores.sql_url(),
        instance: &instance,
        wait: LONG,
    };
    Sql::connect(to).await.unwrap()
}

#[tokio::test]
async fn nothing_is_asked_after_a_statement_that_was_never_answered_and_its_lock_is_given_up() {
    let (stores, item, probe) = (stores(), name(&fresh("item")), probe());
    let sql = connected(&stores).await;
    sql.open(&item, 1).await.unwrap();
    let write = || query("update store set num = 0 where id = ?").bind(item.as_str());
    let words = |rows: &u64| rows.to_string();
    let (mut holder, mut given_up) = (
        sql.connected(&probe).await.unwrap(),
        sql.connected(&probe).await.unwrap(),
    );
    // From now on MariaDB knows the statement, and executes it when it comes.
    let prepared = probe.step(&WRITE, &item, given_up.execute(write()), words).await;
    prepared.unwrap();
    let begun = probe.step(&WRITE, &item, holder.begin(), |()| "begun").await;
    begun.unwrap();
    let held = probe.step(&WRITE, &item, holder.execute(write()), words).await;
    held.unwrap();

    assert!(Sql::get_lock(&item, LONG, &probe, &mut given_up).await.unwrap());
    let written = probe.step(&WRITE, &item, given_up.execute(write()), words);
    assert!(written.now_or_never().is_none(), "the row is locked");
    // Now it can be answered.
    holder.close();
    assert!(Sql::release_lock(&item, &probe, &mut given_up).await.is_err());
    drop(given_up);
    let other = connected(&stores).await;
    let mut other = other.connected(&probe).await.unwrap();
    assert!(Sql::get_lock(&item, LONG, &probe, &mut other).await.unwrap());
}
