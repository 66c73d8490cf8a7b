//! The services that a strategy can name.

use std::fmt;

use crate::server_kind::ServerKind;

/// A service that a strategy can name: a store, a lock service, or a set of independent servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ServiceKind {
    /// The Redis of every shop.
    Redis,
    /// The MariaDB of every shop.
    Sql,
    /// A second MariaDB, for a sale that lies in two databases.
    SecondSql,
    /// A PostgreSQL, for a sale that lies there.
    Pg,
    /// A Redis Cluster, for a sale that lies there.
    Cluster,
    /// Independent Redis servers, for locks that need a majority.
    RedisNodes,
    /// An ensemble of ZooKeeper servers.
    ZooKeeper,
    /// A cluster of etcd servers.
    Etcd,
}

impl ServiceKind {
    /// Every service, the stores first.
    pub const ALL: [ServiceKind; 8] = [
        ServiceKind::Redis,
        ServiceKind::Sql,
        ServiceKind::SecondSql,
        ServiceKind::Pg,
        ServiceKind::Cluster,
        ServiceKind::RedisNodes,
        ServiceKind::ZooKeeper,
        ServiceKind::Etcd,
    ];

    /// Returns the name by which strategies need it.
    pub fn name(self) -> &'static str {
        match self {
            ServiceKind::Redis => "redis",
            ServiceKind::Sql => "sql",
            ServiceKind::SecondSql => "sql-2",
            ServiceKind::Pg => "pg",
            ServiceKind::Cluster => "cluster",
            ServiceKind::RedisNodes => "redis-nodes",
            ServiceKind::ZooKeeper => "zookeeper",
            ServiceKind::Etcd => "etcd",
        }
    }

    /// Returns the service of that name.
    pub fn find(name: &str) -> Option<ServiceKind> {
        ServiceKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the name of one of its `count` processes, counted from 1: `redis`, or `redis-nodes/2` for one of several.
    pub fn process(self, nth: usize, count: usize) -> String {
        match count {
            1 => self.name().to_owned(),
            _ => format!("{}/{nth}", self.name()),
        }
    }

    /// Returns the program that serves it.
    pub fn program(self) -> ServerKind {
        match self {
            ServiceKind::Redis | ServiceKind::Cluster | ServiceKind::RedisNodes => ServerKind::Redis,
            ServiceKind::Sql | ServiceKind::SecondSql => ServerKind::MariaDb,
            ServiceKind::Pg => ServerKind::Postgres,
            ServiceKind::ZooKeeper => ServerKind::ZooKeeper,
            ServiceKind::Etcd => ServerKind::Etcd,
        }
    }

    /// Returns the variable in which an instance looks for its URLs, which are separated by blanks.
    pub(crate) fn variable(self) -> String {
        format!("OVERSELL_{}_URL", self.name().to_uppercase().replace('-', "_"))
    }
}

impl fmt::Display for ServiceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServiceKind::Redis => "Redis",
            ServiceKind::Sql => "MariaDB",
            ServiceKind::SecondSql => "the second MariaDB",
            ServiceKind::Pg => "PostgreSQL",
            ServiceKind::Cluster => "the Redis Cluster",
            ServiceKind::RedisNodes => "the Redis nodes",
            ServiceKind::ZooKeeper => "ZooKeeper",
            ServiceKind::Etcd => "etcd",
        })
    }
}
