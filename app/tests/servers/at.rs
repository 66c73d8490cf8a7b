//! The rows that AT puts back, those that it leaves as they are, and branches that come too late for it.

use app::domain::Error;
use sqlx::{MySqlPool, Row, query};

use crate::harness::{Instance, LONG, until};
use crate::reconciled::{LEASE, alone, ended, pending, reconciling, settled};
use crate::stopped::{At, Elsewhere, crash};

pub const AT: &str = "at@sql+sql";
pub const AT_FOR_UPDATE: &str = "at-for-update@sql+sql";
const BOTH: [&str; 2] = [AT, AT_FOR_UPDATE];

/// How many rows of the undo log hold images of an item.
async fn images(sql: &MySqlPool, item: &str) -> i64 {
    let count = query("select count(*) from undo_log where item = ? and after_image is not null");
    count.bind(item).fetch_one(sql).await.unwrap().get(0)
}

/// Ends the lease of a transaction that a crash left.
pub async fn expire(instance: &Instance, item: &str) {
    let update = query("update at_transactions set deadline = now(6) - interval 1 second where item = ?");
    update.bind(item).execute(&instance.sql).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_committed_before_a_crash_is_restored_unless_the_transaction_was_decided() {
    let instance = alone().await;
    for (place, before, logged, after, finished) in [
        ("record", (0, 0), [1, 0], (1, 0), 0),
        ("decide", (0, 1), [1, 1], (1, 0), 0),
        ("decide+", (0, 1), [1, 1], (0, 1), 1),
        ("end", (0, 1), [1, 0], (0, 1), 1),
    ] {
        let item = instance.sale(1).await;
        crash(instance.stores(), AT, LONG, (&item, "k"), At::Named(place)).await;
        let ledger = async || instance.ledger("sql+sql", &item).await.left_and_sold();
        let logs = async || {
            [
                images(&instance.sql, &item).await,
                images(&instance.second_sql(), &item).await,
            ]
        };
        assert_eq!((ledger().await, logs().await), (before, logged), "{place}");
        assert_eq!(pending(&instance, &item).await["open"], 1, "{place}");
        expire(&instance, &item).await;
        let ended = ended(&instance, &item).await;
        assert_eq!(ended["finished"], finished, "{place}");
        assert_eq!(ended["open"], 0, "{place}");
        assert_eq!((ledger().await, logs().await), (after, [0, 0]), "{place}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_was_written_without_the_global_lock_is_left_as_it_is() {
    let instance = alone().await;
    let item = instance.sale(5).await;
    crash(instance.stores(), AT, LONG, (&item, "k"), At::Named("record")).await;
    let write = query("update store set num = 3 where id = ?").bind(&item);
    write.execute(&instance.sql).await.unwrap();
    expire(&instance, &item).await;
    until("the dirty write was seen", async || {
        let state = query("select cast(state as char) from at_transactions where item = ?").bind(&item);
        let row = state.fetch_one(&instance.sql).await.unwrap();
        row.get::<String, _>(0) == "dirty"
    })
    .await;
    assert_eq!(instance.ledger("sql+sql", &item).await.left_and_sold(), (3, 0));
    assert_eq!(images(&instance.sql, &item).await, 1);
    let pending = pending(&instance, &item).await;
    assert_eq!((&pending["open"], &pending["undone"]), (&1.into(), &0.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_comes_after_its_transaction_was_rolled_back_is_refused() {
    let instance = alone().await;
    for (strategy, place) in BOTH.into_iter().flat_map(|at| [(at, "record"), (at, "decide")]) {
        let item = instance.quiet_sale(1).await;
        let elsewhere = Elsewhere::open(instance.stores(), strategy, LEASE, At::Named(place)).await;
        let undone = async {
            elsewhere.stopped().await;
            settled(&reconciling(&instance).await, &item).await;
            elsewhere.release();
        };
        let (late, ()) = tokio::join!(elsewhere.buy(&item, "late"), undone);
        assert!(
            matches!(late, Err(Error::GivenUp { .. })),
            "{strategy} {place}: {late:?}"
        );
        settled(&reconciling(&instance).await, &item).await;
        let ledger = instance.ledger("sql+sql", &item).await;
        assert_eq!(ledger.left_and_sold(), (1, 0), "{strategy} {place}");
    }
}

/// It has the global lock, and its local transaction is open: the rollback waits for that.
#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_commits_after_its_transaction_was_decided_is_undone() {
    let instance = alone().await;
    for strategy in BOTH {
        let item = instance.quiet_sale(1).await;
        let elsewhere = Elsewhere::open(instance.stores(), strategy, LEASE, At::Named("commit")).await;
        let decided = async {
            elsewhere.stopped().await;
            let reconciling = reconciling(&instance).await;
            assert_eq!(pending(&reconciling, &item).await["open"], 1, "{strategy}");
            until("it was decided", async || {
                let state = query("select cast(state as char) from at_transactions where item = ?").bind(&item);
                let row = state.fetch_one(&instance.sql).await.unwrap();
                row.get::<String, _>(0) == "rolling back"
            })
            .await;
            elsewhere.release();
            settled(&reconciling, &item).await;
        };
        let (late, ()) = tokio::join!(elsewhere.buy(&item, "late"), decided);
        assert!(matches!(late, Err(Error::GivenUp { .. })), "{strategy}: {late:?}");
        let ledger = instance.ledger("sql+sql", &item).await;
        assert_eq!(ledger.left_and_sold(), (1, 0), "{strategy}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_whose_transaction_is_being_rolled_back_does_not_commit_it() {
    let instance = alone().await;
    for strategy in BOTH {
        let item = instance.quiet_sale(1).await;
        let elsewhere = Elsewhere::open(instance.stores(), strategy, LEASE, At::Named("decide")).await;
        let decided = async {
            elsewhere.stopped().await;
            let decide = query("update at_transactions set state = 'rolling back' where item = ?").bind(&item);
            decide.execute(&instance.sql).await.unwrap();
            elsewhere.release();
        };
        let (late, ()) = tokio::join!(elsewhere.buy(&item, "late"), decided);
        assert!(matches!(late, Err(Error::GivenUp { .. })), "{strategy}: {late:?}");
        settled(&reconciling(&instance).await, &item).await;
        let ledger = instance.ledger("sql+sql", &item).await;
        assert_eq!(ledger.left_and_sold(), (1, 0), "{strategy}");
    }
}

/// The stopped purchase finds an order of another transaction that may still be rolled back.
#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_that_lost_the_global_lock_does_not_say_that_it_was_sold_before() {
    let instance = alone().await;
    for strategy in BOTH {
        let item = instance.quiet_sale(1).await;
        let elsewhere = Elsewhere::open(instance.stores(), strategy, LEASE, At::Named("record")).await;
        let overtaken = async {
            elsewhere.stopped().await;
            settled(&reconciling(&instance).await, &item).await;
            crash(instance.stores(), strategy, LONG, (&item, "k"), At::Named("decide")).await;
            elsewhere.release();
        };
        let (late, ()) = tokio::join!(elsewhere.buy(&item, "k"), overtaken);
        assert!(matches!(late, Err(Error::GivenUp { .. })), "{strategy}: {late:?}");
    }
}
