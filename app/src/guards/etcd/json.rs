//! The JSON of etcd's HTTP gateway: bytes in base64, long numbers in quotes.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

#[derive(Default, Deserialize)]
pub(super) struct Header {
    #[serde(default, deserialize_with = "number")]
    pub(super) revision: u64,
}

/// The response to the grant or the renewal of a lease.
#[derive(Deserialize)]
pub(super) struct LeaseAnswer {
    #[serde(rename = "ID", default, deserialize_with = "number")]
    pub(super) id: u64,
    /// In seconds; 0 when the lease does not exist.
    #[serde(rename = "TTL", default, deserialize_with = "number")]
    pub(super) length_s: u64,
}

/// The keys that a request has found.
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
    #[serde(default, deserialize_with = "number")]
    pub(super) create_revision: u64,
}

/// The response to a deletion.
#[derive(Deserialize)]
pub(super) struct Deletion {
    /// How many keys were there.
    #[serde(default, deserialize_with = "number")]
    pub(super) deleted: u64,
}

#[derive(Deserialize)]
pub(super) struct Transaction {
    #[serde(default)]
    pub(super) header: Header,
    #[serde(default)]
    pub(super) succeeded: bool,
    #[serde(default)]
    pub(super) responses: Vec<Response>,
}

/// The response to one request of a transaction.
#[derive(Deserialize)]
pub(super) struct Response {
    pub(super) response_range: Option<Range>,
}

/// One message of a stream.
#[derive(Deserialize)]
pub(super) struct Message<T> {
    pub(super) result: T,
}

/// The content of a message of a watch.
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

/// Returns the end of the range of all keys that begin with `prefix`, in base64.
pub(super) fn end_of_range(prefix: &str) -> String {
    let mut end = prefix.as_bytes().to_vec();
    // An ASCII byte plus one does not overflow.
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
