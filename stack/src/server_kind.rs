//! The servers that a run uses.

use std::fmt;

/// A server that a run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerKind {
    /// The store in memory; Valkey will do.
    Redis,
    /// The SQL store.
    MariaDb,
    /// The proxy before the instances.
    Nginx,
    /// A store that some strategies need.
    Postgres,
    /// A lock service that some strategies need; it runs on Java.
    ZooKeeper,
    /// A lock service that some strategies need.
    Etcd,
}

impl ServerKind {
    /// Every kind, in the order in which `doctor` lists them.
    pub const ALL: [ServerKind; 6] = [
        ServerKind::Redis,
        ServerKind::MariaDb,
        ServerKind::Nginx,
        ServerKind::Postgres,
        ServerKind::ZooKeeper,
        ServerKind::Etcd,
    ];

    /// Whether only some strategies need it: it is not fetched before one of these is to be played.
    pub fn is_optional(self) -> bool {
        matches!(self, ServerKind::Postgres | ServerKind::ZooKeeper | ServerKind::Etcd)
    }

    /// The names under which its binary is known, the better one first.
    pub(crate) fn binaries(self) -> &'static [&'static str] {
        match self {
            ServerKind::Redis => &["redis-server", "valkey-server"],
            ServerKind::MariaDb => &["mariadbd", "mysqld"],
            ServerKind::Nginx => &["nginx"],
            ServerKind::Postgres => &["postgres"],
            ServerKind::ZooKeeper => &["java"],
            ServerKind::Etcd => &["etcd"],
        }
    }

    /// The jars of a program in Java, as Debian and Ubuntu call them; none for any other program.
    pub(crate) fn jars(self) -> &'static [&'static str] {
        match self {
            ServerKind::ZooKeeper => &[
                "zookeeper",
                "zookeeper-jute",
                "slf4j-api",
                "slf4j-simple",
                "metrics-core",
                "snappy-java",
                "netty-all",
            ],
            _ => &[],
        }
    }

    /// The packages of Debian and Ubuntu that hold the binary and little else.
    pub(crate) fn packages(self) -> &'static [&'static str] {
        match self {
            ServerKind::Redis => &["redis-server"],
            ServerKind::MariaDb => &["mariadb-server-core"],
            ServerKind::Nginx => &["nginx-light"],
            ServerKind::Postgres => &["postgresql"],
            ServerKind::ZooKeeper => &["libzookeeper-java", "default-jre-headless"],
            ServerKind::Etcd => &["etcd-server"],
        }
    }
}

impl fmt::Display for ServerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServerKind::Redis => "Redis",
            ServerKind::MariaDb => "MariaDB",
            ServerKind::Nginx => "nginx",
            ServerKind::Postgres => "PostgreSQL",
            ServerKind::ZooKeeper => "ZooKeeper",
            ServerKind::Etcd => "etcd",
        })
    }
}
