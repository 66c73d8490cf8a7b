//! The client of the contract: the catalogue, opening and closing a sale, and one purchase outside the attack.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use tokio::time::{sleep, timeout};

use crate::http::{self, BACK_WITHIN};
use crate::shop::catalogue::{self, Strategy};
use crate::shop::response::{Reply, Response};
use crate::text::one_line;
use crate::trust::Trust;

/// The longest wait for a response of the shop, besides the requested work. It is longer than any wait that the
/// contract allows.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// The pause between two attempts to reach a part that is not back yet.
const RETRY_AFTER: Duration = Duration::from_millis(50);

/// The most bytes of a catalogue.
pub const MAX_CATALOGUE: usize = 1024 * 1024;

/// The most bytes that are read of an error of the admin listener, and the most characters that are shown.
const MAX_ERROR: (usize, usize) = (64 * 1024, 200);

/// The number of questions per instance whether the shop is ready: a proxy chooses the instance.
const ASKED_EACH: usize = 3;

/// The addresses of a shop, and its token.
#[derive(Clone)]
pub struct Address {
    /// Base URL of the public listener.
    pub host: String,
    /// Base URL of one admin listener.
    pub admin: String,
    /// Bearer token of the admin listener and of faults.
    pub admin_token: String,
    /// The certificates that are trusted, for `https://` URLs.
    pub trust: Trust,
}

/// A client of one shop.
#[derive(Clone)]
pub struct ShopClient {
    /// Its addresses.
    pub at: Address,
    client: Client,
}

impl ShopClient {
    /// Creates a client. It sends nothing yet.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(at: Address) -> Result<Self> {
        let client = http::connecting_anew(ANSWER_WITHIN, &at.trust)?;
        Ok(Self { at, client })
    }

    /// `GET /strategies`
    ///
    /// # Errors
    /// When the shop does not answer with a catalogue.
    pub async fn strategies(&self) -> Result<Vec<Strategy>> {
        let url = format!("{}/strategies", self.at.host);
        let response = self.client.get(&url).send().await;
        let response = response.with_context(|| format!("{url} does not answer: is a shop running there?"))?;
        let status = response.status();
        ensure!(
            status == StatusCode::OK,
            "{url} answers {status} instead of 200 with a catalogue"
        );
        let body = http::body(response, MAX_CATALOGUE).await;
        let body =
            body.with_context(|| format!("the catalogue at {url} breaks off or is over {MAX_CATALOGUE} bytes"))?;
        catalogue::parse(&body).with_context(|| format!("the catalogue at {url}"))
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

    /// Sends a request to the admin listener, again and again for as long as a restart of the shop or of a store may
    /// take. Both requests may be repeated: opening a sale twice is like opening it once.
    async fn admin(
        &self,
        method: Method,
        item: &str,
        body: Option<serde_json::Value>,
        expected: StatusCode,
    ) -> Result<()> {
        let url = format!("{}/sales/{item}", self.at.admin);
        let deadline = Instant::now() + BACK_WITHIN;
        loop {
            let request = self.operator(method.clone(), &url);
            let request = match &body {
                Some(body) => request.json(body),
                None => request,
            };
            let (is_final, error) = match request.send().await {
                Ok(response) if response.status() == expected => return Ok(()),
                Ok(response) => {
                    let status = response.status();
                    let text = http::body(response, MAX_ERROR.0).await.unwrap_or_default();
                    let text = one_line(&String::from_utf8_lossy(&text), MAX_ERROR.1);
                    let error = anyhow!("{method} {url} answered {status} instead of {expected}: {text}");
                    (status.is_client_error(), error)
                }
                Err(error) => (false, anyhow!(error).context("the admin listener does not answer")),
            };
            if is_final || Instant::now() >= deadline {
                return Err(error);
            }
            sleep(RETRY_AFTER).await;
        }
    }

    /// Returns a request with the token of the admin listener.
    pub(crate) fn operator(&self, method: Method, url: &str) -> RequestBuilder {
        self.client.request(method, url).bearer_auth(&self.at.admin_token)
    }

    /// Waits until the shop is ready, and until at least `known` of its instances said so under their names. Returns
    /// the number of these names: 0 if the responses name no instance.
    ///
    /// # Errors
    /// When the shop is not ready in time.
    pub async fn ready(&self, instances: usize, known: usize) -> Result<usize> {
        let ready = async {
            loop {
                match self.ready_instances(instances).await {
                    Some(names) if names >= known => return names,
                    _ => sleep(RETRY_AFTER).await,
                }
            }
        };
        timeout(BACK_WITHIN, ready)
            .await
            .with_context(|| format!("{}/readyz was not ready within {BACK_WITHIN:?}", self.at.host))
    }

    /// Returns how many instances name themselves in ready responses; `None` if one response is not ready.
    async fn ready_instances(&self, instances: usize) -> Option<usize> {
        let url = format!("{}/readyz", self.at.host);
        let mut names = HashSet::new();
        for _ in 0..instances * ASKED_EACH {
            let response = self.client.get(&url).send().await.ok()?;
            if !response.status().is_success() {
                return None;
            }
            names.extend(http::named(response.headers(), &http::INSTANCE));
            if names.len() >= instances {
                break;
            }
        }
        Some(names.len())
    }

    /// Sends one purchase outside the attack, on a connection of its own. Returns the response, and the wait that a
    /// busy response asks for.
    pub async fn buy(&self, purchase: &PurchaseRequest<'_>) -> (Response, Option<Duration>) {
        let sent = Instant::now();
        let request = purchase.fill(self.client.post(self.purchases()));
        let reply = Reply::read(request.send().await).await;
        let retry_after = reply.retry_after;
        (purchase.answered(reply, sent, sent), retry_after)
    }

    /// Returns the URL of purchases.
    pub fn purchases(&self) -> String {
        format!("{}/purchases", self.at.host)
    }
}

