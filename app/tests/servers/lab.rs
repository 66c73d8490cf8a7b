//! The lab headers: which requests may use them, and how the others are refused.

use std::time::Instant;

use crate::harness::{Instance, PurchaseRequest, TOKEN};
use crate::refusal::{Case, none_sells};

fn post(item: &str, expected: (u16, &'static str)) -> Case {
    Case::new("POST", "/purchases", PurchaseRequest::of(item).body(), expected)
}

#[tokio::test]
async fn outside_lab_mode_every_lab_header_is_refused() {
    let instance = Instance::open(|settings| settings.lab = false).await;
    let item = instance.sale(7).await;
    let refused = |name, value: &str| post(&item, (403, "not-in-lab-mode")).header(name, value);
    let token = format!("Bearer {TOKEN}");
    let cases = [
        refused("x-strategy", "lua@redis"),
        refused("x-work-ms", "0"),
        refused("x-fault", "pause=1@write"),
        refused("x-fault", "pause=1@write").header("authorization", &token),
    ];
    none_sells(&instance, &instance.public, &item, &cases).await;
}

#[tokio::test]
async fn outside_lab_mode_a_purchase_is_served_by_the_configured_strategy() {
    let instance = Instance::open(|settings| {
        settings.lab = false;
        settings.strategy = "conditional@sql".to_owned();
    })
    .await;
    let item = instance.sale(7).await;
    assert_eq!(instance.buy(&PurchaseRequest::of(&item)).await.status, 201);
    assert_eq!(instance.ledger("sql", &item).await.left_and_sold(), (6, 1));
    assert_eq!(instance.ledger("redis", &item).await.left_and_sold(), (7, 0));
}

#[tokio::test]
async fn a_work_time_that_is_none_is_refused() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let work = |value: &str| post(&item, (422, "bad-value")).header("x-work-ms", value);
    let cases = [
        "5001",
        "15000",
        "-1",
        "+1",
        "1.5",
        "1e3",
        "",
        "soon",
        "99999999999999999999",
    ]
    .map(work);
    none_sells(&instance, &instance.public, &item, &cases).await;
}

#[tokio::test]
async fn a_lab_header_given_twice_is_refused() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let twice = |name, one: &str, two: &str| post(&item, (422, "bad-value")).header(name, one).header(name, two);
    let cases = [
        twice("x-strategy", "none@redis", "lua@redis"),
        twice("x-work-ms", "0", "0"),
        twice("x-fault", "pause=1@write", "pause=1@read"),
    ];
    none_sells(&instance, &instance.public, &item, &cases).await;
}

#[tokio::test]
async fn a_fault_needs_the_token_an_action_and_a_step() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let fault = |value: &str, expected| post(&item, expected).header("x-fault", value);
    let token = format!("Bearer {TOKEN}");
    let wrong = format!("Bearer {TOKEN}x");
    let bad = |value: &str| fault(value, (422, "bad-value")).header("authorization", &token);
    let denied = |value: &str| fault("pause=1@write", (401, "unauthorized")).header("authorization", value);
    let cases = [
        fault("pause=1@write", (401, "unauthorized")),
        denied(""),
        denied("Bearer "),
        denied(TOKEN),
        denied(&wrong),
        denied(&token).header("authorization", &token),
        bad("crash"),
        bad("pause=100"),
        bad("delay=100"),
        bad("crash@lunch"),
        bad("pause=0@write"),
        bad("pause=60001@write"),
        bad("explode@write"),
        bad(""),
    ];
    none_sells(&instance, &instance.public, &item, &cases).await;
}

#[tokio::test]
async fn a_delayed_purchase_holds_up_no_other_purchase() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let began = Instant::now();
    let delayed = async {
        let purchase = PurchaseRequest::of(&item)
            .by("conditional@sql")
            .header("x-fault", "delay=3000@connect")
            .header("authorization", &format!("Bearer {TOKEN}"));
        assert_eq!(instance.buy(&purchase).await.status, 201);
        began.elapsed()
    };
    let other = async {
        let purchase = PurchaseRequest::of(&item).by("conditional@sql");
        assert_eq!(instance.buy(&purchase).await.status, 201);
        began.elapsed()
    };
    let (delayed, other) = tokio::join!(delayed, other);
    assert!(delayed.as_millis() >= 3_000 && other < delayed, "{delayed:?} {other:?}");
}

#[tokio::test]
async fn a_refused_fault_is_answered_with_the_way_to_authenticate() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let case = post(&item, (401, "unauthorized")).header("x-fault", "pause=1@write");
    assert_eq!(case.check(&instance.public).await.header("www-authenticate"), "Bearer");
}

#[tokio::test]
async fn the_tutorial_route_obeys_the_same_rules() {
    let closed = Instance::open(|settings| settings.lab = false).await;
    let open = Instance::lab().await;
    let refused =
        |method, name, value: &str, expected| Case::new(method, "/deduct_stock", "", expected).header(name, value);
    let item = closed.shop.item.clone();
    let cases = [
        refused("GET", "x-strategy", "lua@redis", (403, "not-in-lab-mode")),
        refused("POST", "idempotency-key", "a b", (422, "bad-value")),
    ];
    none_sells(&closed, &closed.public, item.as_str(), &cases).await;
    let item = open.shop.item.clone();
    let cases = [
        refused("GET", "x-strategy", "prayer@redis", (404, "unknown-strategy")),
        refused("POST", "x-fault", "pause=1@write", (401, "unauthorized")),
    ];
    none_sells(&open, &open.public, item.as_str(), &cases).await;
}
