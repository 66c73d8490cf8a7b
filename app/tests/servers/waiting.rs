//! A wait is bounded, and a purchase that waits is woken.

use std::sync::Arc;
use std::time::Duration;

use app::guards::Released;
use app::mechanism::Family;
use app::probe::{Role, Step};
use app::strategies::Entry;
use app::timeouts::Timeouts;
use futures_util::{StreamExt, stream};
use redis::AsyncCommands;
use sqlx::query;
use stack::Stores;
use tokio::time::timeout;

use crate::harness::{
    Instance, LONG, PATIENT, PurchaseRequest, SHORT, is_tried, locks_all_items, name, services_of_its_own,
    stores_of_its_own, until,
};
use crate::locks::{Lock, guard_for, probe};

/// How many strategies are tried at once: fewer than an instance has connections.
const AT_ONCE: usize = 8;

/// Two instances on the same stores.
struct Shops {
    patient: Instance,
    /// Here a purchase gives up its wait soon.
    hasty: Instance,
}

impl Shops {
    async fn open(stores: Arc<Stores>, short: Duration) -> Self {
        let hasty = Instance::on(stores.clone(), |settings| settings.timeouts.wait = short);
        Self {
            hasty: hasty.await,
            patient: Instance::on(stores, |_| {}).await,
        }
    }

    fn usable(&self) -> impl Iterator<Item = Entry> {
        let services = &self.patient.shop.world.services;
        let all = Entry::all().into_iter();
        all.filter(|entry| is_tried(entry.mechanism.name) && entry.missing(services).is_none())
    }

    /// Sells one of two units, has `lock` lock something, and fails unless another buyer is then told busy and the first one,
    /// whose answer may have been lost, learns of its order; and unless the second unit is sold after the `unlock`.
    async fn assert_busy<L>(&self, entry: &Entry, lock: impl AsyncFnOnce(&str) -> L, unlock: impl AsyncFnOnce(L)) {
        let strategy = &entry.name;
        let item = self.patient.quiet_sale(2).await;
        let request = PurchaseRequest::of(&item).by(strategy);
        let first = request.clone().key("sold");
        let sold = self.patient.buy(&first).await;
        assert_eq!(sold.status, 201, "{strategy}: {}", sold.text);
        let locked = lock(&item).await;
        // One buyer may have only one of them.
        let answer = self.hasty.buy(&request.clone().buyer("b-2")).await;
        let told = (answer.problem(), answer.header("retry-after"));
        let busy = (503, "busy".to_owned());
        assert_eq!(told, (busy, "1"), "{strategy}: {}", answer.text);
        let again = self.hasty.buy_until_served(&first).await;
        assert_eq!(again.order(), sold.order(), "{strategy}: {}", again.text);
        unlock(locked).await;
        let ledger = self.patient.ledger(entry.store, &item).await;
        assert_eq!(ledger.left_and_sold(), (1, 1), "{strategy}");
        // Nothing is left of the purchase that was told busy, but that its buyer came once.
        let next = self.patient.buy_until_served(&request.buyer("b-3")).await;
        assert_eq!(next.status, 201, "{strategy}: {}", next.text);
    }

    /// Another transaction locks the row of the item.
    async fn assert_row_makes_busy(&self, entry: &Entry) {
        let lock = async |item: &str| {
            let mut other = self.patient.sql.begin().await.unwrap();
            let select = query("select num from store where id = ? for update").bind(item.to_owned());
            select.execute(&mut *other).await.unwrap();
            other
        };
        self.assert_busy(entry, lock, async |other| other.rollback().await.unwrap())
            .await;
    }

    /// Another instance holds the lock of the item.
    async fn assert_lock_makes_busy(&self, entry: &Entry) {
        let holders = guard_for(&self.patient, entry.mechanism.name, entry.store, PATIENT).await;
        let lock = async |item: &str| holders.take(&name(item), &probe()).await;
        self.assert_busy(entry, lock, async |held: Lock| {
            held.release(&probe(), Released::InTime).await
        })
        .await;
    }
}

/// Whether a strategy asks a service for the lock of an item, and keeps it for longer than a purchase waits. A lock of a
/// buyer does not keep another buyer out.
fn has_lock_of_item(entry: &Entry) -> bool {
    if entry.mechanism.name == "expiry-value-mixed-units" {
        return false;
    }
    let asks = |step: &Step| step.role == Some(Role::Lock) && !step.sends.is_empty();
    entry.is_guarded() && entry.mechanism.family != Family::BuyerLimit && entry.steps.iter().any(asks)
}

#[tokio::test]
async fn a_lock_that_is_held_makes_every_purchase_busy_and_no_longer_than_it_is_held() {
    let shops = Shops::open(services_of_its_own(), SHORT).await;
    let locking = stream::iter(shops.usable().filter(has_lock_of_item));
    locking
        .for_each_concurrent(AT_ONCE, async |entry| shops.assert_lock_makes_busy(&entry).await)
        .await;
}

/// A wait for the row that ends is an error. It leaves the lock of `setnx-no-finally` behind, and nobody buys any more. A sale of
/// `unit-rows` takes rows of its own.
#[tokio::test]
async fn a_row_that_is_locked_makes_every_sql_strategy_busy_and_no_longer_than_it_is_locked() {
    let shops = Shops::open(services_of_its_own(), SHORT).await;
    let is_busy = |entry: &Entry| !["setnx-no-finally", "unit-rows"].contains(&entry.mechanism.name);
    let on_sql = shops.usable().filter(|entry| entry.store == "sql" && is_busy(entry));
    let (alone, together): (Vec<_>, Vec<_>) = on_sql.partition(locks_all_items);
    stream::iter(together)
        .for_each_concurrent(AT_ONCE, async |entry| shops.assert_row_makes_busy(&entry).await)
        .await;
    for entry in alone {
        shops.assert_row_makes_busy(&entry).await;
    }
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
    let shops = Shops::open(stores_of_its_own(&[]), Duration::from_secs(6)).await;
    let conditional = Entry::all()
        .into_iter()
        .find(|entry| entry.name == "conditional@sql")
        .unwrap();
    shops.assert_row_makes_busy(&conditional).await;
}
