//! Famous mistakes, each in the one interleaving that shows it, and beside it the row that the same interleaving does no harm.

use std::time::Duration;

use app::domain::Outcome;
use app::timeouts::Timeouts;

use crate::harness::{Instance, PATIENT, stores, stores_of_its_own};
use crate::held::{Hold, Stage, ended};

const HASTY: Timeouts = Timeouts {
    wait: Duration::from_millis(50),
    ..PATIENT
};

fn sold(remaining: i64) -> Outcome {
    Outcome::Sold { remaining }
}

/// A is held up before a step, B buys one, A goes on. Returns the outcome of A, and the ledger then. One unit is for sale.
async fn overtaken(strategy: &str, step: &'static str, store: &str) -> (Outcome, (i64, i64)) {
    let instance = Instance::lab().await;
    let item = instance.sale(1).await;
    let a = Hold::before(step, "a");
    let stage = Stage::with(stores(), PATIENT, std::slice::from_ref(&a)).await;
    let begun = stage.begin(strategy, &item, "a", 1).await;
    a.reached().await;
    assert_eq!(stage.buy(strategy, &item, "b", 1).await, sold(0), "{strategy}");
    a.let_go();
    (ended(begun).await, instance.ledger(store, &item).await.left_and_sold())
}

#[tokio::test]
async fn a_plain_update_is_lost_and_with_snapshot_isolation_it_is_refused() {
    assert_eq!(overtaken("lost-update@sql", "write", "sql").await, (sold(0), (0, 2)));
    let refused = overtaken("lost-update-snapshot@sql", "write", "sql").await;
    assert_eq!(refused, (Outcome::Busy, (0, 1)));
}

#[tokio::test]
async fn an_update_of_no_rows_is_taken_for_a_sale_where_the_rows_are_not_counted() {
    let ignored = overtaken("ignored-result@sql", "compare-set", "sql").await;
    assert_eq!(ignored, (sold(0), (0, 2)));
    for (strategy, step, store) in [
        ("compare-num@sql", "compare-set", "sql"),
        ("compare-version@sql", "compare-version", "sql"),
        ("version-cas@redis", "put", "redis"),
        ("watch-hot-hash-checked@redis", "exec", "redis"),
    ] {
        let looked_at = overtaken(strategy, step, store).await;
        assert_eq!(looked_at, (Outcome::SoldOut, (0, 1)), "{strategy}");
    }
}

/// B gets the lock and reads when A has given it back, and A's commit is still to come.
#[tokio::test]
async fn a_lock_that_is_released_before_the_commit_lets_the_next_purchase_read_the_old_stock() {
    for (strategy, second) in [
        ("unlock-before-commit@sql", (sold(0), (0, 2))),
        ("unlock-before-commit-snapshot@sql", (Outcome::Busy, (0, 1))),
    ] {
        let instance = Instance::lab().await;
        let item = instance.sale(1).await;
        let (a, b) = (Hold::before("commit", "a"), Hold::before("write", "b"));
        let stage = Stage::with(stores(), PATIENT, &[a.clone(), b.clone()]).await;
        let first = stage.begin(strategy, &item, "a", 1).await;
        a.reached().await;
        let begun = stage.begin(strategy, &item, "b", 1).await;
        b.reached().await;
        a.go_on();
        assert_eq!(ended(first).await, sold(0), "{strategy}");
        b.go_on();
        let outcome = ended(begun).await;
        let ledger = instance.ledger("sql", &item).await.left_and_sold();
        assert_eq!((outcome, ledger), second, "{strategy}");
    }
}

/// Both wait for the same lock. One has read before that, and the other one has only begun.
#[tokio::test]
async fn a_snapshot_that_is_older_than_the_lock_shows_the_old_stock_under_it() {
    let stale = overtaken("snapshot-before-lock@sql", "get-lock", "sql").await;
    assert_eq!(stale, (sold(0), (0, 2)));
    let fresh = overtaken("unlock-before-commit@sql", "get-lock", "sql").await;
    assert_eq!(fresh, (Outcome::SoldOut, (0, 1)));
}

