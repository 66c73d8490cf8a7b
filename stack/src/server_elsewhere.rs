//! A server in a container: its URL, and whether it serves.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

use ::redis::{Client, cmd};
use anyhow::{Context, Result};

use crate::ready::{ANSWER_LIMIT, authentication, connect_to, get, greeting, srvr};
use crate::server_kind::ServerKind;

/// A server in a container.
#[derive(Clone)]
pub struct ServerElsewhere {
    kind: ServerKind,
    url: String,
}

impl ServerElsewhere {
    /// Names a server by the URL that its clients use.
    pub(crate) fn at(kind: ServerKind, url: &str) -> ServerElsewhere {
        ServerElsewhere {
            kind,
            url: url.to_owned(),
        }
    }

    /// Returns its URL if it is a Redis.
    pub(crate) fn redis_url(&self) -> Option<String> {
        (self.kind == ServerKind::Redis).then(|| self.url.clone())
    }

    /// Asks once.
    pub(crate) fn check(&self) -> Result<()> {
        match self.kind {
            ServerKind::Redis => ping(&self.url),
            ServerKind::MariaDb => greeting(connect_to(self.address()?)?),
            ServerKind::Postgres => authentication(connect_to(self.address()?)?),
            ServerKind::ZooKeeper => srvr(connect_to(self.address()?)?),
            ServerKind::Etcd => get(self.address()?, "/health"),
            ServerKind::Nginx => get(self.address()?, "/readyz"),
        }
    }

    /// Returns the address in its URL.
    fn address(&self) -> Result<SocketAddr> {
        let host = self.host().context("its URL names no host")?;
        let host = if host.contains(':') {
            host.to_owned()
        } else {
            format!("{host}:{}", self.port())
        };
        let found = host
            .to_socket_addrs()
            .with_context(|| format!("{host} has no address"))?;
        found
            .into_iter()
            .next()
            .with_context(|| format!("{host} has no address"))
    }

    /// Returns the name between the password and the path.
    fn host(&self) -> Option<&str> {
        let (_, rest) = self.url.split_once("://")?;
        let authority = rest.split(['/', '?']).next()?;
        let host = authority.rsplit('@').next()?;
        (!host.is_empty()).then_some(host)
    }

    fn port(&self) -> u16 {
        match self.kind {
            ServerKind::Redis => 6_379,
            ServerKind::MariaDb => 3_306,
            ServerKind::Postgres => 5_432,
            ServerKind::ZooKeeper => 2_181,
            ServerKind::Etcd => 2_379,
            ServerKind::Nginx => 80,
        }
    }
}

impl fmt::Debug for ServerElsewhere {
    /// Leaves out the URL, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServerElsewhere").field(&self.kind).finish()
    }
}

/// While it loads data it answers with an error.
fn ping(url: &str) -> Result<()> {
    let mut redis = Client::open(url)?.get_connection_with_timeout(ANSWER_LIMIT)?;
    redis.set_read_timeout(Some(ANSWER_LIMIT))?;
    cmd("PING").exec(&mut redis).context("PING was refused")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_a_url_is_found_and_its_password_is_never_shown() {
        let table = [
            (ServerKind::Redis, "redis://:p@ss@127.0.0.1", "127.0.0.1:6379"),
            (ServerKind::MariaDb, "mysql://u:secret@127.0.0.1/shop", "127.0.0.1:3306"),
            (
                ServerKind::MariaDb,
                "mysql://u:secret@127.0.0.1:3307/shop",
                "127.0.0.1:3307",
            ),
            (
                ServerKind::Postgres,
                "postgres://u:secret@127.0.0.1/shop?a=b",
                "127.0.0.1:5432",
            ),
            (ServerKind::ZooKeeper, "zookeeper://127.0.0.1:2181", "127.0.0.1:2181"),
        ];
        for (kind, url, expected) in table {
            let server = ServerElsewhere::at(kind, url);
            assert_eq!(server.address().unwrap().to_string(), expected, "{url}");
            assert!(!format!("{server:?}").contains("secret"));
        }
        assert!(ServerElsewhere::at(ServerKind::Redis, "redis:///").address().is_err());
    }
}
