//! Single requests of the contract, each with the response as it came.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::http;
use crate::shop::response::{MAX_BODY, Reply};
use crate::shop::{ANSWER_WITHIN, Address};
use crate::text::one_line;

/// The longest text of a body that is shown, in characters.
const MAX_SHOWN: usize = 200;

/// A shop and its admin listener.
#[derive(Clone)]
pub struct Requests {
    at: Address,
    client: Client,
}

/// A response.
pub struct Received {
    /// Its status.
    pub status: StatusCode,
    /// Its body.
    pub body: Vec<u8>,
    /// Its meaning in the contract.
    pub reply: Reply,
    /// The time from the request to the last byte.
    pub took: Duration,
}

/// One purchase.
#[derive(Clone)]
pub struct Purchase {
    /// The strategy; `None` leaves the choice to the shop.
    pub strategy: Option<String>,
    /// The item.
    pub item: String,
    /// Units.
    pub quantity: u32,
    /// The idempotency key.
    pub key: String,
    /// The buyer.
    pub buyer: String,
    /// Business time between read and write, in milliseconds.
    pub work_ms: u64,
}

impl Requests {
    /// Takes the addresses of the public listener and of one admin listener, without a slash at the end.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn to(at: Address) -> Result<Self> {
        let client = http::connecting_anew(ANSWER_WITHIN, &at.trust)?;
        Ok(Self { at, client })
    }

    /// Sends `GET` to the public listener.
    ///
    /// # Errors
    /// When no whole response of at most `limit` bytes comes.
    pub async fn get(&self, path: &str, limit: usize) -> Result<Received> {
        received(self.client.get(format!("{}{path}", self.at.host)), limit).await
    }

    /// Sends `POST /purchases`.
    ///
    /// # Errors
    /// When no whole response comes.
    pub async fn buy(&self, purchase: &Purchase) -> Result<Received> {
        let Purchase {
            item, quantity, buyer, ..
        } = purchase;
        let request = self.client.post(format!("{}/purchases", self.at.host));
        let request = request
            .timeout(ANSWER_WITHIN + Duration::from_millis(purchase.work_ms))
            .header("Idempotency-Key", &purchase.key)
            .header("X-Work-Ms", purchase.work_ms)
            .json(&json!({ "item": item, "quantity": quantity, "buyer": buyer }));
        let request = match &purchase.strategy {
            Some(strategy) => request.header("X-Strategy", strategy),
            None => request,
        };
        received(request, MAX_BODY).await
    }

    /// Sends `PUT /sales/{item}`, with the token or without it.
    ///
    /// # Errors
    /// When no whole response comes.
    pub async fn open(&self, item: &str, stock: i64, with_token: bool) -> Result<Received> {
        let request = self.client.put(format!("{}/sales/{item}", self.at.admin));
        let request = request.json(&json!({ "stock": stock }));
        let request = if with_token { self.with_token(request) } else { request };
        received(request, MAX_BODY).await
    }

    /// Sends `DELETE /sales/{item}`.
    ///
    /// # Errors
    /// When no whole response comes.
    pub async fn close(&self, item: &str) -> Result<Received> {
        let request = self.client.delete(format!("{}/sales/{item}", self.at.admin));
        received(self.with_token(request), MAX_BODY).await
    }

    /// Sends `POST /faults`, which only the shop of this workspace has: one of the next purchases is struck.
    ///
    /// # Errors
    /// When no whole response comes.
    pub async fn fault(&self, fault: &str) -> Result<Received> {
        let request = self.client.post(format!("{}/faults", self.at.admin));
        received(self.with_token(request).json(&json!({ "fault": fault })), MAX_BODY).await
    }

    fn with_token(&self, request: RequestBuilder) -> RequestBuilder {
        request.bearer_auth(&self.at.admin_token)
    }
}

impl Received {
    /// Returns the status and the begin of the body, on one line.
    pub fn shown(&self) -> String {
        let body = one_line(String::from_utf8_lossy(&self.body).trim(), MAX_SHOWN);
        format!("{} {body}", self.status.as_u16()).trim_end().to_owned()
    }

    /// Returns a field of the body, if that is JSON and has it.
    pub fn field(&self, name: &str) -> Option<String> {
        let body: Value = serde_json::from_slice(&self.body).ok()?;
        let text = match body.get(name)? {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(one_line(&text, MAX_SHOWN))
    }
}

async fn received(request: RequestBuilder, limit: usize) -> Result<Received> {
    let sent = Instant::now();
    let response = request.send().await?;
    let (status, headers): (StatusCode, HeaderMap) = (response.status(), response.headers().clone());
    let body = http::body(response, limit).await;
    let body = body.with_context(|| format!("the body breaks off or is over {limit} bytes"))?;
    Ok(Received {
        status,
        reply: Reply::of(status, &headers, &body),
        body,
        took: sent.elapsed(),
    })
}