/// One purchase as it goes over the wire.
#[derive(Clone)]
pub struct PurchaseRequest<'a> {
    /// The strategy.
    pub strategy: &'a str,
    /// The item.
    pub item: &'a str,
    /// The number of units.
    pub quantity: u32,
    /// Its number in the round.
    pub number: usize,
    /// Its idempotency key.
    pub key: String,
    /// The buyer.
    pub buyer: String,
    /// Business time between read and write, in milliseconds.
    pub work_ms: u64,
    /// A fault for this purchase, with the token that it needs.
    pub fault: Option<(&'a str, &'a str)>,
}

impl PurchaseRequest<'_> {
    /// Writes the purchase into a request.
    pub fn fill(&self, request: RequestBuilder) -> RequestBuilder {
        let request = request
            .header("Idempotency-Key", &self.key)
            .header("X-Strategy", self.strategy)
            .header("X-Work-Ms", self.work_ms)
            .timeout(self.patience())
            .json(&serde_json::json!({ "item": self.item, "quantity": self.quantity, "buyer": self.buyer }));
        match self.fault {
            None => request,
            Some((fault, token)) => request.header("X-Fault", fault).bearer_auth(token),
        }
    }

    /// Returns how long its buyer waits for the response: longer if the purchase has to work longer.
    pub fn patience(&self) -> Duration {
        ANSWER_WITHIN + Duration::from_millis(self.work_ms)
    }

    /// Returns the response to this purchase.
    pub fn answered(&self, reply: Reply, intended: Instant, sent: Instant) -> Response {
        Response {
            number: self.number,
            key: self.key.clone(),
            buyer: self.buyer.clone(),
            quantity: self.quantity.into(),
            kind: reply.kind,
            order: reply.order,
            instance: reply.instance,
            intended,
            sent,
            ended: Instant::now(),
            hung_up: false,
            sent_again: false,
        }
    }
}
