//! HTTP as it is spoken with a stranger: no redirects, no compression, no body without end.

use std::time::Duration;

use anyhow::{Context, Result};
use reqwest::header::{HeaderMap, HeaderName};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};

use crate::text::MAX_NAME;

/// How long a shop or a store may take to come back after a fault.
pub const BACK_WITHIN: Duration = Duration::from_secs(15);

/// The header in which an instance names itself.
pub const INSTANCE: HeaderName = HeaderName::from_static("x-instance");

/// The header in which an admin listener may name its process: another one after each start.
pub const PROCESS: HeaderName = HeaderName::from_static("x-process");

/// A client that keeps its connections, for a crowd.
///
/// # Errors
/// When the HTTP client cannot be built.
pub fn keeping_connections(patience: Duration) -> Result<Client> {
    build(wary(patience))
}

/// A client that opens a connection for each request: what it asks cannot fail because a kept connection was closed
/// meanwhile, and a proxy is free to choose another instance each time.
///
/// # Errors
/// When the HTTP client cannot be built.
pub fn connecting_anew(patience: Duration) -> Result<Client> {
    build(wary(patience).pool_max_idle_per_host(0))
}

/// What is compressed can be a thousand times larger than what came over the wire, and who redirects a purchase has it
/// sent twice.
fn wary(patience: Duration) -> ClientBuilder {
    let client = Client::builder().timeout(patience).no_proxy().redirect(Policy::none());
    client.no_gzip().no_brotli().no_zstd().no_deflate()
}

fn build(client: ClientBuilder) -> Result<Client> {
    client.build().context("could not build the HTTP client")
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

/// What an answer names in a header. Names are told apart and never shown, so that any short one will do.
pub fn named(headers: &HeaderMap, header: &HeaderName) -> Option<String> {
    let name = headers.get(header)?.to_str().ok()?;
    (1..=MAX_NAME).contains(&name.len()).then(|| name.to_owned())
}
