//! Requests to an instance, and its answers.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

/// One purchase, as a buyer writes it.
#[derive(Clone)]
pub struct PurchaseRequest {
    item: String,
    quantity: u32,
    buyer: String,
    pub(super) headers: Vec<(&'static str, String)>,
}

impl PurchaseRequest {
    pub fn of(item: &str) -> Self {
        Self {
            item: item.to_owned(),
            quantity: 1,
            buyer: "b-1".to_owned(),
            headers: Vec::new(),
        }
    }

    pub fn quantity(self, quantity: u32) -> Self {
        Self { quantity, ..self }
    }

    pub fn buyer(self, buyer: impl Into<String>) -> Self {
        let buyer = buyer.into();
        Self { buyer, ..self }
    }

    pub fn by(self, strategy: &str) -> Self {
        self.header("x-strategy", strategy)
    }

    pub fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub fn work_ms(self, ms: u64) -> Self {
        self.header("x-work-ms", &ms.to_string())
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn body(&self) -> String {
        json!({ "item": self.item, "quantity": self.quantity, "buyer": self.buyer }).to_string()
    }

    /// The whole request as bytes for a socket.
    pub fn bytes(&self) -> String {
        let body = self.body();
        let headers: String = self.headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
        let length = body.len();
        format!(
            "POST /purchases HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n{headers}\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    }
}

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    pub fn order(&self) -> String {
        self.json()["order"].as_str().unwrap_or_default().to_owned()
    }

    /// Status and problem type; the type is empty where there is none.
    pub fn problem(&self) -> (u16, String) {
        let kind = self.json()["type"].as_str().unwrap_or_default().to_owned();
        (self.status, kind.trim_start_matches("urn:oversell:").to_owned())
    }
}

/// Sends one request to a router. A body counts as JSON unless the headers say what it is.
pub async fn ask(
    router: &Router,
    method: &str,
    path: &str,
    headers: &[(impl AsRef<str>, impl AsRef<[u8]>)],
    body: &str,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(name.as_ref(), value.as_ref());
    }
    if !headers.iter().any(|(name, _)| name.as_ref() == "content-type") && !body.is_empty() {
        request = request.header("content-type", "application/json");
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    Answer {
        status,
        headers,
        text: String::from_utf8(body.to_vec()).unwrap(),
    }
}
