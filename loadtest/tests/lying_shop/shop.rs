//! The shop: the contract's two listeners in one process, which calls itself two instances in turn.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use loadtest::shop::Address;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::lie::Lie;
use crate::store::{Order, Store};

const ADMIN_TOKEN: &str = "open sesame";

#[derive(Clone)]
pub struct Shop {
    pub lie: Lie,
    pub redis: Store,
    pub sql: Store,
    pub sales: Arc<Mutex<HashMap<String, Arc<Sale>>>>,
    pub claims: &'static [&'static str],
}

/// One item for sale, until it is closed.
pub struct Sale {
    stock: i64,
    /// How many purchases were about to be sold so far, and how many to be sold beyond the stock.
    sold: AtomicUsize,
    beyond: AtomicI64,
}

#[derive(Deserialize)]
struct Wish {
    item: String,
    quantity: i64,
    buyer: String,
}

#[derive(Deserialize)]
struct Opening {
    stock: i64,
}

/// Starts the shop: one public listener, and an admin listener for each instance that it pretends to have.
pub async fn start(shop: Shop, instances: usize) -> (Address, Vec<String>) {
    let routes = Router::new()
        .route("/purchases", post(purchase))
        .route("/strategies", get(strategies))
        .route("/readyz", get(async || "ready"))
        .route("/sales/{item}", put(open).delete(close))
        .with_state(shop);
    let host = listen(routes.clone()).await;
    let mut admins = Vec::new();
    for _ in 0..instances {
        admins.push(listen(routes.clone()).await);
    }
    let at = Address {
        host,
        admin: admins[0].clone(),
        admin_token: ADMIN_TOKEN.to_owned(),
    };
    (at, admins)
}

async fn listen(routes: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    url
}

async fn strategies(State(shop): State<Shop>) -> Json<Value> {
    let strategy = |store| {
        let name = format!("lie@{store}");
        json!({ "name": name, "store": store, "summary": "lies", "claims": shop.claims })
    };
    Json(json!([strategy("redis"), strategy("sql")]))
}

async fn open(
    State(shop): State<Shop>,
    Path(item): Path<String>,
    headers: HeaderMap,
    Json(opening): Json<Opening>,
) -> StatusCode {
    if header(&headers, "authorization") != Some(&format!("Bearer {ADMIN_TOKEN}")) {
        return StatusCode::UNAUTHORIZED;
    }
    shop.redis.open(&item, opening.stock).await;
    shop.sql.open(&item, opening.stock).await;
    let sale = Sale {
        stock: opening.stock,
        sold: AtomicUsize::new(0),
        beyond: AtomicI64::new(0),
    };
    shop.sales.lock().unwrap().insert(item, Arc::new(sale));
    StatusCode::OK
}

async fn close(State(shop): State<Shop>, Path(item): Path<String>) -> StatusCode {
    shop.redis.close(&item).await;
    shop.sql.close(&item).await;
    shop.sales.lock().unwrap().remove(&item);
    StatusCode::NO_CONTENT
}

async fn purchase(State(shop): State<Shop>, headers: HeaderMap, Json(wish): Json<Wish>) -> Response {
    let sale = shop.sales.lock().unwrap().get(&wish.item).cloned();
    let Some(sale) = sale else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match shop.lie {
        Lie::AlwaysBusy => return busy(),
        Lie::AlwaysFails => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Lie::RejectsEveryone => return StatusCode::UNPROCESSABLE_ENTITY.into_response(),
        Lie::Silent => cut(),
        Lie::IgnoresFaults => {}
        // As an instance that dies before it writes: its buyers hear nothing, and another one takes its place.
        _ if headers.contains_key("x-fault") => cut(),
        _ => {}
    }
    let store = match header(&headers, "x-strategy") {
        Some("lie@redis") => &shop.redis,
        _ => &shop.sql,
    };
    shop.sell(&sale, store, &wish, header(&headers, "idempotency-key").unwrap())
        .await
}

impl Shop {
    async fn sell(&self, sale: &Sale, store: &Store, wish: &Wish, key: &str) -> Response {
        let (item, quantity) = (wish.item.as_str(), wish.quantity);
        let id = match self.lie {
            Lie::ForgetsKeys => Uuid::new_v4(),
            _ => Uuid::new_v5(&Uuid::NAMESPACE_OID, key.as_bytes()),
        };
        let id = id.to_string();
        let sold = |place: usize| {
            let instance = if self.lie == Lie::OneInstance {
                "a"
            } else {
                ["a", "b"][place % 2]
            };
            let body =
                json!({ "order": id, "item": item, "quantity": quantity, "remaining": null, "instance": instance });
            (StatusCode::CREATED, Json(body)).into_response()
        };
        if store.has(item, &id).await {
            return sold(0);
        }
        let order = Order {
            id: &id,
            quantity,
            buyer: &wish.buyer,
            key: Some(key),
        };
        if self.lie == Lie::TellsWithoutWriting && sale.sold.fetch_add(1, Ordering::Relaxed) == 0 {
            return sold(0);
        }
        if self.lie == Lie::RecordsWithoutTaking && sale.sold.fetch_add(1, Ordering::Relaxed) == 0 {
            store.record(item, &order).await;
            return sold(0);
        }
        if !store.take(item, quantity, self.lie.held_back(sale.stock)).await {
            match self.lie {
                Lie::StuckAfterHalf => return busy(),
                Lie::OversellsAtZero | Lie::OversellsBelowZero if sale.beyond.fetch_add(1, Ordering::Relaxed) < 3 => {}
                _ => return StatusCode::CONFLICT.into_response(),
            }
            if self.lie == Lie::OversellsBelowZero {
                store.take_blindly(item, quantity).await;
            }
        }
        let place = sale.sold.fetch_add(1, Ordering::Relaxed);
        if self.lie == Lie::RecordsAGhost && place == 0 && store.take(item, quantity, 0).await {
            let id = Uuid::new_v4().to_string();
            let ghost = Order {
                id: &id,
                quantity,
                buyer: "nobody",
                key: None,
            };
            store.record(item, &ghost).await;
        }
        if self.lie != Lie::LosesAnOrder || place != 0 {
            store.record(item, &order).await;
        }
        match self.lie {
            Lie::ForgetsAfterCommit if place == 0 => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            _ => sold(place),
        }
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn busy() -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, [("Retry-After", "1")]).into_response()
}

/// Ends the connection without an answer: its task unwinds, without the noise of a panic.
fn cut() -> ! {
    std::panic::resume_unwind(Box::new(()))
}
