//! A shop whose store is a process of its own, which it reaches over a connection.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// The time from a purchase to its question to the store: the fault begins meanwhile.
const WORK: Duration = Duration::from_millis(400);

/// A question that is no purchase.
const PING: &str = "ping";

/// What the store keeps.
#[derive(Default)]
struct Ledger {
    stock: usize,
    orders: Vec<String>,
}

type Shared = Arc<Mutex<Ledger>>;

/// Starts the store.
async fn store(ledger: Shared) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let ledger = ledger.clone();
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                let mut buyer = String::new();
                while stream.read_line(&mut buyer).await.is_ok_and(|length| length > 0) {
                    let said = sold(&ledger, buyer.trim());
                    if stream.write_all(said.as_bytes()).await.is_err() {
                        return;
                    }
                    buyer.clear();
                }
            });
        }
    });
    address
}

fn sold(ledger: &Shared, buyer: &str) -> &'static str {
    if buyer == PING {
        return "here\n";
    }
    let mut ledger = ledger.lock().unwrap();
    if ledger.stock == 0 {
        return "sold out\n";
    }
    ledger.stock -= 1;
    ledger.orders.push(buyer.to_owned());
    "sold\n"
}

/// Starts the shop. It reaches its store through an address at which nobody listens yet. Returns its shop file, in which the fault
/// is what stands in `fault` after the addresses.
pub async fn start(fault: &str) -> String {
    let ledger = Shared::default();
    let to = store(ledger.clone()).await;
    // The port is free again after this line.
    let from = StdListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let parts = Parts {
        ledger,
        store: from,
        connections: Arc::default(),
    };
    let routes = Router::new()
        .route("/open/{stock}", post(open))
        .route("/stock", get(stock))
        .route("/orders", get(orders))
        .route("/login/{buyer}", post(login))
        .route("/buy/{buyer}", post(buy));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes.with_state(parts)).await });
    format!(
        r#"
url = "{url}"
[sale]
stock = 5
open = [{{ request = "POST /open/{{stock}}" }}]
[[buyer]]
request = "POST /login/{{buyer}}"
[race]
request = "POST /buy/{{buyer}}"
[answers]
sold = {{ text = "sold\n" }}
sold_out = {{ text = "sold out" }}
[stock]
request = "GET /stock"
[orders]
request = "GET /orders"
[fault]
relay = {{ from = "{from}", to = "{to}", {fault} }}
"#
    )
}

#[derive(Clone)]
struct Parts {
    ledger: Shared,
    store: SocketAddr,
    /// The connection to the store of each buyer.
    connections: Arc<Mutex<HashMap<String, BufReader<TcpStream>>>>,
}

async fn open(State(Parts { ledger, .. }): State<Parts>, Path(stock): Path<usize>) {
    *ledger.lock().unwrap() = Ledger {
        stock,
        orders: Vec::new(),
    };
}

async fn stock(State(Parts { ledger, .. }): State<Parts>) -> String {
    ledger.lock().unwrap().stock.to_string()
}

async fn orders(State(Parts { ledger, .. }): State<Parts>) -> Json<Vec<String>> {
    Json(ledger.lock().unwrap().orders.clone())
}

async fn ask(store: &mut BufReader<TcpStream>, question: &str) -> std::io::Result<String> {
    store.write_all(format!("{question}\n").as_bytes()).await?;
    let mut said = String::new();
    store.read_line(&mut said).await?;
    Ok(said)
}

/// Connects to the store for a buyer. The ping shows that the relay has the connection.
async fn login(State(parts): State<Parts>, Path(buyer): Path<String>) {
    let mut store = BufReader::new(TcpStream::connect(parts.store).await.unwrap());
    assert_eq!(ask(&mut store, PING).await.unwrap(), "here\n");
    parts.connections.lock().unwrap().insert(buyer, store);
}

async fn buy(State(parts): State<Parts>, Path(buyer): Path<String>) -> (StatusCode, String) {
    let store = parts.connections.lock().unwrap().remove(&buyer);
    sleep(WORK).await;
    match ask(&mut store.unwrap(), &buyer).await {
        Ok(said) if !said.is_empty() => (StatusCode::OK, said),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "no store".to_owned()),
    }
}
