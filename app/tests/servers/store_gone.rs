//! A store that is gone: the strategies that still sell, and the answers of the others.

use std::path::PathBuf;
use std::time::Duration;

use app::instance::Settings;
use app::stores::SECOND_SQL;
use app::timeouts::Timeouts;
use futures_util::future::join_all;
use redis::AsyncCommands;
use sqlx::{AssertSqlSafe, Row, query, raw_sql};
use stack::{Folder, Relay, ServiceKind};
use tokio::time::timeout;

use crate::harness::{Answer, Instance, LONG, PurchaseRequest, SHORT, ask, stores, stores_of_its_own, until};
use crate::locks::probe;

/// How long a store may take to answer: a buyer must not wait longer for one that is gone.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

async fn ready(instance: &Instance) -> Answer {
    let nothing: [(&str, &str); 0] = [];
    ask(&instance.public, "GET", "/readyz", &nothing, "").await
}

#[tokio::test]
async fn without_redis_the_shop_is_not_ready_admits_that_it_does_not_know_and_comes_back() {
    let stores = stores_of_its_own(&[]);
    let instance = Instance::on(stores.clone(), |_| {}).await;
    let item = instance.sale(2).await;
    let redis = stores.redis().unwrap();
    redis.kill().unwrap();
    assert_eq!(ready(&instance).await.problem(), (503, "not-ready".to_owned()));
    let failed = (500, "store-failed");
    // A purchase without the lock has sold nothing, and knows it.
    for (strategy, expected) in [
        ("lua@redis", failed),
        ("watch-multi@redis", failed),
        ("token@sql", (503, "busy")),
    ] {
        let request = PurchaseRequest::of(&item).by(strategy);
        let answer = timeout(ANSWER_WITHIN, instance.buy(&request)).await.expect(strategy);
        assert_eq!(answer.problem(), (expected.0, expected.1.to_owned()), "{strategy}");
        assert_eq!(
            answer.header("retry-after").is_empty(),
            expected == failed,
            "{strategy}"
        );
        assert!(!answer.text.contains("redis.sock"), "{}", answer.text);
    }
    let answer = instance.buy(&PurchaseRequest::of(&item).by("conditional@sql")).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    redis.restart().unwrap();
    until("the shop is ready again", async || ready(&instance).await.status == 200).await;
    let item = instance.sale(1).await;
    assert_eq!(
        instance.buy(&PurchaseRequest::of(&item).by("lua@redis")).await.status,
        201
    );
}

/// Leaves several connections to the store unused.
async fn buy_at_once(instance: &Instance, strategy: &str) {
    let item = instance.sale(8).await;
    let at_once = PurchaseRequest::of(&item).by(strategy).work_ms(100);
    let at_once = [1, 2, 3, 4].map(|_| instance.buy(&at_once));
    for answer in join_all(at_once).await {
        assert_eq!(answer.status, 201, "{}", answer.text);
    }
}

async fn assert_at_most_one_fails(instance: &Instance, strategy: &str, item: &str) {
    let mut failed = 0;
    for _ in 0..5 {
        let answer = instance.buy(&PurchaseRequest::of(item).by(strategy)).await;
        failed += usize::from(answer.status != 201);
    }
    assert!(failed <= 1, "{failed} of 5 failed");
}

#[tokio::test]
async fn a_restart_of_redis_costs_one_purchase_its_answer_however_many_connections_lay_unused() {
    let stores = stores_of_its_own(&[]);
    let instance = Instance::on(stores.clone(), |_| {}).await;
    buy_at_once(&instance, "watch-multi@redis").await;
    let redis = stores.redis().unwrap();
    redis.restart().unwrap();
    redis.wait_ready(LONG).unwrap();
    until("the shop is ready again", async || ready(&instance).await.status == 200).await;
    let item = instance.sale(8).await;
    assert_at_most_one_fails(&instance, "watch-multi@redis", &item).await;
}

#[tokio::test]
async fn a_mariadb_that_hangs_up_costs_one_purchase_its_answer_however_many_connections_lay_unused() {
    let instance = Instance::on(stores_of_its_own(&[]), |_| {}).await;
    let item = instance.sale(8).await;
    buy_at_once(&instance, "for-update@sql").await;
    let others =
        query("select id from information_schema.processlist where id <> connection_id() and command <> 'Daemon'");
    let mut own = instance.sql.acquire().await.unwrap();
    for row in others.fetch_all(&mut *own).await.unwrap() {
        let kill = format!("kill {}", row.get::<i64, _>(0));
        raw_sql(AssertSqlSafe(kill)).execute(&mut *own).await.unwrap();
    }
    assert_at_most_one_fails(&instance, "for-update@sql", &item).await;
}

