//! The leader of an ensemble of lock servers, by what the servers say of themselves.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use stack::{ServiceKind, Stores};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::http;
use crate::trust::Trust;

/// The longest wait for the answer of one server.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// The longest wait for a leader.
const ELECTED_WITHIN: Duration = Duration::from_secs(10);

const CHECK_EVERY: Duration = Duration::from_millis(20);

/// The most bytes of an answer that are read.
const MAX_ANSWER: usize = 16 * 1024;

/// Waits until a server leads the ensemble, other than the one at the place `before`. Returns its place among the
/// processes of the service.
///
/// # Errors
/// When none does after some seconds.
pub(crate) async fn elected(stores: &Stores, kind: ServiceKind, before: Option<usize>) -> Result<usize> {
    let running = stores.services().find(|(service, _)| *service == kind);
    let (_, urls) = running.with_context(|| format!("{kind} was not started here"))?;
    let begun = Instant::now();
    while begun.elapsed() < ELECTED_WITHIN {
        let others = urls.iter().enumerate().filter(|(place, _)| Some(*place) != before);
        for (place, url) in others {
            // A server that does not answer does not lead.
            if let Ok(Some(true)) = timeout(ANSWERS_WITHIN, leads(kind, url)).await {
                return Ok(place);
            }
        }
        sleep(CHECK_EVERY).await;
    }
    bail!("{kind} had no leader after {ELECTED_WITHIN:?}")
}

/// Returns whether the server at this URL says that it leads; `None` if it does not say.
async fn leads(kind: ServiceKind, url: &str) -> Option<bool> {
    match kind {
        ServiceKind::ZooKeeper => zookeeper_leads(url).await,
        ServiceKind::Etcd => etcd_leads(url).await,
        ServiceKind::Redis
        | ServiceKind::Sql
        | ServiceKind::SecondSql
        | ServiceKind::Pg
        | ServiceKind::Cluster
        | ServiceKind::RedisNodes => None,
    }
}

/// Asks with `srvr`, one of ZooKeeper's four-letter words. A server on its own says that its mode is standalone.
async fn zookeeper_leads(url: &str) -> Option<bool> {
    let (_, address) = url.split_once("://")?;
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(b"srvr").await.ok()?;
    let mut answer = String::new();
    let mut bounded = stream.take(MAX_ANSWER as u64);
    bounded.read_to_string(&mut answer).await.ok()?;
    Some(answer.lines().any(|line| line == "Mode: leader"))
}

/// Asks for the status over the JSON gateway: it names the leader, and the server that answers.
async fn etcd_leads(url: &str) -> Option<bool> {
    let client = http::connecting_anew(ANSWERS_WITHIN, &Trust::System).ok()?;
    let asked = client.post(format!("{url}/v3/maintenance/status")).body("{}");
    let answer = http::body(asked.send().await.ok()?, MAX_ANSWER).await?;
    let status: Value = serde_json::from_slice(&answer).ok()?;
    let leader = status.get("leader")?.as_str()?;
    Some(status.pointer("/header/member_id")?.as_str()? == leader)
}
