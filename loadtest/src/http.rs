//! HTTP with a shop that is not trusted: no redirects, no compression, no body without a limit.

use std::time::Duration;

use anyhow::Result;
use reqwest::header::{HeaderMap, HeaderName};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};

use crate::text::MAX_NAME;
use crate::trust::Trust;

/// The longest time that a shop or a store may need to come back after a fault.
pub const BACK_WITHIN: Duration = Duration::from_secs(15);

/// The header in which an instance gives its name.
pub const INSTANCE: HeaderName = HeaderName::from_static("x-instance");

/// The header in which an admin listener may name its process. The name changes with each start.
pub const PROCESS: HeaderName = HeaderName::from_static("x-process");

/// Returns a client that keeps its connections, for a crowd.
///
/// # Errors
/// When the HTTP client cannot be built.
pub fn keeping_connections(patience: Duration, trust: &Trust) -> Result<Client> {
    trust.build(distrustful(patience))
}

/// Returns a client that opens a connection for each request. Its request cannot fail because a kept connection was
/// closed in the meantime, and a proxy can choose another instance each time.
///
/// # Errors
/// When the HTTP client cannot be built.
pub fn connecting_anew(patience: Duration, trust: &Trust) -> Result<Client> {
    trust.build(distrustful(patience).pool_max_idle_per_host(0))
}

/// A compressed body can be a thousand times larger than its bytes on the wire. A redirect would send a purchase twice.
fn distrustful(patience: Duration) -> ClientBuilder {
    let client = Client::builder().timeout(patience).no_proxy().redirect(Policy::none());
    client.no_gzip().no_brotli().no_zstd().no_deflate()
}

/// Reads a body of at most `limit` bytes; `None` when it is longer or breaks off.
pub async fn body(mut response: Response, limit: usize) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() <= limit => body.extend_from_slice(&chunk),
            Ok(None) => return Some(body),
            Ok(Some(_)) | Err(_) => return None,
        }
    }
}

/// Returns the name that a response gives in a header. Names are only compared and never shown, so any short name is
/// accepted.
pub fn named(headers: &HeaderMap, header: &HeaderName) -> Option<String> {
    let name = headers.get(header)?.to_str().ok()?;
    (1..=MAX_NAME).contains(&name.len()).then(|| name.to_owned())
}
