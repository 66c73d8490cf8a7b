//! The requests to etcd. Each one is one round trip to its HTTP gateway.

use std::time::Duration;

use serde_json::{Value, json};

use super::SERVICE;
use super::gateway::{Gateway, Watch};
use super::json::{LeaseAnswer, Message, Range, Transaction, encoded, end_of_range};
use crate::domain::Error;
use crate::probe::{Command, Probe, Role, Step};

pub(super) const GRANT: Step = Step::command("grant", &["etcd/LeaseGrant"]);
pub(super) const PUT: Step = Step::command("put", &["etcd/Txn"]).plays(Role::Lock);
pub(super) const PREDECESSOR: Step = Step::command("predecessor", &["etcd/Range"]);
pub(super) const WATCH: Step = Step::command("watch", &["etcd/Watch"]);
pub(super) const CHECK: Step = Step::command("check", &["etcd/Range"]).plays(Role::Lock);
pub(super) const RENEW: Step = Step::command("renew", &["etcd/LeaseKeepAlive"]).plays(Role::Renew);
pub(super) const REVOKE: Step = Step::command("revoke", &["etcd/LeaseRevoke"]).plays(Role::Release);

pub(super) struct Protocol(Gateway);

#[derive(Clone, Copy)]
pub(super) struct Granted {
    pub(super) id: u64,
    pub(super) length: Duration,
}

pub(super) struct Put {
    /// Its create revision.
    pub(super) revision: u64,
    /// Whether it is the oldest key.
    pub(super) is_first: bool,
}

/// The predecessor of a key.
pub(super) struct Before {
    pub(super) key: String,
    /// The revision at which it was seen.
    pub(super) revision: u64,
}

impl Protocol {
    pub(super) fn new(urls: &[String]) -> Result<Self, Error> {
        Ok(Self(Gateway::new(urls)?))
    }

    /// Grants a lease of `length`, rounded up to whole seconds.
    pub(super) async fn grant(&self, length: Duration, key: &str, probe: &Probe) -> Result<Granted, Error> {
        let length_s = length.as_secs() + u64::from(length.subsec_nanos() > 0);
        let granted = Command::new(async move {
            let body = json!({ "TTL": length_s.to_string() });
            let answer: LeaseAnswer = self.0.ask("/v3/lease/grant", &body).await?;
            Ok(Granted {
                id: answer.id,
                length: Duration::from_secs(answer.length_s),
            })
        });
        let words = |granted: &Granted| format!("lease of {} s", granted.length.as_secs());
        probe.step(&GRANT, &key, granted, words).await
    }

    /// Puts a key that ends with the lease, and reads the oldest key under `prefix`. An existing key is an error.
    pub(super) async fn put(&self, prefix: &str, key: &str, lease: u64, probe: &Probe) -> Result<Put, Error> {
        let is_new = json!({ "key": encoded(key), "target": "CREATE", "result": "EQUAL", "create_revision": "0" });
        let put = json!({ "request_put": { "key": encoded(key), "lease": lease.to_string() } });
        let oldest = json!({ "request_range": sorted(prefix, "ASCEND") });
        let body = json!({ "compare": [is_new], "success": [put, oldest] });
        let put = Command::new(async move {
            let answer: Transaction = self.0.ask("/v3/kv/txn", &body).await?;
            if !answer.succeeded {
                return Err(Error::given_up(SERVICE, &"the key exists already"));
            }
            let ranges = answer.responses.into_iter().filter_map(|answer| answer.response_range);
            let oldest = ranges.flat_map(|range| range.kvs).next();
            Ok(Put {
                revision: answer.header.revision,
                is_first: oldest.is_some_and(|oldest| oldest.key == key),
            })
        });
        let words = |put: &Put| if put.is_first { "taken" } else { "in the queue" };
        probe.step(&PUT, &key, put, words).await
    }

    /// Returns the youngest key that is older than `revision`.
    pub(super) async fn predecessor(
        &self,
        prefix: &str,
        revision: u64,
        probe: &Probe,
    ) -> Result<Option<Before>, Error> {
        let mut body = sorted(prefix, "DESCEND");
        body["max_create_revision"] = Value::from(revision.saturating_sub(1).to_string());
        let before = Command::new(async move {
            let answer: Range = self.0.ask("/v3/kv/range", &body).await?;
            let revision = answer.header.revision;
            let youngest = answer.kvs.into_iter().next();
            Ok(youngest.map(|youngest| Before {
                key: youngest.key,
                revision,
            }))
        });
        let words = |before: &Option<Before>| {
            if before.is_some() {
                "there is one"
            } else {
                "there is none"
            }
        };
        probe.step(&PREDECESSOR, &prefix, before, words).await
    }

    /// Watches the deletion of a key, from the revision on at which it was seen: no deletion is missed.
    pub(super) async fn watch(&self, before: &Before, probe: &Probe) -> Result<Watch, Error> {
        let since = (before.revision + 1).to_string();
        let one = json!({ "key": encoded(&before.key), "start_revision": since, "filters": ["NOPUT"] });
        let body = json!({ "create_request": one });
        let watch = Command::new(async move { self.0.watch(&body).await });
        probe.step(&WATCH, &before.key, watch, |_| "watched").await
    }

    /// Whether the key still exists.
    pub(super) async fn is_there(&self, key: &str, probe: &Probe) -> Result<bool, Error> {
        let body = json!({ "key": encoded(key) });
        let check = Command::new(async move {
            let answer: Range = self.0.ask("/v3/kv/range", &body).await?;
            Ok(!answer.kvs.is_empty())
        });
        let words = |there: &bool| if *there { "still there" } else { "gone" };
        probe.step(&CHECK, &key, check, words).await
    }

    /// Renews a lease and returns how long it runs from now on; `None` when it has ended.
    pub(super) async fn keep_alive(&self, lease: u64, probe: &Probe) -> Result<Option<Duration>, Error> {
        let body = json!({ "ID": lease.to_string() });
        let renew = Command::new(async move {
            let answer: Message<LeaseAnswer> = self.0.ask("/v3/lease/keepalive", &body).await?;
            let length = Duration::from_secs(answer.result.length_s);
            Ok(Some(length).filter(|length| !length.is_zero()))
        });
        let words = |length: &Option<Duration>| if length.is_some() { "renewed" } else { "lease gone" };
        probe.step(&RENEW, &lease, renew, words).await
    }

    /// Ends a lease and deletes its key. False when the lease had ended before.
    pub(super) async fn revoke(&self, lease: u64, probe: &Probe) -> Result<bool, Error> {
        let body = json!({ "ID": lease.to_string() });
        let revoke = Command::new(async move {
            let answer: Option<Value> = self.0.ask_if_there("/v3/lease/revoke", &body).await?;
            Ok(answer.is_some())
        });
        let words = |revoked: &bool| if *revoked { "revoked" } else { "lease gone" };
        probe.step(&REVOKE, &lease, revoke, words).await
    }

    /// Deletes all keys under `prefix`. An operator asks for this, so it is not a step of a purchase.
    pub(super) async fn forget(&self, prefix: &str) -> Result<(), Error> {
        let body = json!({ "key": encoded(prefix), "range_end": end_of_range(prefix) });
        let _: Value = self.0.ask("/v3/kv/deleterange", &body).await?;
        Ok(())
    }
}

/// Returns the body of a request for the first key under `prefix`, in the `order` of create revisions.
fn sorted(prefix: &str, order: &str) -> Value {
    json!({
        "key": encoded(prefix),
        "range_end": end_of_range(prefix),
        "sort_target": "CREATE",
        "sort_order": order,
        "limit": "1",
    })
}
