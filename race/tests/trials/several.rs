//! Purchases that take a unit of each of two items, in one order or in the other.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use loadtest::audit::{Finding, Verdict};
use loadtest::trust::Trust;
use race::{Description, Load, Round, SCHEMA, Trial, Walked, walk};
use tokio::net::TcpListener;

/// What the shop forgets of a purchase.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Forgets {
    Nothing,
    /// To take the second item from its stock.
    SecondStock,
}

/// An item: its stock, and the buyers of its orders.
type Items = BTreeMap<String, (i64, Vec<String>)>;

#[derive(Clone)]
struct Shop {
    items: Arc<Mutex<Items>>,
    /// The items of each purchase, in its order.
    bought: Arc<Mutex<Vec<[String; 2]>>>,
    forgets: Forgets,
}

/// Starts a shop with tea and cups. Returns its shop file.
async fn start(forgets: Forgets) -> (Shop, String) {
    let shop = Shop {
        items: Arc::default(),
        bought: Arc::default(),
        forgets,
    };
    let routes = Router::new()
        .route("/open/{stock}", post(open))
        .route("/stock/{item}", get(stock))
        .route("/orders/{item}", get(orders))
        .route("/buy/{first}/{second}/{buyer}", post(buy));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let routes = routes.with_state(shop.clone());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    let file = format!(
        r#"
url = "{url}"
[sale]
stock = 4
open = [{{ request = "POST /open/{{stock}}" }}]
[turns]
first = ["tea", "cup"]
second = ["cup", "tea"]
[race]
request = "POST /buy/{{first}}/{{second}}/{{buyer}}"
[answers]
sold = {{ status = 200 }}
sold_out = {{ status = 409 }}
[[item]]
name = "tea"
stock = {{ request = "GET /stock/tea" }}
orders = {{ request = "GET /orders/tea" }}
[[item]]
name = "cup"
stock = {{ request = "GET /stock/cup" }}
orders = {{ request = "GET /orders/cup" }}
"#
    );
    (shop, file)
}

async fn open(State(shop): State<Shop>, Path(stock): Path<i64>) {
    let items = ["tea", "cup"].map(|name| (name.to_owned(), (stock, Vec::new())));
    *shop.items.lock().unwrap() = items.into();
    shop.bought.lock().unwrap().clear();
}

async fn stock(State(shop): State<Shop>, Path(item): Path<String>) -> String {
    shop.items.lock().unwrap()[&item].0.to_string()
}

async fn orders(State(shop): State<Shop>, Path(item): Path<String>) -> Json<Vec<String>> {
    Json(shop.items.lock().unwrap()[&item].1.clone())
}

async fn buy(State(shop): State<Shop>, Path((first, second, buyer)): Path<(String, String, String)>) -> StatusCode {
    let mut items = shop.items.lock().unwrap();
    if items[&first].0 == 0 {
        return StatusCode::CONFLICT;
    }
    for (name, (stock, orders)) in items.iter_mut() {
        let is_forgotten = shop.forgets == Forgets::SecondStock && *name == second;
        *stock -= i64::from(!is_forgotten);
        orders.push(buyer.clone());
    }
    shop.bought.lock().unwrap().push([first, second]);
    StatusCode::OK
}

fn trial(file: &str) -> Trial {
    Trial::new(Description::parse(file).unwrap(), Trust::System).unwrap()
}

async fn raced(file: &str) -> Round {
    let load = Load::Race {
        buyers: 8,
        clicks: 1,
        has_fault: false,
    };
    trial(file).play(load, |_, _| {}, pending()).await.unwrap().unwrap()
}

#[tokio::test]
async fn buyers_take_the_items_in_both_orders_and_each_item_is_judged() {
    let (shop, file) = start(Forgets::Nothing).await;
    assert_eq!(walk(&trial(&file), |_| {}, pending()).await.unwrap(), Walked::Fits);
    let round = raced(&file).await;
    assert_eq!(round.verdict, Verdict::Holds, "{round:?}");
    let items: Vec<_> = round
        .items
        .iter()
        .map(|item| (item.name.as_str(), item.recorded, item.stock_left))
        .collect();
    assert_eq!(items, [("tea", Some(4), 0), ("cup", Some(4), 0)]);
    let one_by_one = trial(&file).play(Load::OneByOne, |_, _| {}, pending()).await;
    assert_eq!(one_by_one.unwrap().unwrap().verdict, Verdict::Holds);
    let bought = shop.bought.lock().unwrap().clone();
    let [ahead, back] = [["tea", "cup"], ["cup", "tea"]].map(|turn| turn.map(str::to_owned));
    assert_eq!(bought, [ahead.clone(), back.clone(), ahead, back]);
}

#[tokio::test]
async fn a_finding_belongs_to_its_item() {
    let (_, file) = start(Forgets::SecondStock).await;
    let file = file
        .replace(r#"["tea", "cup"]"#, r#"["tea"]"#)
        .replace(r#"["cup", "tea"]"#, r#"["cup"]"#);
    let round = raced(&file).await;
    assert_eq!(round.verdict, Verdict::Violated, "{round:?}");
    let [tea, cup] = &round.items[..] else {
        panic!("{round:?}");
    };
    assert_eq!(tea.findings.found().next(), None, "{round:?}");
    assert_eq!(cup.findings.of(Finding::Drift), -4, "{round:?}");
    assert_eq!(round.findings.of(Finding::Drift), -4, "{round:?}");
    let walked = walk(&trial(&file), |_| {}, pending()).await.unwrap();
    let expected = "one unit was sold, and the stock fell by 0: look at `read` in `stock` of cup in [[item]]";
    assert_eq!(walked, Walked::Wrong(expected.to_owned()));
}

#[tokio::test]
async fn mistakes_in_turns_and_items_are_refused_and_the_schema_knows_both() {
    let (_, file) = start(Forgets::Nothing).await;
    let schema = jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap();
    assert!(schema.is_valid(&toml::from_str(&file).unwrap()));
    let items = "[[item]] stands at most 20 times, each time with another name";
    for (right, wrong, says) in [
        ("first = [", "buyer = [", "line 7: {buyer} is given already"),
        (
            "[\"tea\", \"cup\"]",
            "[]",
            "`first` in [turns] has from 1 to 500 values",
        ),
        (
            "[\"tea\", \"cup\"]",
            "[\"{buyer}\"]",
            "line 7: {buyer} is not known here",
        ),
        ("name = \"tea\"", "name = \"cup\"", items),
        ("name = \"tea\"", "name = \"\"", items),
        (
            "stock = { request = \"GET /stock/tea\" }",
            "stock = {}",
            "`stock` of tea in [[item]] has either",
        ),
        (
            "[[item]]\nname = \"tea\"",
            "[[items]]\nname = \"tea\"",
            "line 14: unknown field `items`",
        ),
        (
            "[turns]",
            "[stock]\nrequest = \"GET /\"\n[turns]",
            "either [stock], or [[item]]",
        ),
    ] {
        assert!(file.contains(right), "{right}");
        let said = format!("{:#}", Description::parse(&file.replacen(right, wrong, 1)).unwrap_err());
        assert!(said.starts_with(says), "{wrong}: {said}");
    }
    let other = file.replace("/orders/tea\" }", "/orders/tea\", buyer = \"a{buyer}\" }");
    let other = other.replace("/orders/cup\" }", "/orders/cup\", buyer = \"b{buyer}\" }");
    let said = format!("{:#}", Description::parse(&other).unwrap_err());
    assert_eq!(said, "line 21: an order of each item has the same `buyer`");
}
