//! Counts the commands that Redis receives.

use anyhow::{Context, Result};
use redis::aio::MultiplexedConnection;
use redis::{Client, InfoDict, Value, cmd};

/// Counts with INFO commandstats. That counter includes the commands that scripts call, and Redis has no other. So it
/// counts only the commands that the contender declares as sent, and a contender must not declare a command that its
/// scripts call. A test compares the count with MONITOR.
pub struct CommandCounter {
    connection: MultiplexedConnection,
    sends: &'static [&'static str],
}

impl CommandCounter {
    /// Connects without a relay. `sends` are commands in lower case.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn connect(client: &Client, sends: &'static [&'static str]) -> Result<Self> {
        Ok(Self {
            connection: client.get_multiplexed_async_connection().await?,
            sends,
        })
    }

    /// Returns the number of these commands since the start of Redis.
    ///
    /// # Errors
    /// When Redis does not answer, or answers in an unknown form.
    pub async fn so_far(&mut self) -> Result<u64> {
        let statistics: InfoDict = cmd("INFO")
            .arg("commandstats")
            .query_async(&mut self.connection)
            .await?;
        let mut all = 0;
        for name in self.sends {
            // A command that nobody sent is not listed.
            if let Some(Value::SimpleString(statistic)) = statistics.find(&&*format!("cmdstat_{name}")) {
                all += calls(statistic).with_context(|| format!("{statistic:?} has no count of calls"))?;
            }
        }
        Ok(all)
    }
}

/// Reads the count from `calls=12,usec=34,...`.
fn calls(statistic: &str) -> Option<u64> {
    let mut fields = statistic.split(',');
    fields.find_map(|field| field.strip_prefix("calls="))?.parse().ok()
}
