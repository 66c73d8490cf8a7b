//! A wait is bounded, and a purchase that waits is woken.

use std::sync::Arc;
use std::time::Duration;

use app::guards::Released;
use app::mechanism::Family;
use app::probe::{Role, Step};
use app::strategies::Entry;
use app::timeouts::Timeouts;
use futures_util::future::join_all;
use redis::AsyncCommands;
use stack::Stores;
use tokio::time::timeout;

use crate::harness::{
    Instance, LONG, PATIENT, PurchaseRequest, SHORT, is_tried, locks_all_items, name, services_of_its_own,
    stores_of_its_own, until,
};
use crate::locks::{guard, probe};

async fn impatient(stores: Arc<Stores>) -> Instance {
    Instance::on(stores, |settings| settings.timeouts.wait = SHORT).await
}

fn busy() -> (u16, String) {
    (503, "busy".to_owned())
}

/// Buys one unit with a key, so that the purchase can be sent again. Its order.
async fn sold(instance: &Instance, request: &PurchaseRequest, strategy: &str) -> String {
    let sold = instance.buy_until_served(request).await;
    assert_eq!(sold.status, 201, "{strategy}: {}", sold.text);
    sold.order()
}

/// Fails unless a buyer that wants a unit is told busy, and a buyer whose answer was lost learns of the order.
async fn assert_busy(instance: &Instance, request: &PurchaseRequest, sold: (&PurchaseRequest, &str), strategy: &str) {
    let answer = instance.buy(request).await;
    let told = (answer.problem(), answer.header("retry-after"));
    assert_eq!(told, (busy(), "1"), "{strategy}: {}", answer.text);
    let (sold, order) = sold;
    let again = instance.buy_until_served(sold).await;
    assert_eq!(again.order(), order, "{strategy}: {}", again.text);
}

/// Whether a strategy asks a service for the lock of an item. A lock of a buyer does not keep another buyer out.
fn has_lock_of_item(entry: &Entry) -> bool {
    let asks = |step: &Step| step.role == Some(Role::Lock) && !step.sends.is_empty();
    entry.is_guarded() && entry.mechanism.family != Family::BuyerLimit && entry.steps.iter().any(asks)
}

#[tokio::test]
async fn a_lock_that_is_held_makes_every_purchase_busy_and_no_longer_than_it_is_held() {
    let instance = impatient(services_of_its_own()).await;
    let services = &instance.shop.world.services;
    let locks = Entry::all().into_iter().filter(has_lock_of_item);
    let usable = locks.filter(|entry| is_tried(entry.mechanism.name) && entry.missing(services).is_none());
    join_all(usable.map(|entry| assert_lock_makes_busy(&instance, entry))).await;
}

async fn assert_lock_makes_busy(instance: &Instance, entry: Entry) {
    let strategy = &entry.name;
    let item = instance.quiet_sale(2).await;
    let request = PurchaseRequest::of(&item).by(strategy);
    let keyed = request.clone().key("sold");
    let order = sold(instance, &keyed, strategy).await;
    let request = request.buyer("b-2");
    let holders = guard(instance, entry.mechanism.name, PATIENT).await;
    let held = holders.take(&name(&item), &probe()).await;
    assert_busy(instance, &request, (&keyed, &order), strategy).await;
    let ledger = instance.ledger(entry.store, &item).await;
    assert_eq!(ledger.left_and_sold(), (1, 1), "{strategy}");
    held.release(&probe(), Released::InTime).await;
    let next = instance.buy_until_served(&request).await;
    assert_eq!(next.status, 201, "{strategy}: {}", next.text);
}

#[tokio::test]
async fn a_row_that_is_locked_makes_every_sql_strategy_busy_and_no_longer_than_it_is_locked() {
    let instance = impatient(services_of_its_own()).await;
    let services = &instance.shop.world.services;
    let on_sql = Entry::all().into_iter().filter(|entry| entry.store == "sql");
    let usable = on_sql.filter(|entry| entry.missing(services).is_none());
    let (alone, together): (Vec<_>, Vec<_>) = usable.partition(locks_all_items);
    assert!(!together.is_empty());
    join_all(
        together
            .iter()
            .map(|entry| assert_row_makes_busy(&instance, &entry.name)),
    )
    .await;
    for entry in alone {
        assert_row_makes_busy(&instance, &entry.name).await;
    }
}

async fn assert_row_makes_busy(instance: &Instance, strategy: &str) {
    let item = instance.quiet_sale(2).await;
    let request = PurchaseRequest::of(&item).by(strategy);
    let keyed = request.clone().key("sold");
    let order = sold(instance, &keyed, strategy).await;
    // One buyer may have only one of them.
    let request = request.buyer("b-2");
    let mut other = instance.sql.begin().await.unwrap();
    sqlx::query("select num from store where id = ? for update")
        .bind(&item)
        .execute(&mut *other)
        .await
        .unwrap();
    assert_busy(instance, &request, (&keyed, &order), strategy).await;
    other.rollback().await.unwrap();
    assert_eq!(
        instance.ledger("sql", &item).await.left_and_sold(),
        (1, 1),
        "{strategy}"
    );
    // Nothing is left of the purchase that was told busy, but that its buyer came once.
    let next = instance.buy_until_served(&request.buyer("b-3")).await;
    assert_eq!(next.status, 201, "{strategy}: {}", next.text);
}

/// If the message were lost, the waiter would wait for the end of its wait or of a lease: the test is over before both.
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
        let holder = request.clone().work_ms(2_000);
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

/// The same work under a lease without renewal shows that the second buyer would have got in.
#[tokio::test(flavor = "multi_thread")]
async fn watchdog_is_exact_when_the_work_outlasts_the_lease_and_a_lock_without_renewal_is_not() {
    let hasty = || Instance::open(|settings| settings.timeouts.lease = Duration::from_millis(1_500));
    let (one, two) = (hasty().await, hasty().await);
    for (strategy, sold) in [
        ("watchdog@redis", 1),
        ("lease-no-watchdog@redis", 2),
        ("token@redis", 2),
    ] {
        let item = one.quiet_sale(1).await;
        let request = PurchaseRequest::of(&item).by(strategy).work_ms(4_000);
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
    assert_eq!(hasty.buy_until_served(&request).await.status, 201);
}

/// A statement is ended after some seconds, whatever it does. A wait for a row has to end before that, or the shop
/// could not say whether anything was written.
#[tokio::test]
async fn a_wait_for_a_row_that_may_last_longer_than_a_statement_otherwise_may_ends_in_busy() {
    let patient = Duration::from_secs(6);
    let instance = Instance::on(stores_of_its_own(), |settings| settings.timeouts.wait = patient).await;
    assert_row_makes_busy(&instance, "conditional@sql").await;
}
