//! Pending purchases, which a shop with two stores may report. Its ledgers agree only when a reconciler has finished or
//! undone everything that a crash left half done.
//!
//! The report delays the last observation by some seconds and changes nothing else.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::http;
use crate::shop::ShopClient;

/// The longest wait for pending purchases.
pub const SETTLES_WITHIN: Duration = Duration::from_secs(10);

/// The pause between two questions to the instances.
const ASK_EVERY: Duration = Duration::from_millis(100);

/// The longest wait for one answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// The longest time for which a failing or silent instance is asked again: a store that it uses may have been broken.
const RECOVERS_WITHIN: Duration = Duration::from_secs(3);

/// The most bytes of an answer that are read.
const MAX_BODY: usize = 64 * 1024;

/// The work of a shop's reconciler for one sale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reconciled {
    /// Purchases that it finished.
    pub finished: u64,
    /// Purchases that it undid.
    pub undone: u64,
    /// The longest time for which a purchase was pending, in milliseconds.
    pub longest_ms: u64,
}

impl Reconciled {
    /// Adds up the work of two of them.
    pub fn with(self, other: Self) -> Self {
        Self {
            finished: self.finished.saturating_add(other.finished),
            undone: self.undone.saturating_add(other.undone),
            longest_ms: self.longest_ms.max(other.longest_ms),
        }
    }
}

/// The answer of an instance, as far as it is read.
#[derive(Deserialize)]
struct SaleReport {
    pending: Pending,
}

#[derive(Deserialize)]
struct Pending {
    /// Purchases that are pending now.
    open: u64,
    #[serde(flatten)]
    reconciled: Reconciled,
}

/// The result of asking an instance.
enum Answer {
    /// Its pending purchases, and its name if it gives one.
    Report(Option<String>, Pending),
    /// No report of pending purchases.
    Nothing,
    /// No answer, or a failure.
    NotNow,
}

/// The pending purchases of one sale, asked for at every instance.
pub struct PendingSale {
    client: ShopClient,
    urls: Vec<String>,
}

impl PendingSale {
    /// Asks all base URLs of the admin listeners. It sends nothing yet.
    pub fn new(client: ShopClient, admins: &[String], item: &str) -> Self {
        let urls = admins.iter().map(|admin| format!("{admin}/sales/{item}"));
        Self {
            client,
            urls: urls.collect(),
        }
    }

    /// Waits until no instance reports a pending purchase, but not beyond `deadline`. Returns the work of all
    /// reconcilers, or `None` if no instance reports any.
    pub async fn settled(&self, deadline: Instant) -> Option<Reconciled> {
        let begun = Instant::now();
        loop {
            let (reports, all_answered) = self.ask().await;
            let is_open = reports.iter().any(|pending| pending.open > 0);
            let may_recover = !all_answered && begun.elapsed() < RECOVERS_WITHIN;
            if !(is_open || may_recover) || Instant::now() >= deadline {
                let reconciled = reports.into_iter().map(|pending| pending.reconciled);
                return reconciled.reduce(Reconciled::with);
            }
            sleep(ASK_EVERY).await;
        }
    }

    /// Returns the report of each instance, and whether all of them answered. Two addresses that give the same name are
    /// one instance.
    async fn ask(&self) -> (Vec<Pending>, bool) {
        let answers = join_all(self.urls.iter().map(|url| self.read(url))).await;
        let all_answered = !answers.iter().any(|answer| matches!(answer, Answer::NotNow));
        let by_name = self.urls.iter().zip(answers).filter_map(|(url, answer)| match answer {
            Answer::Report(name, pending) => Some((name.unwrap_or_else(|| url.clone()), pending)),
            Answer::Nothing | Answer::NotNow => None,
        });
        let reports = by_name.collect::<BTreeMap<_, _>>().into_values().collect();
        (reports, all_answered)
    }

    async fn read(&self, url: &str) -> Answer {
        let request = self.client.operator(Method::GET, url).timeout(ANSWERS_WITHIN);
        let response = match request.send().await {
            Ok(response) if response.status() == StatusCode::OK => response,
            Ok(response) if !response.status().is_server_error() => return Answer::Nothing,
            Ok(_) | Err(_) => return Answer::NotNow,
        };
        let name = http::named(response.headers(), &http::INSTANCE);
        let body = http::body(response, MAX_BODY).await;
        match body.and_then(|body| serde_json::from_slice::<SaleReport>(&body).ok()) {
            Some(report) => Answer::Report(name, report.pending),
            None => Answer::Nothing,
        }
    }
}
