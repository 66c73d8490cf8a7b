//! The sessions of etcd's lock: each key of a queue ends with the lease of its instance.

use anyhow::{Context, Result, ensure};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::Client;
use serde::Deserialize;
use serde_json::{Value, json};
use stack::{ServiceKind, Stores};

use super::queue;

/// A key in a queue. Key and numbers are in the words of the gateway.
#[derive(Deserialize)]
pub struct Key {
    key: String,
    #[serde(default)]
    lease: String,
}

/// The response to a request for keys.
#[derive(Deserialize)]
struct Keys {
    #[serde(default)]
    kvs: Vec<Key>,
}

/// The HTTP gateway of a server.
pub struct Etcd {
    client: Client,
    url: String,
}

impl Etcd {
    /// Finds a server.
    ///
    /// # Errors
    /// When none was started.
    pub fn new(stores: &Stores) -> Result<Self> {
        let url = stores.url(ServiceKind::Etcd).context("etcd was not started")?;
        Ok(Self {
            client: Client::builder().no_proxy().build()?,
            url: url.to_owned(),
        })
    }

    /// Returns the keys of the queue for the lock of an item, the oldest first.
    ///
    /// # Errors
    /// When etcd does not answer.
    pub async fn keys(&self, item: &str) -> Result<Vec<Key>> {
        let encoded = |text: String| BASE64_STANDARD.encode(text);
        // `0` comes after `/`, so these are all keys that begin with the name of the queue and `/`.
        let (first, end) = (
            encoded(format!("{}/", queue(item))),
            encoded(format!("{}0", queue(item))),
        );
        let oldest_first = json!({ "key": first, "range_end": end, "sort_target": "CREATE", "sort_order": "ASCEND" });
        let keys: Keys = serde_json::from_value(self.ask("/v3/kv/range", &oldest_first).await?)?;
        Ok(keys.kvs)
    }

    /// Returns the keys of the session that holds the lock.
    ///
    /// # Errors
    /// When etcd does not answer.
    pub async fn held_together(&self, item: &str) -> Result<Vec<String>> {
        let keys = self.keys(item).await?;
        let holder = keys.first().map(|key| key.lease.clone());
        let held = keys.into_iter().filter(|key| Some(&key.lease) == holder.as_ref());
        Ok(held.map(|key| key.key).collect())
    }

    /// Deletes the keys of the session that holds the lock, as the end of its lease does. The instance goes on with the lease:
    /// after a real end it begins another one for its next purchase, which makes no difference to those that have begun.
    ///
    /// # Errors
    /// When nobody holds the lock, or etcd does not answer.
    pub async fn end(&self, item: &str) -> Result<()> {
        let held = self.held_together(item).await?;
        ensure!(!held.is_empty(), "nobody holds the lock");
        let deletions = held.iter().map(|key| json!({ "request_delete_range": { "key": key } }));
        // One transaction deletes them at once.
        self.ask("/v3/kv/txn", &json!({ "success": deletions.collect::<Vec<_>>() }))
            .await?;
        Ok(())
    }

    async fn ask(&self, path: &str, body: &Value) -> Result<Value> {
        let sent = self.client.post(format!("{}{path}", self.url)).json(body).send().await;
        let answered = sent.and_then(reqwest::Response::error_for_status).context("etcd")?;
        answered.json().await.context("etcd")
    }
}