#[tokio::test]
async fn without_mariadb_the_shop_is_not_ready_and_still_sells_from_redis() {
    let stores = stores_of_its_own(&[]);
    let hasty = |settings: &mut Settings| settings.timeouts.wait = SHORT;
    let instance = Instance::on(stores.clone(), hasty).await;
    let item = instance.sale(2).await;
    stores.mariadb().unwrap().kill().unwrap();
    assert_eq!(ready(&instance).await.problem(), (503, "not-ready".to_owned()));
    for strategy in ["lua@redis", "watchdog@redis"] {
        let answer = instance.buy(&PurchaseRequest::of(&item).by(strategy)).await;
        assert_eq!(answer.status, 201, "{strategy}: {}", answer.text);
    }
    // No connection, no statement: nothing was sold, and that is certain.
    let answer = instance.buy(&PurchaseRequest::of(&item).by("conditional@sql")).await;
    assert_eq!(answer.problem(), (503, "busy".to_owned()));
}

#[tokio::test]
async fn without_the_second_mariadb_a_sale_opens_for_all_strategies_that_do_not_need_it() {
    let stores = stores_of_its_own(&[SECOND_SQL]);
    let [second] = stores.processes(ServiceKind::SecondSql) else {
        panic!("{SECOND_SQL} is one server")
    };
    let needs_it = "two-phase@sql+sql";
    let hasty = |settings: &mut Settings| settings.timeouts.wait = SHORT;
    second.kill().unwrap();
    let opened_without = Instance::on(stores.clone(), hasty).await;
    second.restart().unwrap();
    let opened_with = Instance::on(stores.clone(), hasty).await;
    until("it is back", async || opened_with.second_sql().acquire().await.is_ok()).await;
    let item = opened_with.sale(1).await;
    let request = PurchaseRequest::of(&item).by(needs_it);
    assert_eq!(opened_with.buy(&request).await.status, 201);
    second.kill().unwrap();
    for instance in [&opened_with, &opened_without] {
        let item = instance.sale(2).await;
        assert_eq!(ready(instance).await.status, 200);
        for strategy in ["conditional@sql", "lua@redis"] {
            let answer = instance.buy(&PurchaseRequest::of(&item).by(strategy)).await;
            assert_eq!(answer.status, 201, "{strategy}: {}", answer.text);
        }
        let answer = instance.buy(&PurchaseRequest::of(&item).by(needs_it)).await;
        assert_eq!(answer.problem(), (503, "busy".to_owned()));
    }
    second.restart().unwrap();
    until("it is back", async || opened_with.second_sql().acquire().await.is_ok()).await;
    let item = opened_without.sale(1).await;
    let request = PurchaseRequest::of(&item).by(needs_it);
    assert_eq!(opened_without.buy(&request).await.status, 201);
}

#[tokio::test]
async fn a_second_mariadb_whose_connections_are_all_lent_still_takes_part_in_a_sale() {
    let hasty = |settings: &mut Settings| settings.timeouts.wait = SHORT;
    let instance = Instance::open(hasty).await;
    let world = &instance.shop.world;
    let second = world.second_sql().await.unwrap();
    let mut lent = Vec::new();
    while let Ok(connection) = second.connected(&probe()).await {
        lent.push(connection);
    }
    let names: Vec<_> = world.all_stores().await.into_iter().map(|(name, _)| name).collect();
    let others = ["redis", "sql", "pg", "cluster"]
        .into_iter()
        .filter(|name| world.services.url(name).is_ok());
    assert_eq!(names, others.chain([SECOND_SQL]).collect::<Vec<_>>());
}

const HASTY: Timeouts = Timeouts {
    wait: SHORT,
    lease: LONG,
};

/// The socket in a store's URL.
pub fn socket(url: &str) -> PathBuf {
    let path = url
        .trim_start_matches("redis+unix://")
        .rsplit("socket=")
        .next()
        .unwrap();
    PathBuf::from(path)
}

