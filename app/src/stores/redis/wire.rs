//! A connection to one Redis server, or one to each node of a cluster. Both carry the same commands.

use std::time::Duration;

use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig, MultiplexedConnection, PubSub};
use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::{AsyncConnectionConfig, Cmd, IntoConnectionInfo, Pipeline, RedisError, RedisFuture, RedisResult, Value};

use super::super::{ANSWER_WITHIN, CONNECT_WITHIN};
use super::cluster::{Cluster, Following};

/// The attempts to restore a lost connection before a command fails: the first after 0.1 to 0.2 s, the second after 0.2
/// to 0.4 s more. With the client's default of six, each purchase would wait ten seconds for a Redis that is gone.
const RECONNECTS: usize = 2;

/// What connections lead to.
#[derive(Clone)]
pub(super) enum Server {
    /// One server.
    One(Box<redis::Client>),
    /// The nodes of a cluster.
    Cluster(Box<Cluster>),
}

/// A connection, or one to each node of a cluster.
#[derive(Clone)]
pub(super) enum Wire {
    /// It is opened again when it has ended.
    Restored(ConnectionManager),
    /// It ends for good.
    Once(MultiplexedConnection),
    /// It follows the redirects of the nodes.
    Cluster(Following),
}

impl Server {
    /// A server at that URL.
    pub(super) fn one(url: &str) -> Result<Self, RedisError> {
        let info = url.into_connection_info()?.set_tcp_settings(tcp());
        Ok(Self::One(Box::new(redis::Client::open(info)?)))
    }

    /// Opens the connection that all purchases share, and waits until it is open.
    pub(super) async fn share(&self, answer_within: Duration) -> RedisResult<Wire> {
        Ok(match self {
            Self::One(client) => {
                Wire::Restored(ConnectionManager::new_with_config((**client).clone(), limits(answer_within)).await?)
            }
            Self::Cluster(cluster) => Wire::Cluster(cluster.share()),
        })
    }

    /// Opens another one at its first command.
    pub(super) fn share_anew(&self, answer_within: Duration) -> RedisResult<Wire> {
        Ok(match self {
            Self::One(client) => Wire::Restored(ConnectionManager::new_lazy_with_config(
                (**client).clone(),
                limits(answer_within),
            )?),
            Self::Cluster(cluster) => Wire::Cluster(cluster.share()),
        })
    }

    /// Opens a connection for one purchase at a time.
    pub(super) async fn connect(&self) -> RedisResult<Wire> {
        let limits = AsyncConnectionConfig::new()
            .set_response_timeout(Some(ANSWER_WITHIN))
            .set_connection_timeout(Some(CONNECT_WITHIN));
        Ok(match self {
            Self::One(client) => Wire::Once(client.get_multiplexed_async_connection_with_config(&limits).await?),
            Self::Cluster(cluster) => Wire::Cluster(cluster.connect().await?),
        })
    }

    /// Opens a connection for messages. A message to one node of a cluster reaches the subscribers of all others.
    pub(super) async fn listen(&self) -> RedisResult<PubSub> {
        match self {
            Self::One(client) => client.get_async_pubsub().await,
            Self::Cluster(cluster) => cluster.listen().await,
        }
    }
}

impl ConnectionLike for Wire {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::Restored(connection) => connection.req_packed_command(command),
            Self::Once(connection) => connection.req_packed_command(command),
            Self::Cluster(connections) => connections.req_packed_command(command),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::Restored(connection) => connection.req_packed_commands(pipeline, offset, count),
            Self::Once(connection) => connection.req_packed_commands(pipeline, offset, count),
            Self::Cluster(connections) => connections.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::Restored(connection) => connection.get_db(),
            Self::Once(connection) => connection.get_db(),
            Self::Cluster(connections) => connections.get_db(),
        }
    }
}

/// By keepalive the kernel detects a peer that has vanished, also while the connection is idle.
pub(super) fn tcp() -> TcpSettings {
    TcpSettings::default()
        .set_nodelay(true)
        .set_keepalive(
            TcpKeepalive::new()
                .with_time(ANSWER_WITHIN)
                .with_interval(CONNECT_WITHIN),
        )
        .set_user_timeout(ANSWER_WITHIN)
}

fn limits(answer_within: Duration) -> ConnectionManagerConfig {
    ConnectionManagerConfig::new()
        .set_response_timeout(Some(answer_within))
        .set_connection_timeout(Some(CONNECT_WITHIN))
        .set_number_of_retries(RECONNECTS)
        .set_max_delay(CONNECT_WITHIN)
}