#[tokio::test]
async fn a_retry_inside_its_snapshot_reads_the_same_number_for_ever_and_keeps_the_row_from_others() {
    let instance = Instance::lab().await;
    let item = instance.sale(5).await;
    let a = Hold::before("compare-set", "a");
    let strategy = "retry-in-snapshot@sql";
    let stage = Stage::with(stores(), PATIENT, std::slice::from_ref(&a)).await;
    let begun = stage.begin(strategy, &item, "a", 1).await;
    a.reached().await;
    assert_eq!(stage.buy(strategy, &item, "b", 1).await, sold(4));
    for _ in 0..3 {
        a.go_on();
        a.reached().await;
    }
    assert_eq!(a.read(), ["left 5"; 4], "four are left by now");
    let hasty = Stage::with(stores(), HASTY, &[]).await;
    assert_eq!(hasty.buy(strategy, &item, "c", 1).await, Outcome::Busy);
    // Its connection ends with it, and with that its transaction.
    begun.abort();
    assert_eq!(stage.buy(strategy, &item, "c", 1).await, sold(3));
    assert_eq!(instance.ledger("sql", &item).await.left_and_sold(), (3, 2));
}

#[tokio::test]
async fn a_row_that_is_found_without_an_index_is_locked_together_with_its_neighbours() {
    for (strategy, neighbour) in [("for-update@sql", sold(0)), ("for-update-unindexed@sql", Outcome::Busy)] {
        let stores = stores_of_its_own(&[]);
        let instance = Instance::on(stores.clone(), |_| {}).await;
        let items = [instance.sale(1).await, instance.sale(1).await];
        let a = Hold::before("write", "a");
        let stage = Stage::with(stores, HASTY, std::slice::from_ref(&a)).await;
        let begun = stage.begin(strategy, &items[0], "a", 1).await;
        a.reached().await;
        assert_eq!(stage.buy(strategy, &items[1], "b", 1).await, neighbour, "{strategy}");
        a.go_on();
        assert_eq!(ended(begun).await, sold(0), "{strategy}");
    }
}

#[tokio::test]
async fn a_check_that_is_older_than_the_watch_sells_below_zero() {
    let hot = overtaken("watch-hot-hash@redis", "watch", "redis").await;
    assert_eq!(hot, (sold(-1), (-1, 2)));
    for strategy in ["watch-hot-hash-checked@redis", "watch-multi@redis"] {
        let checked = overtaken(strategy, "watch", "redis").await;
        assert_eq!(checked, (Outcome::SoldOut, (0, 1)), "{strategy}");
    }
}

/// B buys another item than A, which is about to write.
#[tokio::test]
async fn a_sale_of_one_item_spoils_the_sale_of_another_where_all_items_are_one_key() {
    for (strategy, is_spoilt) in [
        ("watch-hot-hash@redis", true),
        ("watch-hot-hash-checked@redis", true),
        ("watch-multi@redis", false),
    ] {
        let instance = Instance::lab().await;
        let items = [instance.sale(1).await, instance.sale(1).await];
        let a = Hold::before("exec", "a");
        let stage = Stage::with(stores(), PATIENT, std::slice::from_ref(&a)).await;
        let begun = stage.begin(strategy, &items[0], "a", 1).await;
        a.reached().await;
        assert_eq!(stage.buy(strategy, &items[1], "b", 1).await, sold(0), "{strategy}");
        if is_spoilt {
            a.go_on();
            a.reached().await;
        }
        a.let_go();
        assert_eq!(ended(begun).await, sold(0), "{strategy}");
    }
}

#[tokio::test]
async fn a_buyer_is_refused_while_the_units_that_it_could_have_are_on_their_way_back() {
    let instance = Instance::lab().await;
    let item = instance.sale(3).await;
    let a = Hold::before("undo", "a");
    let stage = Stage::with(stores(), PATIENT, std::slice::from_ref(&a)).await;
    let begun = stage.begin("decr-undo@redis", &item, "a", 5).await;
    a.reached().await;
    let meanwhile = stage.buy("decr-undo@redis", &item, "b", 1).await;
    a.go_on();
    assert_eq!((ended(begun).await, meanwhile), (Outcome::SoldOut, Outcome::SoldOut));
    assert_eq!(stage.buy("decr-undo@redis", &item, "b", 1).await, sold(2));
}
