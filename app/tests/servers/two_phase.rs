//! The decision of a two-phase commit, and that no branch stays in doubt.

use std::fs;

use app::domain::{Error, Outcome};
use sqlx::{AssertSqlSafe, Row, query, raw_sql};

use crate::harness::{Instance, LONG, until};
use crate::reconciled::{LEASE, alone, ended, pending, reconciling, settled};
use crate::stopped::{At, Elsewhere, crash};
use crate::store_gone::socket;

const TWO_PHASE: &str = "two-phase@sql+sql";

/// How many branches are prepared at each server, whosever they are.
pub async fn prepared(instance: &Instance) -> [usize; 2] {
    let mut prepared = [0; 2];
    for (n, sql) in [instance.sql.clone(), instance.second_sql()].iter().enumerate() {
        prepared[n] = raw_sql("xa recover").fetch_all(sql).await.unwrap().len();
    }
    prepared
}

/// Closes the connections to the first server that no transaction needs: those to the log, too.
async fn close_idle(instance: &Instance) {
    let idle = query(
        "select id from information_schema.processlist where id <> connection_id() and command = 'Sleep'
             and id not in (select trx_mysql_thread_id from information_schema.innodb_trx)",
    );
    for row in idle.fetch_all(&instance.sql).await.unwrap() {
        // Some may have gone by themselves.
        let _ = raw_sql(AssertSqlSafe(format!("kill {}", row.get::<i64, _>(0))))
            .execute(&instance.sql)
            .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_branch_is_undone_before_the_decision_and_finished_after_it_and_none_stays_in_doubt() {
    let instance = alone().await;
    for (place, finished, undone) in [
        ("xa-prepare+", 0, 1),
        ("decide", 0, 1),
        ("decide+", 1, 0),
        ("xa-commit+", 1, 0),
    ] {
        let item = instance.quiet_sale(1).await;
        crash(instance.stores(), TWO_PHASE, LEASE, (&item, "k"), At::Named(place)).await;
        let ended = ended(&reconciling(&instance).await, &item).await;
        let counted = (&ended["finished"], &ended["undone"], &ended["open"]);
        assert_eq!(counted, (&finished.into(), &undone.into(), &0.into()), "{place}");
        assert!(
            ended["longest_ms"].as_u64().unwrap() >= LEASE.as_millis() as u64,
            "{ended}"
        );
        let ledger = instance.ledger("sql+sql", &item).await;
        assert_eq!(ledger.left_and_sold(), (undone, finished), "{place}");
        assert_eq!(prepared(&instance).await, [0, 0], "{place}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_that_decides_after_the_reconciler_did_finds_a_rollback_and_carries_it_out() {
    let instance = alone().await;
    let item = instance.quiet_sale(1).await;
    let elsewhere = Elsewhere::open(instance.stores(), TWO_PHASE, LEASE, At::Named("decide")).await;
    let decided = async {
        elsewhere.stopped().await;
        assert_eq!(prepared(&instance).await, [1, 1]);
        let reconciling = reconciling(&instance).await;
        pending(&reconciling, &item).await;
        until("the reconciler has decided", async || {
            let rollbacks = query("select count(*) from two_phase where item = ? and decision = 'rollback'");
            let row = rollbacks.bind(&item).fetch_one(&instance.sql).await.unwrap();
            row.get::<i64, _>(0) == 1
        })
        .await;
        elsewhere.release();
    };
    let (late, ()) = tokio::join!(elsewhere.buy(&item, "late"), decided);
    assert!(matches!(late, Err(Error::GivenUp { .. })), "{late:?}");
    settled(&reconciling(&instance).await, &item).await;
    assert_eq!(instance.ledger("sql+sql", &item).await.left_and_sold(), (1, 0));
    assert_eq!(prepared(&instance).await, [0, 0]);
}

/// The result of a purchase whose connections are closed when it is about to decide. `and_then` comes after that.
async fn cut_off(instance: &Instance, item: &str, and_then: impl FnOnce()) -> Result<Outcome, Error> {
    let elsewhere = Elsewhere::open(instance.stores(), TWO_PHASE, LONG, At::Named("decide")).await;
    let cut = async {
        elsewhere.stopped().await;
        close_idle(instance).await;
        and_then();
        elsewhere.release();
    };
    tokio::join!(elsewhere.buy(item, "k"), cut).0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_whose_way_to_the_log_is_cut_finds_out_the_decision() {
    let instance = alone().await;
    let item = instance.quiet_sale(1).await;
    let bought = cut_off(&instance, &item, || {}).await;
    // Its decision never arrived, so there was none, and now there is another one.
    assert!(matches!(bought, Err(Error::GivenUp { .. })), "{bought:?}");
    assert_eq!(prepared(&instance).await, [0, 0]);
    assert_eq!(instance.ledger("sql+sql", &item).await.left_and_sold(), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_that_cannot_ask_the_log_for_its_own_decision_admits_that_it_does_not_know() {
    let instance = alone().await;
    let item = instance.quiet_sale(1).await;
    // No new connection finds the server then; those that are open stay open.
    let socket = socket(instance.stores().sql_url());
    let hide = || fs::rename(&socket, socket.with_extension("moved")).unwrap();
    let bought = cut_off(&instance, &item, hide).await;
    assert!(matches!(bought, Err(Error::Failed { .. })), "{bought:?}");
}

/// `xa recover` shows them all.
#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_branch_of_another_program_is_left_alone() {
    let instance = alone().await;
    let mut somebody = instance.sql.acquire().await.unwrap().detach();
    let prepare = "create table if not exists theirs (id int primary key);
         xa start 'theirs', 'sku', 7; insert into theirs values (1); xa end 'theirs', 'sku', 7; xa prepare 'theirs', 'sku', 7";
    raw_sql(prepare).execute(&mut somebody).await.unwrap();
    drop(somebody);
    let item = instance.quiet_sale(1).await;
    crash(instance.stores(), TWO_PHASE, LEASE, (&item, "k"), At::Named("decide")).await;
    ended(&reconciling(&instance).await, &item).await;
    assert_eq!(prepared(&instance).await, [1, 0]);
}
