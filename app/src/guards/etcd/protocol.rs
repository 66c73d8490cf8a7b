//! The requests to etcd. Each one is one round trip to its HTTP gateway.

use std::time::Duration;

use serde_json::{Value, json};

use super::SERVICE;
use super::gateway::{Gateway, Watch};
use super::json::{Deletion, LeaseAnswer, Message, Range, Transaction, encoded, end_of_range};
use crate::domain::Error;
use crate::probe::{Command, Data, Probe, Role, Step, StepResult, StepValue};

pub(in crate::guards) const GRANT: Step = Step::command("grant", &["etcd/LeaseGrant"]).writes(Data::LOCK);
pub(in crate::guards) const PUT: Step = Step::command("put", &["etcd/Txn"]).writes(Data::LOCK).plays(Role::Lock);
pub(in crate::guards) const PREDECESSOR: Step = Step::command("predecessor", &["etcd/Range"]).reads(Data::LOCK);
pub(in crate::guards) const WATCH: Step = Step::command("watch", &["etcd/Watch"]).reads(Data::LOCK);
pub(in crate::guards) const CHECK: Step = Step::command("check", &["etcd/Range"])
    .reads(Data::LOCK)
    .plays(Role::Lock);
pub(in crate::guards) const IS_OWNER: Step = Step::command("is-owner", &["etcd/Txn"])
    .reads(Data::LOCK)
    .plays(Role::Verify);
pub(in crate::guards) const RENEW: Step = Step::command("renew", &["etcd/LeaseKeepAlive"])
    .writes(Data::LOCK)
    .plays(Role::Renew);
pub(in crate::guards) const DELETE: Step = Step::command("delete", &["etcd/DeleteRange"])
    .writes(Data::LOCK)
    .plays(Role::Release);

pub(super) struct Protocol(Gateway);

#[derive(Clone, Copy)]
pub(super) struct Granted {
    pub(super) id: u64,
    pub(super) length: Duration,
}

pub(super) struct Put {
    /// The create revision of the key.
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
    pub(super) async fn grant(&self, length: Duration, probe: &Probe) -> Result<Granted, Error> {
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
        probe.step(&GRANT, &SERVICE, granted, words).await
    }

    /// Puts a key that ends with the lease, unless it is there already, and reads the oldest key under `prefix`. `None`
    /// when the lease has ended.
    pub(super) async fn put(&self, prefix: &str, key: &str, lease: u64, probe: &Probe) -> Result<Option<Put>, Error> {
        let is_new = created_at(key, 0);
        let put = json!({ "request_put": { "key": encoded(key), "lease": lease.to_string() } });
        let own = json!({ "request_range": { "key": encoded(key) } });
        let oldest = json!({ "request_range": sorted(prefix, "ASCEND") });
        let body = json!({ "compare": [is_new], "success": [put, oldest], "failure": [own, oldest] });
        let put = Command::new(async move {
            let answer: Option<Transaction> = self.0.ask_if_there("/v3/kv/txn", &body).await?;
            Ok(answer.map(put_or_found))
        });
        let words = |put: &Option<Put>| match put {
            Some(put) if put.is_first => StepValue::Taken(true).into(),
            Some(_) => StepValue::Taken(false).with("in the queue"),
            None => StepResult::from("session gone"),
        };
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

    /// Whether the own key still exists, when no older one does: then it has the lock.
    pub(super) async fn is_there(&self, key: &str, probe: &Probe) -> Result<bool, Error> {
        let body = json!({ "key": encoded(key) });
        let check = Command::new(async move {
            let answer: Range = self.0.ask("/v3/kv/range", &body).await?;
            Ok(!answer.kvs.is_empty())
        });
        let words = |there: &bool| match there {
            true => StepValue::Taken(true).with("still there"),
            false => StepResult::from("gone"),
        };
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

    /// Whether the key is still the one that was created at `revision`.
    pub(super) async fn is_owner(&self, key: &str, revision: u64, probe: &Probe) -> Result<bool, Error> {
        let body = json!({ "compare": [created_at(key, revision)] });
        let is_owner = Command::new(async move {
            let answer: Transaction = self.0.ask("/v3/kv/txn", &body).await?;
            Ok(answer.succeeded)
        });
        let words = |owner: &bool| if *owner { "still held" } else { "key gone" };
        probe.step(&IS_OWNER, &key, is_owner, words).await
    }

    /// Deletes a key. False when it was gone before.
    pub(super) async fn delete(&self, key: &str, probe: &Probe) -> Result<bool, Error> {
        let body = json!({ "key": encoded(key) });
        let delete = Command::new(async move {
            let answer: Deletion = self.0.ask("/v3/kv/deleterange", &body).await?;
            Ok(answer.deleted > 0)
        });
        let words = |deleted: &bool| if *deleted { "deleted" } else { "gone before" };
        probe.step(&DELETE, &key, delete, words).await
    }

    /// Deletes all keys under `prefix`. An operator asks for this, so it is not a step of a purchase.
    pub(super) async fn forget(&self, prefix: &str) -> Result<(), Error> {
        let body = json!({ "key": encoded(prefix), "range_end": end_of_range(prefix) });
        let _: Value = self.0.ask("/v3/kv/deleterange", &body).await?;
        Ok(())
    }
}

/// Returns the condition that a key was created at `revision`; 0 stands for a key that does not exist.
fn created_at(key: &str, revision: u64) -> Value {
    json!({
        "key": encoded(key),
        "target": "CREATE",
        "result": "EQUAL",
        "create_revision": revision.to_string(),
    })
}

/// Reads the response to [`Protocol::put`]: a key that was there already keeps its create revision.
fn put_or_found(answer: Transaction) -> Put {
    let found = answer.responses.into_iter().filter_map(|answer| answer.response_range);
    let mut found = found.map(|range| range.kvs.into_iter().next().map(|key| key.create_revision));
    let revision = match answer.succeeded {
        true => answer.header.revision,
        false => found.next().flatten().unwrap_or(answer.header.revision),
    };
    let oldest = found.next().flatten();
    Put {
        revision,
        is_first: oldest.is_none_or(|oldest| oldest == revision),
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
