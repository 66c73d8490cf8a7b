//! Begins, collects and ends the trace of one sale at every instance.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::{Method, StatusCode};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::event::InstanceTrace;
use super::purchase::Trace;
use crate::http;
use crate::shop::ShopClient;

/// The longest time in which an instance begins or ends a trace.
const BEGINS_WITHIN: Duration = Duration::from_secs(5);

/// The longest time in which an instance gives its trace. Another round may meanwhile kill the instance or pause it for
/// seconds.
const READ_WITHIN: Duration = Duration::from_secs(10);

/// The wait before the next request to an instance that cannot be reached.
const READ_AGAIN: Duration = Duration::from_millis(100);

/// The longest trace of one instance, in bytes.
const MAX_TRACE: usize = 49 * 1024 * 1024;

/// The trace of one instance, as the instance wrote it.
#[derive(Clone, Debug)]
pub struct RawTrace {
    /// The instance's name.
    pub instance: String,
    /// The JSON document.
    pub json: Vec<u8>,
}

/// A sale that is traced at every instance of a shop.
#[derive(Clone)]
pub struct SaleTrace {
    client: ShopClient,
    /// The URLs of the trace, one for each address.
    urls: Vec<String>,
    /// The number of instances.
    instances: usize,
}

impl SaleTrace {
    /// Returns the trace that these instances write already.
    pub fn begun(client: ShopClient, admins: Vec<String>, instances: usize, item: &str) -> Self {
        let urls = admins.into_iter().map(|admin| format!("{admin}/sales/{item}/trace"));
        Self {
            client,
            urls: urls.collect(),
            instances,
        }
    }

    /// Asks every instance to write a trace. `admins` are the base URLs of the admin listeners. Returns `None` where
    /// one instance writes no traces.
    pub async fn begin(client: ShopClient, admins: Vec<String>, instances: usize, item: &str) -> Option<Self> {
        let mut begun = Self::begun(client, admins, instances, item);
        let responses = begun.ask_all(Method::PUT).await;
        let is_refused = responses.iter().flatten().any(|status| !status.is_success());
        // One name may stand for several addresses, and some of them may have no listener.
        let mut responses = responses.into_iter();
        begun.urls.retain(|_| responses.next().flatten().is_some());
        if is_refused || begun.urls.len() < instances {
            begun.end().await;
            return None;
        }
        Some(begun)
    }

    /// Reads the trace of every instance and deletes it there. Returns it together with what it was read from, or `None` when one
    /// trace is missing, is not whole or cannot be read.
    pub async fn collect(self) -> Option<(Trace, Vec<RawTrace>)> {
        let read = self.read_all().await;
        self.end().await;
        let (traces, raw) = read?;
        Some((Trace::of(traces)?, raw))
    }

    /// Reads the trace of every instance so far. Returns `None` for the same reasons.
    pub async fn look(&self) -> Option<Trace> {
        let (traces, _) = self.read_all().await?;
        Trace::of(traces)
    }

    /// Reads the traces of all instances, in the order of their names.
    async fn read_all(&self) -> Option<(Vec<InstanceTrace>, Vec<RawTrace>)> {
        let read = join_all(self.urls.iter().map(|url| self.read(url))).await;
        // Two addresses may be one instance.
        let named = read.into_iter().flatten();
        let traces: BTreeMap<String, _> = named.map(|read| (read.1.instance.clone(), read)).collect();
        (traces.len() == self.instances).then(|| traces.into_values().unzip())
    }

    async fn read(&self, url: &str) -> Option<(InstanceTrace, RawTrace)> {
        let deadline = Instant::now() + READ_WITHIN;
        let response = loop {
            let request = self.client.operator(Method::GET, url);
            match request
                .timeout(deadline.saturating_duration_since(Instant::now()))
                .send()
                .await
            {
                Ok(response) if response.status() == StatusCode::OK => break response,
                // Another round may have killed it just now: it comes back with its trace.
                Err(_) if Instant::now() + READ_AGAIN < deadline => sleep(READ_AGAIN).await,
                Ok(_) | Err(_) => return None,
            }
        };
        let body = http::body(response, MAX_TRACE).await?;
        // A trace has megabytes, and parsing it here would slow the rounds that are measured meanwhile.
        let parse = move || {
            let trace = InstanceTrace::parse(&body)?;
            let instance = trace.instance.clone();
            Some((trace, RawTrace { instance, json: body }))
        };
        spawn_blocking(parse).await.ok()?
    }

    async fn end(&self) {
        self.ask_all(Method::DELETE).await;
    }

    async fn ask_all(&self, method: Method) -> Vec<Option<StatusCode>> {
        let asked = self.urls.iter().map(async |url| {
            let request = self.client.operator(method.clone(), url).timeout(BEGINS_WITHIN);
            Some(request.send().await.ok()?.status())
        });
        join_all(asked).await
    }
}
