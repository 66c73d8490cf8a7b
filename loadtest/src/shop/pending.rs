//! Purchases that are neither done nor undone, as a shop with two stores may tell of them: its ledgers agree only when a
//! reconciler has finished or undone what a crash left in between.
//!
//! What it says delays the last look by some seconds, and changes nothing about it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::http;
use crate::shop::ShopClient;

/// How long what is open may be waited for.
pub const SETTLES_WITHIN: Duration = Duration::from_secs(10);

/// How often the instances are asked.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// How long an instance may take to answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// How long an instance is asked again that does not answer, or says that it cannot: what it asks may have been broken.
const COMES_TO_ITSELF_WITHIN: Duration = Duration::from_secs(3);

/// The most bytes of an answer that are read.
const MAX_BODY: usize = 64 * 1024;

/// What a shop's reconciler did for one sale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reconciled {
    /// Purchases that it finished.
    pub finished: u64,
    /// Purchases that it undid.
    pub undone: u64,
    /// The longest time that one hung in between, in milliseconds.
    pub longest_ms: u64,
}

impl Reconciled {
    /// What two of them say together.
    pub fn with(self, other: Self) -> Self {
        Self {
            finished: self.finished.saturating_add(other.finished),
            undone: self.undone.saturating_add(other.undone),
            longest_ms: self.longest_ms.max(other.longest_ms),
        }
    }
}

/// What an instance answers, as far as it is read.
#[derive(Deserialize)]
struct Said {
    pending: Pending,
}

#[derive(Deserialize)]
struct Pending {
    /// How many are neither done nor undone.
    open: u64,
    #[serde(flatten)]
    reconciled: Reconciled,
}

/// What came of asking an instance.
enum Response {
    /// It says how it stands, and perhaps its name.
    Said(Option<String>, Pending),
    /// It says nothing about that.
    Nothing,
    /// It does not answer, or has failed.
    NotNow,
}

/// One sale, asked about at every instance.
pub struct PendingSale {
    client: ShopClient,
    urls: Vec<String>,
}

impl PendingSale {
    /// Asks at all base URLs of the admin listeners; nothing is sent yet.
    pub fn new(client: ShopClient, admins: &[String], item: &str) -> Self {
        let urls = admins.iter().map(|admin| format!("{admin}/sales/{item}"));
        Self {
            client,
            urls: urls.collect(),
        }
    }

    /// Waits until no instance says that something is open, but not beyond `deadline`. What they say then together;
    /// `None` where nobody says anything.
    pub async fn settled(&self, deadline: Instant) -> Option<Reconciled> {
        let begun = Instant::now();
        loop {
            let (said, all_answered) = self.ask().await;
            let is_open = said.iter().any(|pending| pending.open > 0);
            let may_come_to_itself = !all_answered && begun.elapsed() < COMES_TO_ITSELF_WITHIN;
            if !(is_open || may_come_to_itself) || Instant::now() >= deadline {
                let reconciled = said.into_iter().map(|pending| pending.reconciled);
                return reconciled.reduce(Reconciled::with);
            }
            sleep(ASK_EVERY).await;
        }
    }

    /// What each instance says, where two addresses whose answers name the same one are one, and whether all of them answered.
    async fn ask(&self) -> (Vec<Pending>, bool) {
        let responses = join_all(self.urls.iter().map(|url| self.read(url))).await;
        let all_answered = !responses.iter().any(|response| matches!(response, Response::NotNow));
        let told_apart = self
            .urls
            .iter()
            .zip(responses)
            .filter_map(|(url, response)| match response {
                Response::Said(name, pending) => Some((name.unwrap_or_else(|| url.clone()), pending)),
                Response::Nothing | Response::NotNow => None,
            });
        let said = told_apart.collect::<BTreeMap<_, _>>().into_values().collect();
        (said, all_answered)
    }

    async fn read(&self, url: &str) -> Response {
        let request = self.client.operator(Method::GET, url).timeout(ANSWERS_WITHIN);
        let response = match request.send().await {
            Ok(response) if response.status() == StatusCode::OK => response,
            Ok(response) if !response.status().is_server_error() => return Response::Nothing,
            Ok(_) | Err(_) => return Response::NotNow,
        };
        let name = http::named(response.headers(), &http::INSTANCE);
        let said = http::body(response, MAX_BODY).await;
        match said.and_then(|body| serde_json::from_slice::<Said>(&body).ok()) {
            Some(said) => Response::Said(name, said.pending),
            None => Response::Nothing,
        }
    }
}
