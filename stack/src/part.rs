//! The three programs that are not ours.

use std::fmt;

/// A program of the world that somebody else wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The store in memory; Valkey will do.
    Redis,
    /// The SQL store.
    MariaDb,
    /// The proxy before the instances.
    Nginx,
}

impl Part {
    /// Every part, in the order in which `doctor` lists them.
    pub const ALL: [Part; 3] = [Part::Redis, Part::MariaDb, Part::Nginx];

    /// The names under which its binary is known, the better one first.
    pub(crate) fn binaries(self) -> &'static [&'static str] {
        match self {
            Part::Redis => &["redis-server", "valkey-server"],
            Part::MariaDb => &["mariadbd", "mysqld"],
            Part::Nginx => &["nginx"],
        }
    }

    /// The package of Debian and Ubuntu that holds the binary and, unlike its neighbours, no more than that.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Part::Redis => "redis-server",
            Part::MariaDb => "mariadb-server-core",
            Part::Nginx => "nginx-light",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Redis => "Redis",
            Part::MariaDb => "MariaDB",
            Part::Nginx => "nginx",
        })
    }
}
