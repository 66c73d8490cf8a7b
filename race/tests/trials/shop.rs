//! A small shop with a login, a form with a token, and a database of its own.

use std::time::Duration;

use axum::extract::State;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Form, Router};
use serde::Deserialize;
use sqlx::SqlitePool;
use sqlx::sqlite::SqliteConnectOptions;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::time::sleep;

/// How the shop sells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sells {
    /// It reads the stock, and writes back one less.
    ByReadAndWrite,
    /// One update takes a unit if one is left.
    ByOneUpdate,
    /// As that, and it forgets every order.
    WithoutOrder,
}

/// The shop.
pub struct Shop {
    /// Its base URL.
    pub url: String,
    /// The URL of its database.
    pub store: String,
    _folder: TempDir,
}

#[derive(Clone)]
struct Parts {
    pool: SqlitePool,
    sells: Sells,
}

/// Starts a shop.
pub async fn start(sells: Sells) -> Shop {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    let options = SqliteConnectOptions::new().filename(&file).create_if_missing(true);
    let pool = SqlitePool::connect_with(options.busy_timeout(Duration::from_secs(20)))
        .await
        .unwrap();
    for statement in [
        "create table items (id integer primary key, stock integer)",
        "create table orders (buyer text)",
        "insert into items values (1, 0)",
    ] {
        sqlx::query(statement).execute(&pool).await.unwrap();
    }
    let parts = Parts { pool, sells };
    let routes = Router::new()
        .route("/login", get(login))
        .route("/buy", post(buy))
        .route("/basket", get(basket));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes.with_state(parts)).await });
    Shop {
        url,
        store: format!("sqlite:{}", file.display()),
        _folder: folder,
    }
}

impl Shop {
    /// Returns its shop file.
    pub fn file(&self) -> String {
        format!(
            r#"
url = "{}"
store = "{}"
[sale]
stock = 3
open = [{{ write = "update items set stock = {{stock}}" }}]
[[buyer]]
request = "GET /login"
take = {{ token = {{ regex = 'name="token" value="([^"]+)"' }} }}
[race]
request = "POST /buy"
form = {{ buyer = "{{buyer}}", token = "{{token}}" }}
[answers]
sold = {{ status = 303, location = "/thanks" }}
sold_out = {{ status = 200, text = "sold out" }}
[stock]
read = "select stock from items where id = 1"
[orders]
read = "select buyer from orders"
"#,
            self.url, self.store
        )
    }
}

/// Gives a session, and the token that belongs to it.
async fn login() -> impl IntoResponse {
    let token = uuid::Uuid::new_v4().to_string();
    let page = format!(r#"<form><input type="hidden" name="token" value="{token}"></form>"#);
    ([(SET_COOKIE, format!("session={token}; Path=/; HttpOnly"))], page)
}

/// Refuses a basket when nothing is left.
async fn basket(State(parts): State<Parts>) -> StatusCode {
    let read = sqlx::query_scalar("select stock from items").fetch_one(&parts.pool);
    let left: i64 = read.await.unwrap();
    if left > 0 { StatusCode::OK } else { StatusCode::GONE }
}

#[derive(Deserialize)]
struct Purchase {
    buyer: String,
    token: String,
}

async fn buy(State(parts): State<Parts>, headers: HeaderMap, Form(purchase): Form<Purchase>) -> impl IntoResponse {
    let session = format!("session={}", purchase.token);
    let is_known = headers
        .get(COOKIE)
        .is_some_and(|cookie| cookie.as_bytes() == session.as_bytes());
    if !is_known {
        return (StatusCode::FORBIDDEN, [("location", "")], "no session");
    }
    let pool = &parts.pool;
    let is_sold = match parts.sells {
        Sells::ByReadAndWrite => {
            let read = sqlx::query_scalar("select stock from items").fetch_one(pool);
            let left: i64 = read.await.unwrap();
            sleep(Duration::from_millis(20)).await;
            let write = sqlx::query("update items set stock = ?").bind(left - 1);
            left > 0 && write.execute(pool).await.is_ok()
        }
        Sells::ByOneUpdate | Sells::WithoutOrder => {
            let update = sqlx::query("update items set stock = stock - 1 where stock > 0");
            update.execute(pool).await.unwrap().rows_affected() == 1
        }
    };
    if !is_sold {
        return (StatusCode::OK, [("location", "")], "sold out");
    }
    if parts.sells != Sells::WithoutOrder {
        let order = sqlx::query("insert into orders values (?)").bind(purchase.buyer);
        order.execute(pool).await.unwrap();
    }
    (StatusCode::SEE_OTHER, [("location", "/thanks")], "")
}
