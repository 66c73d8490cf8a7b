//! An instance on real stores.

use std::sync::Arc;

use app::domain::Error;
use app::instance::{Settings, Shop};
use app::stores::SECOND_SQL;
use app::stores::sql::Engine;
use axum::Router;
use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use sqlx::{MySqlPool, PgPool};
use stack::Stores;
use tokio::time::timeout;

use super::requests::{Answer, PurchaseRequest, ask};
use super::stores::{services, show_logs, stores};
use super::{LONG, PATIENT, TOKEN, fresh, name};

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
