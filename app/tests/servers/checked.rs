//! A lock that is lost while its holder is at work. A bare lock does not notice; a checked one does, until it has asked.

use std::time::Duration;

use app::domain::Outcome;
use app::strategies::Entry;
use app::timeouts::Timeouts;
use stack::ServiceKind;
use tokio::time::timeout;

use crate::harness::{Instance, LONG, PATIENT, fresh, name, stores, stores_of_its_own, until};
use crate::held::{Hold, Stage, ended};
use crate::locks::{guard, probe};

const SOLD: Outcome = Outcome::Sold { remaining: 0 };

/// Whether all services of the strategy are on this machine.
async fn is_usable(strategy: &str) -> bool {
    let entry = Entry::all().into_iter().find(|entry| entry.name == strategy).unwrap();
    entry.missing(&Instance::lab().await.shop.world.services).is_none()
}

/// Two buyers want the last unit. The first one has the lock and is held up before `step`: then the lock is lost, and
/// the second one comes. Both are told what is `expected`.
async fn assert_lost_before(step: &'static str, strategy: &str, expected: [Outcome; 2]) {
    if !is_usable(strategy).await {
        return;
    }
    let hold = Hold::before(step, "b-1");
    let stage = Stage::with(stores(), PATIENT, std::slice::from_ref(&hold)).await;
    let item = Instance::lab().await.quiet_sale(1).await;
    let first = stage.begin(strategy, &item, "b-1", 1).await;
    hold.reached().await;
    let mechanism = strategy.split('@').next().unwrap();
    let elsewhere = guard(&Instance::lab().await, mechanism, PATIENT).await;
    // Deletes a lock that is held.
    elsewhere.forget(&name(&item)).await;
    let second = stage.buy(strategy, &item, "b-2", 1).await;
    hold.let_go();
    assert_eq!([ended(first).await, second], expected, "{strategy}, lost before {step}");
}

#[tokio::test]
async fn a_bare_lock_does_not_notice_before_the_write_that_it_is_lost_and_both_sell() {
    for strategy in ["watchdog@redis", "watchdog@sql", "etcd@redis", "etcd@sql"] {
        assert_lost_before("write", strategy, [SOLD, SOLD]).await;
    }
}

#[tokio::test]
async fn a_checked_lock_that_is_lost_before_the_question_writes_nothing_and_says_busy() {
    for (mechanism, question) in [("watchdog-checked", "is-held"), ("etcd-checked", "is-owner")] {
        for store in ["redis", "sql"] {
            assert_lost_before(question, &format!("{mechanism}@{store}"), [Outcome::Busy, SOLD]).await;
        }
    }
}

/// The reason why no check replaces a fence at the store.
#[tokio::test]
async fn a_checked_lock_that_is_lost_between_the_question_and_the_write_sells_all_the_same() {
    for strategy in ["watchdog-checked@redis", "etcd-checked@sql"] {
        assert_lost_before("write", strategy, [SOLD, SOLD]).await;
    }
}

#[tokio::test]
async fn a_checked_holder_that_is_cut_off_from_zookeeper_is_told_not_to_write_and_a_bare_one_is_not() {
    let stores = stores_of_its_own(&["zookeeper"]);
    let ensemble = stores.processes(ServiceKind::ZooKeeper);
    if ensemble.is_empty() {
        return;
    }
    let instance = Instance::on(stores.clone(), |_| {}).await;
    let hasty = Timeouts {
        wait: LONG,
        lease: Duration::from_secs(4),
    };
    let (item, other) = (name(&fresh("sku")), name(&fresh("sku")));
    let checked = guard(&instance, "zookeeper-checked", hasty).await;
    let bare = guard(&instance, "zookeeper", hasty).await;
    let (mut held, mut held_bare) = (checked.take(&item, &probe()).await, bare.take(&other, &probe()).await);
    assert!(held.may_write().await && held_bare.may_write().await);
    ensemble.iter().for_each(|server| server.kill().unwrap());
    let told = async {
        while held.may_write().await {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, told).await.expect("it is never told");
    assert!(held_bare.may_write().await, "nothing asks");
    ensemble.iter().for_each(|server| server.restart().unwrap());
    ensemble.iter().for_each(|server| server.wait_ready(LONG).unwrap());
    drop((held, held_bare));
    for (guard, item) in [(checked, item), (bare, other)] {
        until("the next one is let in", async || {
            matches!(guard.try_lock(&item, &probe()).await, Ok(Some(_)))
        })
        .await;
    }
}
