//! A Redis Cluster while it changes: a slot moves in the middle of a sale, and a primary dies.

use std::collections::BTreeSet;
use std::sync::Arc;

use app::probe::Step;
use app::strategies::Entry;
use redis::pipe;
use stack::{ServiceKind, Stores};

use crate::harness::{Instance, PurchaseRequest, fresh, is_tried, name, stores_of_its_own, until};
use crate::locks::probe;

/// The mechanisms of Redis that cannot sell from a cluster, each with the reason.
const CANNOT: [(&str, &str); 6] = [
    ("outbox", "its script writes an item and the stream of all items"),
    (
        "queue",
        "its script writes the list of all items, which has a slot of its own",
    ),
    ("saga", "its log in MariaDB does not say in which Redis the units lie"),
    ("tcc", "its script writes an item and the deadlines of all items"),
    (
        "watch-hot-hash",
        "its transaction is about an item and the hash of all items",
    ),
    (
        "watch-hot-hash-checked",
        "its transaction is about an item and the hash of all items",
    ),
];

#[test]
fn every_mechanism_of_redis_sells_from_a_cluster_unless_there_is_a_reason() {
    let all = Entry::all();
    let in_a = |store: &str| {
        let of_store = all
            .iter()
            .filter(|entry| entry.store.split('+').any(|own| own == store));
        let named = of_store.map(|entry| (entry.mechanism.name, entry.store.replace("redis", "cluster")));
        named.collect::<BTreeSet<_>>()
    };
    let cannot = |name: &str| CANNOT.iter().any(|(cannot, _)| *cannot == name);
    let (cannot, can): (BTreeSet<_>, _) = in_a("redis").into_iter().partition(|(name, _)| cannot(name));
    assert_eq!(in_a("cluster"), can);
    assert_eq!(cannot.len(), CANNOT.len(), "{cannot:?}");
}

#[test]
fn a_lock_of_a_sale_in_a_cluster_lies_there_too() {
    let all = Entry::all();
    let needs = |name: &str| &*all.iter().find(|entry| entry.name == name).unwrap().needs;
    assert_eq!(needs("setnx@cluster"), ["cluster"]);
    assert_eq!(needs("setnx@redis"), ["redis"]);
    assert_eq!(needs("named-lock@cluster"), ["cluster", "sql"]);
}

fn key(item: &str) -> String {
    format!("stock:{{{item}}}")
}

