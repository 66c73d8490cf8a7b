//! The requests for a trace at every instance. A shop with no trace, or half of one, loses nothing by it.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use loadtest::deployment::Deployment;
use loadtest::facts::Urls;
use loadtest::shop::Address;
use loadtest::trust::Trust;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// An admin listener: its responses to PUT and GET, and the requests that it got.
#[derive(Clone)]
struct Listener {
    begins: StatusCode,
    gives: String,
    /// The number of times that it dies before it sends the trace.
    deaths: Arc<AtomicUsize>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    fn dies(&self) -> bool {
        let left = |deaths: usize| deaths.checked_sub(1);
        self.deaths
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left)
            .is_ok()
    }
}

async fn response(State(listener): State<Listener>, method: Method, path: axum::http::Uri) -> (StatusCode, String) {
    if !path.path().ends_with("/trace") {
        return (StatusCode::NOT_FOUND, String::new());
    }
    listener.asked.lock().unwrap().push(format!("{method} {path}"));
    match method {
        Method::PUT => (listener.begins, String::new()),
        Method::GET if listener.dies() => resume_unwind(Box::new("the connection is gone without an answer")),
        Method::GET => (StatusCode::OK, listener.gives),
        _ => (StatusCode::NO_CONTENT, String::new()),
    }
}

/// Collects a trace from such instances. Returns the buyers in it, and the requests to each instance. The last instance
/// dies `deaths` times before it sends its trace.
async fn traced(instances: &[(u16, String)], deaths: usize) -> (Option<Vec<String>>, Vec<Vec<String>>) {
    let (mut admins, mut asked) = (Vec::new(), Vec::new());
    for (place, (begins, gives)) in instances.iter().enumerate() {
        let deaths = if place + 1 == instances.len() { deaths } else { 0 };
        let listener = Listener {
            begins: StatusCode::from_u16(*begins).unwrap(),
            gives: gives.clone(),
            deaths: Arc::new(AtomicUsize::new(deaths)),
            asked: Arc::default(),
        };
        asked.push(listener.asked.clone());
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        admins.push(format!("http://{}/shop", socket.local_addr().unwrap()));
        let routes = Router::new().fallback(response).with_state(listener);
        tokio::spawn(async { axum::serve(socket, routes).await });
    }
    let at = Address {
        host: admins[0].clone(),
        admin: admins[0].clone(),
        admin_token: "open sesame".to_owned(),
        trust: Trust::System,
    };
    let urls = Urls::new();
    let mut deployment = Deployment::remote(at, admins.clone(), urls).await.unwrap();
    // Without names, addresses of IP version 4 are told apart.
    let shop = deployment.running(admins.len(), &[]).unwrap();
    assert_eq!(shop.count, admins.len());
    let trace = match shop.trace("sku-1").await {
        Some(begun) => begun.collect().await,
        None => None,
    };
    let buyers = trace.map(|(trace, _)| trace.purchases.into_iter().map(|purchase| purchase.buyer).collect());
    let asked = asked.iter().map(|asked| asked.lock().unwrap().clone()).collect();
    (buyers, asked)
}

fn answered(instance: &str, buyer: &str, at_ns: u64) -> Value {
    json!({"instance": instance, "item": "sku-1", "clock": "c", "dropped": 0, "events": [{
        "at_ns": at_ns, "life": "l", "actor": "purchase", "number": 1, "order": "o", "buyer": buyer,
        "step": "read", "role": "read", "key": "k", "said": null,
    }]})
}

#[tokio::test]
async fn a_trace_is_begun_collected_and_ended_at_every_instance_and_put_in_the_order_of_the_clock() {
    let late = (204, answered("app-1", "b-1", 9).to_string());
    let early = (200, answered("app-2", "b-2", 3).to_string());
    let (buyers, asked) = traced(&[late, early], 0).await;
    assert_eq!(buyers.unwrap(), ["b-2", "b-1"]);
    let all = ["PUT", "GET", "DELETE"].map(|method| format!("{method} /shop/sales/sku-1/trace"));
    assert_eq!(asked, [all.to_vec(), all.to_vec()]);
}

#[tokio::test]
async fn an_instance_that_was_killed_by_another_round_is_asked_again_when_it_is_back() {
    let [one, two] = [("app-1", "b-1", 3), ("app-2", "b-2", 9)].map(|(name, buyer, at)| answered(name, buyer, at));
    let (buyers, asked) = traced(&[(204, one.to_string()), (204, two.to_string())], 2).await;
    assert_eq!(buyers.unwrap(), ["b-1", "b-2"]);
    let gets = asked[1].iter().filter(|asked| asked.starts_with("GET"));
    assert_eq!(gets.count(), 3);
}

#[tokio::test]
async fn without_the_whole_trace_of_every_instance_there_is_none() {
    let good = || (204, answered("app-1", "b-1", 9).to_string());
    let mut dropped = answered("app-2", "b-2", 3);
    dropped["dropped"] = json!(1);
    let endless = format!("{{\"instance\":\"app-2\",\"x\":\"{}\"}}", "x".repeat(18 * 1024 * 1024));
    let table = [
        ("it does not know the path", (404, String::new())),
        ("it does not know the method", (405, String::new())),
        ("it cannot", (422, String::new())),
        ("it has no room", (409, String::new())),
        ("it lost events", (204, dropped.to_string())),
        ("it answers something else", (204, "<html>".to_owned())),
        ("it answers without end", (204, endless)),
        ("it calls itself as the other one does", good()),
    ];
    for (name, second) in table {
        let (buyers, asked) = traced(&[good(), second], 0).await;
        assert_eq!(buyers, None, "{name}");
        assert_eq!(asked[0].last().unwrap(), "DELETE /shop/sales/sku-1/trace", "{name}");
    }
}
