//! Measures within which time 20 requests reach a server on this machine: released by the gate, sent at once without it, and by
//! goose. The server notes when it has the last byte of each. Prints a table: `cargo run --release -p race --example window`.
#![allow(clippy::unwrap_used, reason = "a measurement that fails may panic")]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::{get, post};
use goose::GooseAttack;
use goose::config::{GooseConfiguration, GooseDefault, GooseDefaultType};
use goose::goose::{GooseUser, Scenario, Transaction, TransactionResult};
use loadtest::trust::Trust;
use race::{Description, Load, Trial};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const REQUESTS: usize = 20;
const ROUNDS: usize = 25;
const WITHIN: Duration = Duration::from_millis(1);

type Arrived = Arc<Mutex<Vec<Instant>>>;

/// Starts the server on threads of its own.
fn server(arrived: Arrived) -> String {
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            send.send(format!("http://{}", listener.local_addr().unwrap())).unwrap();
            let buy = |State(arrived): State<Arrived>, _: Bytes| async move {
                arrived.lock().unwrap().push(Instant::now());
                "sold"
            };
            // One unit is for sale, and stays: the answers are not judged here.
            let routes = Router::new()
                .route("/buy", post(buy))
                .route("/stock", get(|| async { "1" }));
            axum::serve(listener, routes.with_state(arrived)).await.unwrap();
        });
    });
    receive.recv().unwrap()
}

async fn gated(trial: &Trial) {
    trial
        .play(
            Load::Race {
                buyers: REQUESTS,
                clicks: 1,
                has_fault: false,
            },
            |_, _| {},
            std::future::pending(),
        )
        .await
        .unwrap();
}

async fn at_once(url: &str) {
    let mut all = JoinSet::new();
    for _ in 0..REQUESTS {
        let request = reqwest::Client::new()
            .post(format!("{url}/buy"))
            .body("item=1&buyer=someone");
        all.spawn(async move { request.send().await.unwrap() });
    }
    all.join_all().await;
}

async fn buy(user: &mut GooseUser) -> TransactionResult {
    let _ = user.post_form("/buy", &[("item", "1"), ("buyer", "someone")]).await?;
    Ok(())
}

async fn by_goose(url: &str) {
    let scenario = Scenario::new("buy").register_transaction(Transaction::new(Arc::new(|user| Box::pin(buy(user)))));
    let attack = GooseAttack::initialize_with_config(GooseConfiguration::default()).unwrap();
    let attack = attack
        .register_scenario(scenario)
        .set_default(GooseDefault::Host, url)
        .unwrap();
    let attack = attack.set_default(GooseDefault::Users, REQUESTS).unwrap();
    let attack = attack.set_default(GooseDefault::IncreaseRate, "1000000").unwrap();
    let attack = attack.set_default(GooseDefault::Iterations, 1).unwrap();
    let attack = attack.set_default(GooseDefault::NoTelnet, true).unwrap();
    let attack = attack.set_default(GooseDefault::NoWebSocket, true).unwrap();
    let attack = attack.set_default(GooseDefault::NoPrintMetrics, true).unwrap();
    attack
        .set_default(GooseDefault::Quiet, 2)
        .unwrap()
        .execute()
        .await
        .unwrap();
}

/// Returns how many of the requests came within a millisecond after the first, and when the last one came.
fn window(arrived: &Arrived) -> (usize, Duration) {
    let mut times = std::mem::take(&mut *arrived.lock().unwrap());
    times.sort();
    times.truncate(REQUESTS);
    let since = |time: &Instant| time.duration_since(times[0]);
    let within = times.iter().filter(|time| since(time) <= WITHIN).count();
    (within, times.last().map_or(Duration::ZERO, since))
}

fn median<T: Ord + Copy>(mut all: Vec<T>) -> T {
    all.sort();
    all[all.len() / 2]
}

#[tokio::main]
async fn main() {
    let arrived = Arrived::default();
    let url = server(arrived.clone());
    let file = format!(
        "url = \"{url}\"\n[sale]\nstock = 1\n[race]\nrequest = \"POST /buy\"\nform = {{ item = \"1\", buyer = \"{{buyer}}\" }}\n\
         [answers]\nsold = {{ text = \"sold\" }}\nsold_out = {{ status = 409 }}\n[stock]\nrequest = \"GET /stock\"\n"
    );
    let trial = Trial::new(Description::parse(&file).unwrap(), Trust::System).unwrap();
    let mut ways = [(); 3].map(|()| Vec::new());
    for _ in 0..ROUNDS {
        gated(&trial).await;
        ways[0].push(window(&arrived));
        at_once(&url).await;
        ways[1].push(window(&arrived));
        by_goose(&url).await;
        ways[2].push(window(&arrived));
    }
    println!("| way | of {REQUESTS} within 1 ms, median | fewest | all within, median µs |\n|---|---|---|---|");
    for (name, seen) in ["released by the gate", "sent at once", "goose"].into_iter().zip(ways) {
        let within = seen.iter().map(|(within, _)| *within);
        let (middle, fewest) = (median(within.clone().collect()), within.min().unwrap());
        let last = median(seen.iter().map(|(_, last)| last.as_micros()).collect());
        println!("| {name} | {middle} | {fewest} | {last} |");
    }
}