/// An instance whose way to both stores can go silent.
pub async fn relayed(folder: &Folder, redis: bool, timeouts: Timeouts) -> (Instance, Relay) {
    let stores = stores();
    let direct = if redis { stores.redis_url() } else { stores.sql_url() }.to_owned();
    let socket = socket(&direct);
    let relay = Relay::start(folder.path(), socket.clone()).unwrap();
    let [to_store, to_relay] = [&socket, relay.at().socket().unwrap()].map(|path| path.to_str().unwrap());
    let url = direct.replace(to_store, to_relay);
    assert_ne!(url, direct);
    let instance = Instance::on(stores, |settings| {
        settings.timeouts = timeouts;
        let name = if redis { "redis" } else { "sql" };
        settings.services = settings.services.clone().with(name, [url.as_str()]);
    });
    (instance.await, relay)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_way_to_redis_that_goes_silent_costs_one_purchase_its_answer_and_the_next_one_is_sold() {
    let folder = Folder::new().unwrap();
    let (instance, relay) = relayed(&folder, true, HASTY).await;
    for strategy in ["lua@redis", "watch-multi@redis"] {
        let item = instance.sale(2).await;
        let request = PurchaseRequest::of(&item).by(strategy).key("k");
        instance
            .buy(&PurchaseRequest::of(&item).by(strategy).key("first"))
            .await;
        relay.silence_open();
        let answer = timeout(LONG, instance.buy(&request)).await.expect(strategy);
        assert_eq!(answer.problem(), (500, "store-failed".to_owned()), "{strategy}");
        let answer = instance.buy(&request).await;
        assert_eq!(answer.status, 201, "{strategy}: {}", answer.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_way_to_mariadb_that_goes_silent_makes_one_purchase_wait_and_the_next_one_is_sold() {
    let folder = Folder::new().unwrap();
    let (instance, relay) = relayed(&folder, false, HASTY).await;
    let item = instance.sale(1).await;
    let request = PurchaseRequest::of(&item).by("conditional@sql").key("k");
    relay.silence_open();
    let answer = timeout(LONG, instance.buy(&request)).await.expect("the purchase hangs");
    // A transaction that was not begun has sold nothing.
    assert_eq!(answer.problem(), (503, "busy".to_owned()));
    let answer = instance.buy(&request).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
}

/// Were the subscription not asked whether it lives, or a new one waited for without end, nobody would wake the waiter before the
/// end of a lease that the test does not have.
#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_is_woken_after_the_subscription_went_silent() {
    a_waiter_is_woken_after(async |_, _| ()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_is_woken_after_a_new_subscription_went_silent() {
    a_waiter_is_woken_after(async |instance, relay| {
        relay.silence();
        relay.cut();
        // The first command finds its connection dead; the second one waits for another, as the subscription does.
        for _ in 0..2 {
            assert_ne!(ready(instance).await.status, 200);
        }
    })
    .await;
}

async fn a_waiter_is_woken_after(before: impl AsyncFnOnce(&Instance, &Relay)) {
    let folder = Folder::new().unwrap();
    let timeouts = Timeouts {
        wait: 10 * LONG,
        lease: 20 * LONG,
    };
    let (instance, relay) = relayed(&folder, true, timeouts).await;
    let elsewhere = Instance::open(|settings| settings.timeouts = timeouts).await;
    let item = instance.sale(3).await;
    let request = PurchaseRequest::of(&item).by("watchdog@redis");
    let opened = instance.buy(&request).await;
    assert_eq!(opened.status, 201, "{}", opened.text);
    before(&instance, &relay).await;
    relay.silence_open();
    // The shared connection is silent too, until a command has found it out.
    until("commands come through again", async || {
        ready(&instance).await.status == 200
    })
    .await;
    let holder = request.clone().work_ms(2_500);
    let second = async {
        let exists = || async {
            let mut redis = elsewhere.redis.clone();
            redis.exists(format!("lock:{{{item}}}")).await.unwrap()
        };
        until("the first one holds the lock", exists).await;
        instance.buy(&request).await
    };
    let both = async { tokio::join!(elsewhere.buy(&holder), second) };
    let (first, second) = timeout(2 * LONG, both).await.expect("nobody woke the second one");
    assert_eq!((first.status, second.status), (201, 201), "{}", second.text);
}
