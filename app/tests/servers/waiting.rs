//! Waiting is bounded, and who waits is woken.

use std::time::Duration;

use app::strategies::Entry;
use app::timeouts::Timeouts;
use baton::Baton;
use futures_util::future::join_all;
use redis::AsyncCommands;
use tokio::time::timeout;

use crate::harness::{Instance, LONG, PurchaseRequest, locks_all_rows, stores_of_its_own, until};

const SHORT: Duration = Duration::from_millis(50);

async fn impatient() -> Instance {
    Instance::open(|settings| settings.timeouts.wait = SHORT).await
}

fn busy() -> (u16, String) {
    (503, "busy".to_owned())
}

#[tokio::test]
async fn a_lock_that_is_held_makes_every_redis_lock_busy_and_no_longer_than_it_is_held() {
    let instance = impatient().await;
    let mut redis = instance.redis.clone();
    let hashes = ["lease-no-watchdog", "watchdog"];
    let strings = [
        "setnx",
        "setnx-expire",
        "set-px",
        "token",
        "token-get-del",
        "token-watch",
        "spin",
        "unlock-before-write",
        "fair",
        "fenced",
        "baton",
    ];
    for entry in Entry::all() {
        let (strategy, about, store) = (entry.name, entry.mechanism, entry.store);
        let item = instance.sale(2).await;
        let sold = PurchaseRequest::of(&item).by(&strategy).key("sold");
        let order = instance.buy(&sold).await.order();
        let [handed_on, ..] = Baton::keys(&item);
        let key = match about.name {
            "baton" => handed_on,
            _ => format!("lock:{{{item}}}"),
        };
        let _: () = match about.name {
            hash if hashes.contains(&hash) => redis.hset(&key, "another", 1).await.unwrap(),
            string if strings.contains(&string) => redis.set(&key, "another").await.unwrap(),
            _ => continue,
        };
        let request = PurchaseRequest::of(&item).by(&strategy);
        let answer = instance.buy(&request).await;
        assert_eq!(
            (answer.problem(), answer.header("retry-after")),
            (busy(), "1"),
            "{strategy}"
        );
        assert_eq!(
            instance.ledger(store, &item).await.left_and_sold(),
            (1, 1),
            "{strategy}"
        );
        // Its answer may have been lost.
        assert_eq!(instance.buy(&sold).await.order(), order, "{strategy}");
        let _: () = redis.del(&key).await.unwrap();
        assert_eq!(instance.buy(&request).await.status, 201, "{strategy}");
    }
}

#[tokio::test]
async fn a_row_that_is_locked_makes_every_sql_strategy_busy_and_no_longer_than_it_is_locked() {
    let instance = Instance::on(stores_of_its_own(), |settings| settings.timeouts.wait = SHORT).await;
    let on_sql = Entry::all().into_iter().filter(|entry| entry.store == "sql");
    let on_sql: Vec<_> = on_sql.map(|entry| entry.name).collect();
    assert!(!on_sql.is_empty());
    let (alone, together): (Vec<_>, Vec<_>) = on_sql.iter().partition(|strategy| locks_all_rows(strategy));
    let together = together.into_iter();
    join_all(together.map(|strategy| assert_row_makes_busy(&instance, strategy))).await;
    for strategy in alone {
        assert_row_makes_busy(&instance, strategy).await;
    }
}

async fn assert_row_makes_busy(instance: &Instance, strategy: &str) {
    let item = instance.sale(2).await;
    let request = PurchaseRequest::of(&item).by(strategy);
    let sold = request.clone().key("sold");
    let order = instance.buy(&sold).await.order();
    // One buyer may have only one of them.
    let request = request.buyer("b-2");
    let mut other = instance.sql.begin().await.unwrap();
    sqlx::query("select num from store where id = ? for update")
        .bind(&item)
        .execute(&mut *other)
        .await
        .unwrap();
    let answer = instance.buy(&request).await;
    assert_eq!(
        (answer.problem(), answer.header("retry-after")),
        (busy(), "1"),
        "{strategy}"
    );
    // Its answer may have been lost.
    assert_eq!(instance.buy(&sold).await.order(), order, "{strategy}");
    other.rollback().await.unwrap();
    assert_eq!(
        instance.ledger("sql", &item).await.left_and_sold(),
        (1, 1),
        "{strategy}"
    );
    // Nothing is left of the purchase that was told busy, but that its buyer came once.
    let next = instance.buy(&request.buyer("b-3")).await;
    assert_eq!(next.status, 201, "{strategy}");
}

/// Were the message lost, the waiter would wait for the end of a timeouts and of a lease that the test does not have.
#[tokio::test(flavor = "multi_thread")]
async fn a_watchdog_that_waits_is_woken_by_the_release_at_its_own_instance_and_at_another() {
    let patient = || {
        Instance::open(|settings| {
            settings.timeouts = Timeouts {
                wait: 10 * LONG,
                lease: 20 * LONG,
            }
        })
    };
    let (one, two) = (patient().await, patient().await);
    for waits_at in [&one, &two] {
        let item = one.sale(2).await;
        let request = PurchaseRequest::of(&item).by("watchdog@redis");
        let holder = request.clone().work_ms(300);
        let second = async {
            let exists = || async {
                let mut redis = one.redis.clone();
                redis.exists(format!("lock:{{{item}}}")).await.unwrap()
            };
            until("the first one holds the lock", exists).await;
            waits_at.buy(&request).await
        };
        let both = async { tokio::join!(one.buy(&holder), second) };
        let (first, second) = timeout(LONG, both).await.expect("nobody woke the second one");
        assert_eq!((first.status, second.status), (201, 201), "{}", second.text);
    }
}

/// The same work under a lease that nobody renews shows that the second buyer would have got in.
#[tokio::test(flavor = "multi_thread")]
async fn watchdog_is_exact_when_the_work_outlasts_the_lease_and_what_nobody_renews_is_not() {
    let hasty = || Instance::open(|settings| settings.timeouts.lease = Duration::from_millis(400));
    let (one, two) = (hasty().await, hasty().await);
    for (strategy, sold) in [
        ("watchdog@redis", 1),
        ("lease-no-watchdog@redis", 2),
        ("token@redis", 2),
    ] {
        let item = one.sale(1).await;
        let request = PurchaseRequest::of(&item).by(strategy).work_ms(1_200);
        let answers = tokio::join!(one.buy(&request), two.buy(&request));
        let told = [answers.0.status, answers.1.status].map(|status| i64::from(status == 201));
        assert_eq!(told.iter().sum::<i64>(), sold, "{strategy}: {answers:?}");
        assert_eq!(
            one.ledger("redis", &item).await.left_and_sold(),
            (0, sold),
            "{strategy}"
        );
    }
}

#[tokio::test]
async fn an_instance_opens_however_short_its_patience() {
    let hasty = Instance::open(|settings| settings.timeouts.wait = Duration::from_micros(1)).await;
    let item = hasty.sale(1).await;
    let request = PurchaseRequest::of(&item).by("conditional@sql");
    assert_eq!(hasty.buy(&request).await.status, 201);
}

/// A statement is ended after some seconds, whatever it does. A wait for a row has to end before that, or nobody could say
/// whether anything was written.
#[tokio::test]
async fn a_wait_for_a_row_that_may_last_longer_than_a_statement_otherwise_may_ends_in_busy() {
    let patient = Duration::from_secs(6);
    let instance = Instance::on(stores_of_its_own(), |settings| settings.timeouts.wait = patient).await;
    assert_row_makes_busy(&instance, "conditional@sql").await;
}
