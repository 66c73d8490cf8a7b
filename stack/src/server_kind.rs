//! The three programs that are not ours.

use std::fmt;

/// A program of the world that somebody else wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerKind {
    /// The store in memory; Valkey will do.
    Redis,
    /// The SQL store.
    MariaDb,
    /// The proxy before the instances.
    Nginx,
}

impl ServerKind {
    /// Every kind, in the order in which `doctor` lists them.
    pub const ALL: [ServerKind; 3] = [ServerKind::Redis, ServerKind::MariaDb, ServerKind::Nginx];

    /// The names under which its binary is known, the better one first.
    pub(crate) fn binaries(self) -> &'static [&'static str] {
        match self {
            ServerKind::Redis => &["redis-server", "valkey-server"],
            ServerKind::MariaDb => &["mariadbd", "mysqld"],
            ServerKind::Nginx => &["nginx"],
        }
    }

    /// The package of Debian and Ubuntu that holds the binary and, unlike its neighbours, no more than that.
    pub(crate) fn package(self) -> &'static str {
        match self {
            ServerKind::Redis => "redis-server",
            ServerKind::MariaDb => "mariadb-server-core",
            ServerKind::Nginx => "nginx-light",
        }
    }
}

impl fmt::Display for ServerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServerKind::Redis => "Redis",
            ServerKind::MariaDb => "MariaDB",
            ServerKind::Nginx => "nginx",
        })
    }
}
