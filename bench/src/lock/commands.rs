//! How many commands Redis was sent.

use anyhow::{Context, Result};
use redis::aio::MultiplexedConnection;
use redis::{Client, InfoDict, Value, cmd};

/// Counts by INFO commandstats. Redis counts there what a script calls just as what a client sends, and no other counter of
/// it tells the two apart; so only the commands are counted that the contender says it sends, and it may name none that its
/// scripts call, too. A test holds that against what MONITOR shows.
pub struct CommandCounter {
    connection: MultiplexedConnection,
    sends: &'static [&'static str],
}

impl CommandCounter {
    /// Connects past every relay. `sends` are commands in small letters.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn connect(client: &Client, sends: &'static [&'static str]) -> Result<Self> {
        Ok(Self {
            connection: client.get_multiplexed_async_connection().await?,
            sends,
        })
    }

    /// How many of these there have been since Redis was started.
    ///
    /// # Errors
    /// When Redis does not answer, or not in the way it is known to.
    pub async fn so_far(&mut self) -> Result<u64> {
        let statistics: InfoDict = cmd("INFO")
            .arg("commandstats")
            .query_async(&mut self.connection)
            .await?;
        let mut all = 0;
        for name in self.sends {
            // One that was never sent is not listed.
            if let Some(Value::SimpleString(statistic)) = statistics.find(&&*format!("cmdstat_{name}")) {
                all += calls(statistic).with_context(|| format!("no count of calls in {statistic:?}"))?;
            }
        }
        Ok(all)
    }
}

/// From `calls=12,usec=34,...`.
fn calls(statistic: &str) -> Option<u64> {
    let mut fields = statistic.split(',');
    fields.find_map(|field| field.strip_prefix("calls="))?.parse().ok()
}
