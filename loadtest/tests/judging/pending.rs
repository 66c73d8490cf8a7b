//! The question for pending purchases: a shop that does not answer it, or answers nonsense, is not waited for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use loadtest::shop::pending::{PendingSale, Reconciled};
use loadtest::shop::{Address, ShopClient};
use loadtest::trust::Trust;
use tokio::net::TcpListener;

/// Longer than any of these tests takes.
const LONG: Duration = Duration::from_secs(600);

/// The answers of an instance in their order, the last one for ever; and the number of requests.
#[derive(Clone)]
struct Instance {
    name: Option<&'static str>,
    says: Arc<Mutex<VecDeque<String>>>,
    asked: Arc<Mutex<usize>>,
}

async fn response(
    State(instance): State<Instance>,
    headers: HeaderMap,
    path: axum::http::Uri,
) -> (StatusCode, HeaderMap, String) {
    let mut named = HeaderMap::new();
    if let Some(name) = instance.name {
        named.insert("X-Instance", name.parse().unwrap());
    }
    if path.path() != "/shop/sales/sku-1" || headers["authorization"] != "Bearer open sesame" {
        return (StatusCode::NOT_FOUND, named, String::new());
    }
    *instance.asked.lock().unwrap() += 1;
    let mut says = instance.says.lock().unwrap();
    let said = if says.len() > 1 {
        says.pop_front()
    } else {
        says.front().cloned()
    };
    match said {
        Some(said) if said == DOWN => (StatusCode::INTERNAL_SERVER_ERROR, named, said),
        Some(said) => (StatusCode::OK, named, said),
        None => (StatusCode::METHOD_NOT_ALLOWED, named, String::new()),
    }
}

/// Returns the final answer of such instances, and the number of requests to each.
async fn settled(instances: &[(Option<&'static str>, &[&str])], wait: Duration) -> (Option<Reconciled>, Vec<usize>) {
    let (mut admins, mut asked) = (Vec::new(), Vec::new());
    for (name, says) in instances {
        let instance = Instance {
            name: *name,
            says: Arc::new(Mutex::new(says.iter().map(|said| (*said).to_owned()).collect())),
            asked: Arc::default(),
        };
        asked.push(instance.asked.clone());
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        admins.push(format!("http://{}/shop", socket.local_addr().unwrap()));
        let routes = Router::new().fallback(response).with_state(instance);
        tokio::spawn(async { axum::serve(socket, routes).await });
    }
    let at = Address {
        host: admins[0].clone(),
        admin: admins[0].clone(),
        admin_token: "open sesame".to_owned(),
        trust: Trust::System,
    };
    let sale = PendingSale::new(ShopClient::new(at).unwrap(), &admins, "sku-1");
    let reconciled = sale.settled(Instant::now() + wait).await;
    (reconciled, asked.iter().map(|asked| *asked.lock().unwrap()).collect())
}

const DOWN: &str = "the store does not answer";
const OPEN: &str = r#"{"item":"sku-1","pending":{"open":2,"finished":0,"undone":0,"longest_ms":0},"stores":{}}"#;
const FINISHED: &str = r#"{"pending":{"open":0,"finished":2,"undone":0,"longest_ms":812}}"#;
const UNDONE: &str = r#"{"pending":{"open":0,"finished":1,"undone":3,"longest_ms":40}}"#;

#[tokio::test]
async fn the_round_waits_for_pending_purchases_of_any_instance_and_sums_the_ended_ones() {
    let instances: [(_, &[&str]); 2] = [(Some("a"), &[OPEN, OPEN, FINISHED]), (Some("b"), &[UNDONE])];
    let (reconciled, asked) = settled(&instances, LONG).await;
    let expected = Reconciled {
        finished: 3,
        undone: 3,
        longest_ms: 812,
    };
    assert_eq!((reconciled, asked), (Some(expected), vec![3, 3]));
}

#[tokio::test]
async fn an_instance_that_failed_is_asked_again() {
    let instances: [(_, &[&str]); 2] = [(Some("a"), &[DOWN, OPEN, FINISHED]), (Some("b"), &[UNDONE])];
    let (reconciled, asked) = settled(&instances, LONG).await;
    assert_eq!((reconciled.unwrap().finished, asked), (3, vec![3, 3]));
}

#[tokio::test]
async fn two_addresses_of_one_instance_are_counted_once() {
    for (names, finished) in [([Some("a"), Some("a")], 2), ([None, None], 4)] {
        let (reconciled, _) = settled(&names.map(|name| (name, &[FINISHED][..])), LONG).await;
        assert_eq!(reconciled.unwrap().finished, finished);
    }
}

#[tokio::test]
async fn the_wait_for_a_pending_purchase_ends_at_the_deadline() {
    let (reconciled, asked) = settled(&[(None, &[OPEN])], Duration::ZERO).await;
    assert_eq!((reconciled, asked), (Some(Reconciled::default()), vec![1]));
}

#[tokio::test]
async fn an_instance_without_a_readable_answer_is_asked_once_and_not_waited_for() {
    let long = format!(
        r#"{{"x":"{}","pending":{{"open":1,"finished":0,"undone":0,"longest_ms":0}}}}"#,
        "x".repeat(70_000)
    );
    let table: [&[&str]; 9] = [
        &[],
        &[""],
        &["<html>"],
        &[r#"{"item":"sku-1"}"#],
        &[r#"{"pending":null}"#],
        &[r#"{"pending":{"open":1}}"#],
        &[r#"{"pending":{"open":-1,"finished":0,"undone":0,"longest_ms":0}}"#],
        &[r#"{"pending":{"open":1e300,"finished":0,"undone":0,"longest_ms":0}}"#],
        &[&long],
    ];
    for says in table {
        let (reconciled, asked) = settled(&[(None, says)], LONG).await;
        let said: Vec<&str> = says.iter().map(|said| &said[..said.len().min(80)]).collect();
        assert_eq!((reconciled, asked), (None, vec![1]), "{said:?}");
    }
}
