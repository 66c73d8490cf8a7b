//! The language of etcd's HTTP gateway: JSON with bytes in base64 and long numbers in quotes.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// What etcd says of itself in every answer.
#[derive(Default, Deserialize)]
pub(super) struct Header {
    #[serde(default, deserialize_with = "number")]
    pub(super) revision: u64,
}

/// The answer to a lease that is wanted, or kept alive.
#[derive(Deserialize)]
pub(super) struct LeaseAnswer {
    #[serde(rename = "ID", default, deserialize_with = "number")]
    pub(super) id: u64,
    /// In seconds. None when there is no such lease.
    #[serde(rename = "TTL", default, deserialize_with = "number")]
    pub(super) length_s: u64,
}

/// Keys, as far as they were asked for.
#[derive(Default, Deserialize)]
pub(super) struct Range {
    #[serde(default)]
    pub(super) header: Header,
    #[serde(default)]
    pub(super) kvs: Vec<KeyValue>,
}

#[derive(Deserialize)]
pub(super) struct KeyValue {
    #[serde(deserialize_with = "text")]
    pub(super) key: String,
}

/// The answer to a transaction.
#[derive(Deserialize)]
pub(super) struct Transaction {
    #[serde(default)]
    pub(super) header: Header,
    #[serde(default)]
    pub(super) succeeded: bool,
    #[serde(default)]
    pub(super) responses: Vec<Response>,
}

/// The answer to one request of a transaction.
#[derive(Deserialize)]
pub(super) struct Response {
    pub(super) response_range: Option<Range>,
}

/// One message of a stream.
#[derive(Deserialize)]
pub(super) struct Message<T> {
    pub(super) result: T,
}

/// What a watch says.
#[derive(Deserialize)]
pub(super) struct Watched {
    #[serde(default)]
    pub(super) canceled: bool,
    #[serde(default)]
    pub(super) events: Vec<serde_json::Value>,
}

pub(super) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// The end of the range of all keys that begin with `prefix`.
pub(super) fn end_of_range(prefix: &str) -> String {
    let mut end = prefix.as_bytes().to_vec();
    // ASCII has a neighbour above.
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    encoded(end)
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let bytes = BASE64_STANDARD.decode(String::deserialize(deserializer)?);
    String::from_utf8(bytes.map_err(D::Error::custom)?).map_err(D::Error::custom)
}