/// Buys one unit, each time for another buyer.
async fn buy(instance: &Instance, strategy: &str, item: &str) {
    let request = PurchaseRequest::of(item).by(strategy).buyer(fresh("b"));
    let answer = instance.buy(&request).await;
    assert_eq!(answer.status, 201, "{strategy}: {}", answer.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_goes_on_while_its_slot_moves() {
    let stores = stores_of_its_own(&["cluster"]);
    let instance = Instance::on(stores.clone(), |_| {}).await;
    let watches = |entry: &Entry| entry.steps.iter().any(|step| step.sends.contains(&"WATCH"));
    let all = Entry::all().into_iter().filter(|entry| entry.store == "cluster");
    // A guard that needs another service is the same on each store.
    let here = all.filter(|entry| is_tried(entry.mechanism.name) && entry.needs == ["cluster"]);
    for entry in here {
        let strategy = &*entry.name;
        let item = instance.quiet_sale(4).await;
        buy(&instance, strategy, &item).await;
        let migration = begin(&stores, &item).await;
        assert!(migration.keys >= 2, "{strategy}: counter and orders move");
        // While the slot moves, a command about several keys is refused unless all of them are there: a lock whose keys come and go
        // has to wait, and so have WATCH and a look at segments, some of which gave nothing.
        let all_are_there = !entry.is_guarded() && !watches(&entry) && entry.mechanism.name != "segmented";
        if all_are_there || ["none", "mutex", "setnx"].contains(&entry.mechanism.name) {
            buy(&instance, strategy, &item).await;
        }
        let moved = stores.clone();
        tokio::task::spawn_blocking(move || moved.end_slot_migration(migration).unwrap())
            .await
            .unwrap();
        buy(&instance, strategy, &item).await;
        let ledger = instance.ledger("cluster", &item).await;
        let (left, sold) = ledger.left_and_sold();
        assert_eq!(left + sold, 4, "{strategy}: {ledger:?}");
    }
}

/// The new node knows of no WATCH: there the transaction would overwrite whatever others have written.
#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_is_not_sent_after_a_key_that_it_has_watched() {
    const STEP: Step = Step::command("step", &[]);
    let stores = stores_of_its_own(&["cluster"]);
    let instance = Instance::on(stores.clone(), |_| {}).await;
    let item = instance.quiet_sale(4).await;
    let redis = instance.shop.world.redis("cluster").unwrap();
    let probe = probe();
    let mut own = probe.step(&STEP, &item, redis.connection(), |_| "open").await.unwrap();
    let (mut watch, mut set) = (pipe(), pipe());
    watch.cmd("WATCH").arg(key(&item)).ignore().get(key(&item));
    let (left,): (i64,) = probe
        .step(&STEP, &item, own.send_all(&watch), |_| "watched")
        .await
        .unwrap();
    let migration = begin(&stores, &item).await;
    let moved = stores.clone();
    let end = move || moved.end_slot_migration(migration).unwrap();
    tokio::task::spawn_blocking(end).await.unwrap();
    buy(&instance, "lua@cluster", &item).await;
    set.atomic().set(key(&item), left).ignore();
    let executed: Result<Option<()>, _> = probe.step(&STEP, &item, own.send_all(&set), |_| "executed").await;
    assert!(executed.is_err(), "{executed:?}");
    assert_eq!(instance.ledger("cluster", &item).await.left_and_sold(), (3, 1));
}

/// UNWATCH names no key: sent to another node, it would leave the watch in force, and the next transaction would fail.
#[tokio::test(flavor = "multi_thread")]
async fn an_unwatch_goes_to_the_node_of_the_watched_key() {
    const STEP: Step = Step::command("step", &[]);
    let instance = Instance::on(stores_of_its_own(&["cluster"]), |_| {}).await;
    let redis = instance.shop.world.redis("cluster").unwrap();
    let probe = probe();
    let mut own = probe.step(&STEP, &"", redis.connection(), |_| "open").await.unwrap();
    let mut unwatch = pipe();
    unwatch.cmd("UNWATCH").ignore();
    for _ in 0..16 {
        let item = instance.quiet_sale(4).await;
        let (mut watch, mut set) = (pipe(), pipe());
        watch.cmd("WATCH").arg(key(&item)).ignore();
        set.atomic().set(key(&item), 3).ignore();
        for commands in [&watch, &unwatch] {
            let () = probe
                .step(&STEP, &item, own.send_all(commands), |()| "sent")
                .await
                .unwrap();
        }
        buy(&instance, "lua@cluster", &item).await;
        let executed: Option<()> = probe
            .step(&STEP, &item, own.send_all(&set), |_| "executed")
            .await
            .unwrap();
        assert!(executed.is_some(), "{item} is still watched");
    }
}

async fn begin(stores: &Arc<Stores>, item: &str) -> stack::SlotMigration {
    let (stores, key) = (stores.clone(), key(item));
    let begin = move || stores.begin_slot_migration(&key).unwrap();
    tokio::task::spawn_blocking(begin).await.unwrap()
}

/// The first command on each connection fails that has ended. A sale that is said to be open and is not in the cluster would refuse
/// every buyer.
#[tokio::test(flavor = "multi_thread")]
async fn a_sale_is_opened_in_a_cluster_whose_connections_have_ended() {
    let stores = stores_of_its_own(&["cluster"]);
    let instance = Instance::on(stores.clone(), |_| {}).await;
    let first = instance.quiet_sale(1).await;
    buy(&instance, "lua@cluster", &first).await;
    for _ in 0..8 {
        let (_, urls) = stores
            .services()
            .find(|(kind, _)| *kind == ServiceKind::Cluster)
            .unwrap();
        let urls = urls.to_vec();
        let kill = move || {
            for url in urls {
                let mut node = redis::Client::open(url).unwrap().get_connection().unwrap();
                let mut kill = redis::cmd("CLIENT");
                let _: usize = kill
                    .arg(&["KILL", "TYPE", "normal", "SKIPME", "yes"])
                    .query(&mut node)
                    .unwrap();
            }
        };
        tokio::task::spawn_blocking(kill).await.unwrap();
        let item = fresh("sku");
        instance.shop.open_sale(&name(&item), 3).await.unwrap();
        buy(&instance, "lua@cluster", &item).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_death_of_its_primary_an_item_is_sold_from_the_replica_without_the_orders_that_it_lacks() {
    let stores = stores_of_its_own(&["cluster"]);
    let instance = Instance::on(stores.clone(), |_| {}).await;
    let item = instance.quiet_sale(5).await;
    buy(&instance, "lua@cluster", &item).await;
    let (cut, of_item) = (stores.clone(), key(&item));
    let cut = move || cut.cut_off_cluster_replica(&of_item).unwrap();
    let partition = tokio::task::spawn_blocking(cut).await.unwrap();
    buy(&instance, "lua@cluster", &item).await;
    let over = stores.clone();
    let failover = tokio::task::spawn_blocking(move || over.fail_over_cluster(partition).unwrap());
    assert!(failover.await.unwrap().lost > 0);
    // The connection that has ended costs one purchase its answer.
    until("the shop sells again", async || {
        let answer = instance.buy(&PurchaseRequest::of(&item).by("lua@cluster")).await;
        answer.status == 201
    })
    .await;
    for strategy in ["watch-multi@cluster", "setnx@cluster"] {
        buy(&instance, strategy, &item).await;
    }
    let (left, sold) = instance.ledger("cluster", &item).await.left_and_sold();
    assert_eq!(left + sold, 5);
    // Buyers were told of five purchases or six, and one of them is gone.
    assert!(sold <= 4, "{sold} of five units are in the ledger");
}
