//! The parts that all tests share: real stores, instances on them, requests to an instance, and waits for an event.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use app::domain::{Error, Name};
use app::instance::{Settings, Shop};
use app::probe::Observers;
use app::services::Services;
use app::stores::SECOND_SQL;
use app::stores::sql::Engine;
use app::strategies::Entry;
use app::timeouts::Timeouts;
use app::world::World;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt;
use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use serde_json::{Value, json};
use sqlx::{MySqlPool, PgPool};
use stack::{Parts, Stores};
use tokio::time::timeout;
use tower::ServiceExt;

pub const TOKEN: &str = "the-admin-token-of-the-tests";

/// The limit of every wait, on any machine under any load: a test comes to it only when something is broken.
pub const LONG: Duration = Duration::from_secs(60);

/// A wait for a lock that another purchase keeps: it ends in busy, however long or short it is.
pub const SHORT: Duration = Duration::from_millis(50);

/// Times that no test waits out.
pub const PATIENT: Timeouts = Timeouts {
    wait: LONG,
    lease: LONG,
};

/// The services that are started before a strategy asks for them.
const ALWAYS_THERE: [&str; 2] = ["redis", "sql"];

/// The stores, shared by the tests that run at the same time and stopped after the last of them.
static STORES: Mutex<Weak<Stores>> = Mutex::new(Weak::new());

pub fn stores() -> Arc<Stores> {
    let mut shared = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stores) = shared.upgrade() {
        return stores;
    }
    let stores = services_of_its_own();
    *shared = Arc::downgrade(&stores);
    stores
}

/// Redis, both MariaDB servers and PostgreSQL, for a test that breaks them or that no other test may disturb.
pub fn stores_of_its_own() -> Arc<Stores> {
    started(&[SECOND_SQL, "pg"])
}

/// Redis, MariaDB and a Redis Cluster, for a test that changes the cluster.
pub fn cluster_of_its_own() -> Arc<Stores> {
    started(&["cluster"])
}

/// Redis, both MariaDB servers and PostgreSQL, with every further service that a strategy needs.
pub fn services_of_its_own() -> Arc<Stores> {
    let entries = Entry::all();
    let needs = entries.iter().flat_map(|entry| entry.needs.iter().copied());
    let further = needs.filter(|need| !ALWAYS_THERE.contains(need));
    started(&further.collect::<Vec<_>>())
}

fn started(further: &[&str]) -> Arc<Stores> {
    // The shop says in its log which store failed; the test runner shows it when the test fails.
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_test_writer()
        .try_init();
    let stores = Stores::start(&Parts {
        redis_url: None,
        sql_url: None,
        fetch: true,
    });
    let mut stores = stores.unwrap_or_else(|error| panic!("the stores do not start: {error:#}"));
    for service in further {
        // The tests of the stack say whether a service can be had. Here the rest is tested without it.
        if let Err(error) = stores.start_service(service, true) {
            eprintln!("without {service}: {error:#}");
        }
    }
    Arc::new(stores)
}

/// Shows the state of each server and the end of its log, of one that has ended more than of one that runs.
fn show_logs(stores: &Stores) {
    let further = stores.services().flat_map(|(kind, _)| stores.processes(kind));
    for server in stores.redis().into_iter().chain(stores.mariadb()).chain(further) {
        let (state, most) = if server.has_exited() {
            ("has ended", 20)
        } else {
            ("runs", 3)
        };
        let tail = server.log().tail;
        let lines: Vec<_> = tail.lines().rev().take(most).collect();
        eprintln!("{} {state}; the end of its log:", server.name());
        lines.iter().rev().for_each(|line| eprintln!("    {line:.300}"));
    }
}

/// A world on these services. Under load a store may accept a connection too late: then it is opened again.
pub async fn world(services: &Services, instance: &str, timeouts: Timeouts, observers: Observers) -> World {
    let opening = async {
        loop {
            match World::open(services.clone(), name(instance), timeouts, observers.clone()).await {
                Ok(world) => return world,
                Err(error) => tracing::warn!(%error, "the world of {instance} does not open"),
            }
        }
    };
    let opened = timeout(LONG, opening).await;
    opened.unwrap_or_else(|_| panic!("the world of {instance} does not open within {LONG:?}"))
}

