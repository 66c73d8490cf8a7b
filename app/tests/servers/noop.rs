//! The no-op beside a purchase: the same but for the sale.

use serde_json::{Value, json};

use crate::harness::{Answer, Instance, PurchaseRequest, ask};
use crate::refusal::{Case, none_sells};

async fn post(instance: &Instance, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    ask(&instance.public, "POST", path, headers, body).await
}

fn fields(answer: &Answer) -> Vec<String> {
    answer
        .json()
        .as_object()
        .map_or(Vec::new(), |object| object.keys().cloned().collect())
}

#[tokio::test]
async fn a_no_op_is_answered_as_a_sale_and_changes_no_ledger() {
    let instance = Instance::lab().await;
    for strategy in ["lua@redis", "conditional@sql"] {
        let item = instance.sale(7).await;
        let body = PurchaseRequest::of(&item).body();
        let answer = post(&instance, "/noop", &[("x-strategy", strategy)], &body).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        for store in ["redis", "sql"] {
            assert_eq!(instance.ledger(store, &item).await.left_and_sold(), (7, 0));
        }
        let sale = post(&instance, "/purchases", &[("x-strategy", strategy)], &body).await;
        assert_eq!(fields(&answer), fields(&sale));
        let store = strategy.split_once('@').unwrap().1;
        assert_eq!(instance.ledger(store, &item).await.left_and_sold(), (6, 1));
    }
}

#[tokio::test]
async fn a_no_op_refuses_the_same_requests_as_a_purchase() {
    let instance = Instance::lab().await;
    let purchase = |quantity: Value, buyer: &str| json!({ "item": "sku", "quantity": quantity, "buyer": buyer });
    let bodies = [
        purchase(json!(0), "b-1"),
        purchase(json!(1001), "b-1"),
        purchase(json!("1"), "b-1"),
        purchase(json!(1), "b 1"),
        json!({}),
    ];
    for body in bodies.map(|body| body.to_string()) {
        let refused = post(&instance, "/noop", &[], &body).await;
        assert!((400..500).contains(&refused.status), "{body}: {}", refused.status);
        assert_eq!(refused.text, post(&instance, "/purchases", &[], &body).await.text);
    }
    let body = PurchaseRequest::of("sku").body();
    for header in [
        ("x-strategy", "prayer@redis"),
        ("x-work-ms", "-1"),
        ("idempotency-key", "a b"),
    ] {
        let refused = post(&instance, "/noop", &[header], &body).await;
        assert!((400..500).contains(&refused.status), "{header:?}: {}", refused.status);
        assert_eq!(refused.text, post(&instance, "/purchases", &[header], &body).await.text);
    }
}

#[tokio::test]
async fn outside_lab_mode_there_is_no_no_op() {
    let instance = Instance::open(|settings| settings.lab = false).await;
    let item = instance.sale(7).await;
    let case = Case::new("POST", "/noop", PurchaseRequest::of(&item).body(), (404, "not-found"));
    none_sells(&instance, &instance.public, &item, &[case]).await;
}
