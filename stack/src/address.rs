//! URLs of servers that were started here.

use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::Result;

use crate::mariadb;
use crate::postgres;
use crate::redis::cluster;
use crate::relay::Relay;
use crate::service_kind::ServiceKind;
use crate::service_location::ServiceLocation;

/// Returns the URL of a process of that service; none for a kind that clients do not reach there.
pub(crate) fn of(kind: ServiceKind, at: &ServiceLocation) -> Option<String> {
    match (kind, at) {
        (ServiceKind::Redis | ServiceKind::RedisNodes, ServiceLocation::Socket(socket)) => Some(redis(socket)),
        (ServiceKind::Sql | ServiceKind::SecondSql, ServiceLocation::Socket(socket)) => {
            Some(mysql(socket, mariadb::DATABASE))
        }
        (ServiceKind::Pg, ServiceLocation::Socket(socket)) => postgres(socket),
        (ServiceKind::Cluster, ServiceLocation::Port(port)) => redis_at(*port).ok(),
        (ServiceKind::ZooKeeper, ServiceLocation::Port(port)) => Some(format!("zookeeper://{port}")),
        (ServiceKind::Etcd, ServiceLocation::Port(port)) => Some(format!("http://{port}")),
        _ => None,
    }
}

/// Returns the URL of a process of that service through a relay. A node of a cluster tells its clients its own address and those of
/// the others: the URL names the one that the relay stands for.
pub(crate) fn through(kind: ServiceKind, relay: &Relay) -> Option<String> {
    let url = of(kind, relay.at())?;
    Some(match (kind, relay.target()) {
        (ServiceKind::Cluster, Some(ServiceLocation::Port(node))) => format!("{url}?node={node}"),
        _ => url,
    })
}

/// `redis+unix:///path`, as the redis crate understands it; a database can be chosen with `?db=1`.
pub(crate) fn redis(socket: &Path) -> String {
    format!("redis+unix://{}", percent_encoded(socket))
}

/// `redis://:password@127.0.0.1:port`, for a node of a cluster.
pub(crate) fn redis_at(address: SocketAddr) -> Result<String> {
    Ok(format!("redis://:{}@{address}", cluster::password()?))
}

/// `mysql://root@localhost/database?socket=/path`, as sqlx understands it.
pub(crate) fn mysql(socket: &Path, database: &str) -> String {
    format!("mysql://root@localhost/{database}?socket={}", percent_encoded(socket))
}

/// `postgres://oversell@localhost/postgres?host=/folder`, as sqlx understands it, with a port where it is not the usual one: both
/// name the socket. None for a path that no client of PostgreSQL finds.
pub(crate) fn postgres(socket: &Path) -> Option<String> {
    let (folder, port) = (socket.parent()?, postgres::port_of(socket)?);
    let url = format!(
        "postgres://{}@localhost/{}?host={}",
        postgres::USER,
        postgres::DATABASE,
        percent_encoded(folder)
    );
    Some(match port {
        postgres::PORT => url,
        _ => format!("{url}&port={port}"),
    })
}

/// The temp folder may have any name; a `?`, `#`, `&` or `%` in it would end the path early.
fn percent_encoded(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let encoded = path.as_os_str().as_bytes().iter().map(|&byte| match byte {
        byte if plain(byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    encoded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_path_stays_readable_and_an_odd_one_stays_whole() {
        assert_eq!(
            redis(Path::new("/tmp/oversell-a1/redis.sock")),
            "redis+unix:///tmp/oversell-a1/redis.sock"
        );
        let odd = mysql(Path::new("/tmp/a b?&#%/m.sock"), "oversell");
        assert_eq!(
            odd,
            "mysql://root@localhost/oversell?socket=/tmp/a%20b%3F%26%23%25/m.sock"
        );
    }

    #[test]
    fn the_url_of_postgresql_names_the_folder_of_the_socket_and_the_port_in_its_name() {
        let url = |socket: &str| postgres(Path::new(socket));
        let usual = "postgres://oversell@localhost/postgres?host=/tmp/a%20b";
        assert_eq!(url("/tmp/a b/.s.PGSQL.5432").as_deref(), Some(usual));
        assert_eq!(url("/tmp/a b/.s.PGSQL.7"), Some(format!("{usual}&port=7")));
        assert_eq!(url("/tmp/a b/relay-1.sock"), None);
    }
}
