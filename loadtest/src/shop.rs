//! The client of the contract: the catalogue, opening and closing a sale, and one purchase outside the attack.

use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use reqwest::{Client, Method, StatusCode};
use serde::Deserialize;
use tokio::time::{Instant, sleep, timeout};

/// How long the shop may take to answer. Longer than any wait the contract allows it.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How long a shop or a store may take to come back after a fault.
pub const BACK_WITHIN: Duration = Duration::from_secs(15);

/// Between two attempts to reach what is not back yet.
const AGAIN_AFTER: Duration = Duration::from_millis(50);

/// A strategy as the shop's catalogue describes it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Strategy {
    /// `mechanism@store`.
    pub name: String,
    /// Where its stock and orders are: `redis` or `sql`.
    pub store: Store,
    /// One line on how it works.
    pub summary: String,
    /// Names of the threats it promises to survive.
    pub claims: Vec<String>,
}

impl Strategy {
    /// The first half of its name.
    pub fn mechanism(&self) -> &str {
        self.name.split('@').next().unwrap_or(&self.name)
    }
}

/// Where a strategy keeps stock and orders.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Store {
    /// Redis: `stock:{item}` and `orders:{item}`.
    Redis,
    /// MariaDB: tables `store` and `orders`.
    Sql,
}

/// Where a shop is, and what opens its doors.
#[derive(Clone)]
pub struct Address {
    /// Base URL of the public listener.
    pub host: String,
    /// Base URL of one admin listener.
    pub admin: String,
    /// Bearer token of the admin listener and of faults.
    pub admin_token: String,
}

/// A shop, seen through its contract.
#[derive(Clone)]
pub struct Shop {
    /// Where it is.
    pub at: Address,
    client: Client,
}

impl Shop {
    /// Nothing is sent yet.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(at: Address) -> Result<Self> {
        let client = Client::builder().timeout(ANSWER_WITHIN).no_proxy().build();
        let client = client.context("could not build the HTTP client")?;
        Ok(Self { at, client })
    }

    /// `GET /strategies`
    ///
    /// # Errors
    /// When the shop does not answer with a catalogue.
    pub async fn strategies(&self) -> Result<Vec<Strategy>> {
        let url = format!("{}/strategies", self.at.host);
        let answer = self.client.get(&url).send().await;
        let answer = answer.and_then(reqwest::Response::error_for_status);
        let answer = answer.with_context(|| format!("{url} does not answer: is a shop running there?"))?;
        answer
            .json()
            .await
            .with_context(|| format!("{url} answers with something that is no catalogue"))
    }

    /// `PUT /sales/{item}` on the admin listener.
    ///
    /// # Errors
    /// When the shop refuses or does not answer.
    pub async fn open_sale(&self, item: &str, stock: i64) -> Result<()> {
        let body = serde_json::json!({ "stock": stock });
        self.admin(Method::PUT, item, Some(body), StatusCode::OK).await
    }

    /// `DELETE /sales/{item}` on the admin listener.
    ///
    /// # Errors
    /// When the shop refuses or does not answer.
    pub async fn close_sale(&self, item: &str) -> Result<()> {
        self.admin(Method::DELETE, item, None, StatusCode::NO_CONTENT).await
    }

    /// Asks the admin listener, again and again for as long as a restart of the shop or of a store may take. Both
    /// requests may be repeated: the second opening is like the first.
    async fn admin(
        &self,
        method: Method,
        item: &str,
        body: Option<serde_json::Value>,
        expected: StatusCode,
    ) -> Result<()> {
        let url = format!("{}/sales/{item}", self.at.admin);
        let request = self
            .client
            .request(method.clone(), &url)
            .bearer_auth(&self.at.admin_token);
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        let request = request.build().with_context(|| format!("{url} is no URL"))?;
        let deadline = Instant::now() + BACK_WITHIN;
        loop {
            // Without a streaming body there is always a copy.
            let attempt = request.try_clone().context("the request cannot be repeated")?;
            let (is_final, error) = match self.client.execute(attempt).await {
                Ok(answer) if answer.status() == expected => return Ok(()),
                Ok(answer) => {
                    let status = answer.status();
                    let text = answer.text().await.unwrap_or_default();
                    let error = anyhow!("{method} {url} answered {status} instead of {expected}: {text}");
                    (status.is_client_error(), error)
                }
                Err(error) => (false, anyhow!(error).context("the admin listener does not answer")),
            };
            if is_final || Instant::now() >= deadline {
                return Err(error);
            }
            sleep(AGAIN_AFTER).await;
        }
    }

    /// Waits until the shop calls itself ready.
    ///
    /// # Errors
    /// When it does not in time.
    pub async fn ready(&self) -> Result<()> {
        let url = format!("{}/readyz", self.at.host);
        let is_ready = async || {
            let answer = self.client.get(&url).send().await;
            answer.is_ok_and(|answer| answer.status().is_success())
        };
        let ready = async {
            while !is_ready().await {
                sleep(AGAIN_AFTER).await;
            }
        };
        timeout(BACK_WITHIN, ready)
            .await
            .with_context(|| format!("{url} did not say ready within {BACK_WITHIN:?}"))
    }

    /// The request of one purchase, for a client outside the attack.
    pub fn purchase(&self, wish: &Wish<'_>) -> reqwest::RequestBuilder {
        wish.fill(self.client.post(format!("{}/purchases", self.at.host)))
    }
}

/// One purchase as it goes over the wire.
pub struct Wish<'a> {
    /// By which strategy.
    pub strategy: &'a str,
    /// What.
    pub item: &'a str,
    /// How many units.
    pub quantity: u32,
    /// Who.
    pub buyer: &'a str,
    /// The idempotency key.
    pub key: &'a str,
    /// Business time between read and write, in milliseconds.
    pub work_ms: u64,
    /// A fault for this purchase, with the token that it needs.
    pub fault: Option<(&'a str, &'a str)>,
}

impl Wish<'_> {
    /// Writes the purchase into a request.
    pub fn fill(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        let request = request
            .header("Idempotency-Key", self.key)
            .header("X-Strategy", self.strategy)
            .header("X-Work-Ms", self.work_ms)
            .timeout(ANSWER_WITHIN)
            .json(&serde_json::json!({ "item": self.item, "quantity": self.quantity, "buyer": self.buyer }));
        match self.fault {
            None => request,
            Some((fault, token)) => request.header("X-Fault", fault).bearer_auth(token),
        }
    }
}
