//! Purchases that are none: each is refused with its own status and type, and sells nothing.

use app::instance::Settings;
use app::services::Services;
use app::strategies::Entry;
use serde_json::json;

use crate::harness::{Instance, PurchaseRequest, TOKEN, ask};
use crate::refusal::{Case, none_sells};

fn post(body: impl Into<String>, expected: (u16, &'static str)) -> Case {
    Case::new("POST", "/purchases", body, expected)
}

#[tokio::test]
async fn a_body_that_is_no_purchase_is_refused() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let whole = PurchaseRequest::of(&item).body();
    let with = |field: &str, value: serde_json::Value| {
        let mut body = json!({ "item": item, "quantity": 1, "buyer": "b-1" });
        body[field] = value;
        body.to_string()
    };
    let raw_quantity = |text: &str| format!(r#"{{"item":"{item}","quantity":{text},"buyer":"b-1"}}"#);
    let cases = [
        post("{", (400, "bad-request")),
        post("", (415, "bad-request")),
        post(whole.clone(), (415, "bad-request")).header("content-type", "text/plain"),
        post(whole.clone(), (415, "bad-request")).header("content-type", "application/x-www-form-urlencoded"),
        post("null", (422, "bad-request")),
        post("[]", (422, "bad-request")),
        post(format!("{whole}{whole}"), (400, "bad-request")),
        post(raw_quantity("01"), (400, "bad-request")),
        post(raw_quantity("1e999"), (400, "bad-request")),
        post(raw_quantity("1,\"quantity\":1"), (422, "bad-request")),
        post(with("quantity", json!(-1)), (422, "bad-request")),
        post(with("quantity", json!(0)), (422, "bad-value")),
        post(with("quantity", json!(1_001)), (422, "bad-value")),
        post(with("quantity", json!(1_u64 << 40)), (422, "bad-request")),
        post(with("quantity", json!(1e30)), (422, "bad-request")),
        post(with("quantity", json!(1.5)), (422, "bad-request")),
        post(with("quantity", json!("1")), (422, "bad-request")),
        post(with("quantity", json!(null)), (422, "bad-request")),
        post(with("price", json!(0)), (422, "bad-request")),
        post(with("buyer", json!("")), (422, "bad-value")),
        post(with("buyer", json!("b\r\nX-Fault: crash@write")), (422, "bad-value")),
        post(with("buyer", json!("b\u{0}")), (422, "bad-value")),
        post(with("buyer", json!("x".repeat(65))), (422, "bad-value")),
        post(with("item", json!("{sku}")), (422, "bad-value")),
        post(with("item", json!("' or 1=1 -- ")), (422, "bad-value")),
        post(with("item", json!("no-such-item")), (404, "unknown-item")),
        post(with("buyer", json!("x".repeat(17 * 1024))), (413, "bad-request")),
    ];
    none_sells(&instance, &instance.public, &item, &cases).await;
}

#[tokio::test]
async fn an_idempotency_key_that_is_no_name_or_comes_twice_is_refused() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let whole = PurchaseRequest::of(&item).body();
    let key = |value: &[u8]| post(whole.clone(), (422, "bad-value")).header("idempotency-key", value);
    let long = "k".repeat(65);
    let mut cases: Vec<_> = ["", " ", "a b", "a\tb", "a,b", "a:b", "{k}", "ü", &long]
        .map(|text| key(text.as_bytes()))
        .into();
    cases.push(key(b"\xff"));
    cases.push(key(b"k").header("idempotency-key", "l"));
    none_sells(&instance, &instance.public, &item, &cases).await;
}

#[tokio::test]
async fn a_strategy_that_does_not_exist_is_named_together_with_those_that_do() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let case = post(PurchaseRequest::of(&item).body(), (404, "unknown-strategy")).header("x-strategy", "prayer@redis");
    let answer = case.check(&instance.public).await;
    let detail = answer.json()["detail"].to_string();
    assert!(detail.contains("prayer@redis"), "{detail}");
    assert!(detail.contains(&instance.shop.catalogue.names()), "{detail}");
    none_sells(&instance, &instance.public, &item, &[case]).await;
}

#[tokio::test]
async fn a_strategy_that_misses_a_service_says_which_and_sells_nothing() {
    let without = |settings: &mut Settings| {
        let known = settings.services.clone();
        settings.services = ["redis", "sql"]
            .into_iter()
            .fold(Services::default(), |services, name| {
                services.with(name, [known.url(name).unwrap()])
            });
    };
    let instance = Instance::open(without).await;
    let item = instance.sale(7).await;
    let missing: Vec<_> = Entry::all()
        .into_iter()
        .filter(|entry| entry.missing(&instance.shop.world.services).is_some())
        .collect();
    assert!(!missing.is_empty());
    for entry in missing {
        let body = PurchaseRequest::of(&item).body();
        let case = post(body, (501, "service-missing")).header("x-strategy", &entry.name);
        let answer = case.check(&instance.public).await;
        let detail = answer.json()["detail"].to_string();
        assert!(detail.contains(" needs ") && detail.contains("_URL"), "{detail}");
        none_sells(&instance, &instance.public, &item, &[case]).await;
    }
    let token = [("authorization", format!("Bearer {TOKEN}"))];
    let closed = ask(&instance.admin, "DELETE", &format!("/sales/{item}"), &token, "").await;
    assert_eq!(closed.status, 204, "what was never used needs not be forgotten");
}

#[tokio::test]
async fn a_wrong_method_is_told_which_ones_are_right() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let wrong = |method, path| {
        Case::new(
            method,
            path,
            PurchaseRequest::of(&item).body(),
            (405, "method-not-allowed"),
        )
    };
    let answer = wrong("GET", "/purchases").check(&instance.public).await;
    assert_eq!(answer.header("allow"), "POST");
    let cases = [
        wrong("PUT", "/purchases"),
        wrong("DELETE", "/purchases"),
        wrong("DELETE", "/deduct_stock"),
        wrong("POST", "/strategies"),
        wrong("POST", "/readyz"),
    ];
    none_sells(&instance, &instance.public, &item, &cases).await;
}

#[tokio::test]
async fn the_admin_routes_and_unknown_paths_are_not_on_the_public_listener() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let sale = format!("/sales/{item}");
    let nowhere = |method, path: &str| Case::new(method, path, "", (404, "not-found"));
    let cases = [
        nowhere("GET", "/"),
        nowhere("POST", "/purchases/"),
        nowhere("GET", "/purchases/../metrics"),
        nowhere("PUT", &sale),
        nowhere("DELETE", &sale),
        nowhere("POST", "/faults"),
        nowhere("GET", "/metrics"),
    ];
    none_sells(&instance, &instance.public, &item, &cases).await;
}
