//! Messages of streams in Redis that a consumer has received and not acknowledged.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use anyhow::Result;
use redis::{Client, Connection, Value, cmd};

use crate::attack::AttackControl;
use crate::faults::restart;

/// The longest wait for one answer of Redis.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// The most messages of one group that are looked at.
const MOST_MESSAGES: usize = 1_000;

/// A message that a consumer has received.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Received {
    stream: String,
    group: String,
    id: String,
    /// The consumer that received it last.
    pub(crate) consumer: String,
}

/// Returns all messages that wait for an acknowledgement now, in every stream of the shop's Redis.
///
/// # Errors
/// When Redis does not answer.
pub(crate) async fn received(control: &AttackControl<'_>) -> Result<BTreeSet<Received>> {
    restart::on_stores(control, |stores| {
        let mut redis = Client::open(stores.redis_url())?.get_connection_with_timeout(ANSWERS_WITHIN)?;
        redis.set_read_timeout(Some(ANSWERS_WITHIN))?;
        let mut all = BTreeSet::new();
        for stream in streams(&mut redis)? {
            let groups: Vec<HashMap<String, Value>> = cmd("XINFO").arg("GROUPS").arg(&stream).query(&mut redis)?;
            for group in groups {
                let name: Option<String> = group.get("name").cloned().map(redis::from_redis_value).transpose()?;
                all.extend(pending(&mut redis, &stream, &name.unwrap_or_default())?);
            }
        }
        Ok(all)
    })
    .await
}

fn streams(redis: &mut Connection) -> Result<Vec<String>> {
    let mut scan = cmd("SCAN");
    scan.cursor_arg(0).arg("TYPE").arg("stream");
    Ok(scan.iter(redis)?.collect::<Result<_, _>>()?)
}

fn pending(redis: &mut Connection, stream: &str, group: &str) -> Result<Vec<Received>> {
    let mut pending = cmd("XPENDING");
    pending.arg(stream).arg(group).arg("-").arg("+").arg(MOST_MESSAGES);
    // Each with its idle time and its count of deliveries.
    let entries: Vec<(String, String, u64, u64)> = pending.query(redis)?;
    let received = entries.into_iter().map(|(id, consumer, ..)| Received {
        stream: stream.to_owned(),
        group: group.to_owned(),
        id,
        consumer,
    });
    Ok(received.collect())
}