/// Where the stores are, for an instance.
pub fn services(stores: &Stores) -> Services {
    let services = Services::default()
        .with("redis", [stores.redis_url()])
        .with("sql", [stores.sql_url()]);
    let further = stores.services();
    further.fold(services, |services, (kind, urls)| {
        services.with(kind.name(), urls.iter().map(String::as_str))
    })
}

/// Whether a strategy locks the rows of all items: on the stores of other tests it would wait for these, and they for it.
pub fn locks_all_items(entry: &Entry) -> bool {
    entry.steps.iter().any(|step| step.locks_all_items)
}

/// Whether a test of all mechanisms tries this one: `.ci/mutations` asks for one at a time.
pub fn is_tried(mechanism: &str) -> bool {
    std::env::var("OVERSELL_TEST_MECHANISM").map_or(true, |only| only == mechanism)
}

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// A name that no other test has.
pub fn fresh(what: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("{what}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// One instance, asked without a network in between.
pub struct Instance {
    pub shop: Arc<Shop>,
    pub public: Router,
    pub admin: Router,
    /// The tests' own way to the stores, past the shop.
    pub redis: MultiplexedConnection,
    pub sql: MySqlPool,
    /// None where PostgreSQL cannot be had.
    pub pg: Option<PgPool>,
    /// None where the Redis Cluster cannot be had.
    pub cluster: Option<ClusterConnection>,
    // Dropped last: the shop above is connected to them.
    stores: Arc<Stores>,
}

impl Instance {
    /// In lab mode, with longer timeouts than any test needs.
    pub async fn lab() -> Self {
        Self::open(|_| {}).await
    }

    pub async fn open(change: impl FnOnce(&mut Settings)) -> Self {
        Self::on(stores(), change).await
    }

    pub async fn on(stores: Arc<Stores>, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings {
            instance: name(&fresh("app")),
            services: services(&stores),
            admin_token: TOKEN.to_owned(),
            lab: true,
            strategy: "lua@redis".to_owned(),
            item: name(&fresh("default")),
            stock: 5,
            timeouts: PATIENT,
            traces: None,
        };
        change(&mut settings);
        let opened = Shop::open(settings).await;
        let shop = Arc::new(opened.unwrap_or_else(|error| {
            show_logs(&stores);
            panic!("the instance does not open: {error}")
        }));
        let redis = redis::Client::open(stores.redis_url()).unwrap();
        let pg = shop
            .world
            .services
            .url(Engine::Postgres.store())
            .ok()
            .map(str::to_owned);
        let cluster = match shop.world.services.urls("cluster") {
            Ok(urls) => {
                let client = ClusterClient::new(urls.iter().map(String::as_str)).unwrap();
                Some(client.get_async_connection().await.unwrap())
            }
            Err(_) => None,
        };
        let (public, admin) = app::http::routers(shop.clone());
        Self {
            shop,
            public,
            admin,
            redis: redis.get_multiplexed_async_connection().await.unwrap(),
            sql: MySqlPool::connect_lazy(stores.sql_url()).unwrap(),
            pg: pg.map(|url| PgPool::connect_lazy(&url).unwrap()),
            cluster,
            stores,
        }
    }

    /// The tests' own way to the second MariaDB server.
    pub fn second_sql(&self) -> MySqlPool {
        let url = self.shop.world.services.url(SECOND_SQL).unwrap();
        MySqlPool::connect_lazy(url).unwrap()
    }

    /// The stores that it runs on.
    pub fn stores(&self) -> &Arc<Stores> {
        &self.stores
    }

    /// Opens a sale of a new item, and names it. Every strategy that may keep something of the item is opened by that, with
    /// its reconciler.
    pub async fn sale(&self, stock: i64) -> String {
        let item = fresh("sku");
        opened(&item, async || self.shop.open_sale(&name(&item), stock).await).await;
        item
    }

    /// Opens a sale of a new item in the stores alone: no strategy is opened, and no reconciler starts.
    pub async fn quiet_sale(&self, stock: i64) -> String {
        let item = fresh("sku");
        for (_, store) in self.shop.world.all_stores().await {
            opened(&item, async || store.open(&name(&item), stock).await).await;
        }
        item
    }

    pub async fn buy(&self, request: &PurchaseRequest) -> Answer {
        ask(&self.public, "POST", "/purchases", &request.headers, &request.body()).await
    }

    /// Sends the purchase again as long as the shop is busy. An instance with a short wait is busy, too, when a connection to
    /// a store takes long.
    pub async fn buy_until_served(&self, request: &PurchaseRequest) -> Answer {
        let served = async {
            loop {
                let answer = self.buy(request).await;
                if answer.status != 503 {
                    return answer;
                }
            }
        };
        timeout(LONG, served).await.expect("the shop is busy for ever")
    }
}

/// Opens a sale, and fails with the error, which names the store. Under load a connection may come too late: then it is opened
/// again.
async fn opened(item: &str, mut open: impl AsyncFnMut() -> Result<(), Error>) {
    let opening = async {
        loop {
            match open().await {
                Err(error) if error.changed_nothing() => {}
                Err(error) => panic!("the sale of {item} does not open: {error}"),
                Ok(()) => return,
            }
        }
    };
    let opened = timeout(LONG, opening).await;
    opened.unwrap_or_else(|_| panic!("the sale of {item} does not open within {LONG:?}"));
}

impl Drop for Instance {
    fn drop(&mut self) {
        if std::thread::panicking() {
            show_logs(&self.stores);
        }
    }
}

/// One purchase, as a buyer writes it.
#[derive(Clone)]
pub struct PurchaseRequest {
    item: String,
    quantity: u32,
    buyer: String,
    headers: Vec<(&'static str, String)>,
}

impl PurchaseRequest {
    pub fn of(item: &str) -> Self {
        Self {
            item: item.to_owned(),
            quantity: 1,
            buyer: "b-1".to_owned(),
            headers: Vec::new(),
        }
    }

    pub fn quantity(self, quantity: u32) -> Self {
        Self { quantity, ..self }
    }

    pub fn buyer(self, buyer: impl Into<String>) -> Self {
        let buyer = buyer.into();
        Self { buyer, ..self }
    }

    pub fn by(self, strategy: &str) -> Self {
        self.header("x-strategy", strategy)
    }

    pub fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub fn work_ms(self, ms: u64) -> Self {
        self.header("x-work-ms", &ms.to_string())
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn body(&self) -> String {
        json!({ "item": self.item, "quantity": self.quantity, "buyer": self.buyer }).to_string()
    }

    /// The whole request as bytes for a socket.
    pub fn bytes(&self) -> String {
        let body = self.body();
        let headers: String = self.headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
        let length = body.len();
        format!(
            "POST /purchases HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n{headers}\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    }
}

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    pub fn order(&self) -> String {
        self.json()["order"].as_str().unwrap_or_default().to_owned()
    }

    /// Status and problem type; the type is empty where there is none.
    pub fn problem(&self) -> (u16, String) {
        let kind = self.json()["type"].as_str().unwrap_or_default().to_owned();
        (self.status, kind.trim_start_matches("urn:oversell:").to_owned())
    }
}

/// Sends one request to a router. A body counts as JSON unless the headers say what it is.
pub async fn ask(
    router: &Router,
    method: &str,
    path: &str,
    headers: &[(impl AsRef<str>, impl AsRef<[u8]>)],
    body: &str,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(name.as_ref(), value.as_ref());
    }
    if !headers.iter().any(|(name, _)| name.as_ref() == "content-type") && !body.is_empty() {
        request = request.header("content-type", "application/json");
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    Answer {
        status,
        headers,
        text: String::from_utf8(body.to_vec()).unwrap(),
    }
}

/// Asks again and again until `condition` is true.
pub async fn until<F: Future<Output = bool>>(event: &str, mut condition: impl FnMut() -> F) {
    let looking = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let seen = timeout(LONG, looking).await;
    assert!(seen.is_ok(), "not after {LONG:?}: {event}");
}
