//! The route to Redis: direct, or through a relay that delays each round trip.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use redis::{Client, ConnectionAddr, IntoConnectionInfo, cmd};
use stack::{Direction, Folder, Relay, ServiceLocation};
use url::Url;

/// The number of measured round trips. Their median is the unit.
const PINGS: usize = 31;

/// A route to Redis.
pub struct RedisRoute {
    /// The URL for clients.
    pub url: String,
    _relay: Option<(Relay, Folder)>,
}

impl RedisRoute {
    /// Opens a route to the Redis at `url` that adds `added` to each round trip.
    ///
    /// The relay delays only the answers. A client cannot tell that from a delay in both directions, and the relay,
    /// which rounds up to whole milliseconds, rounds only once.
    ///
    /// # Errors
    /// When a relay cannot reach the URL.
    pub async fn to(url: &str, added: Duration) -> Result<Self> {
        let relay = match added.is_zero() {
            true => None,
            false => Some(relay(url, added).await?),
        };
        let url = match &relay {
            None => url.to_owned(),
            Some((relay, _)) => moved(url, relay.at())?,
        };
        Ok(Self { url, _relay: relay })
    }

    /// Measures a round trip on the idle route: the median of some PINGs.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn round_trip(&self) -> Result<Duration> {
        let client = Client::open(self.url.as_str())?;
        let mut connection = client.get_multiplexed_async_connection().await?;
        let mut took = Vec::with_capacity(PINGS);
        for _ in 0..PINGS {
            let sent = Instant::now();
            cmd("PING").exec_async(&mut connection).await?;
            took.push(sent.elapsed());
        }
        took.sort();
        Ok(took[PINGS / 2])
    }
}

async fn relay(url: &str, added: Duration) -> Result<(Relay, Folder)> {
    let place = place(url).await?;
    let folder = Folder::new()?;
    let relay = Relay::start(folder.path(), place)?;
    relay.delay(Direction::FromStore, added);
    Ok((relay, folder))
}

async fn place(url: &str) -> Result<ServiceLocation> {
    Ok(match url.into_connection_info()?.addr() {
        ConnectionAddr::Unix(socket) => ServiceLocation::Socket(socket.clone()),
        ConnectionAddr::Tcp(host, port) => {
            let mut found = tokio::net::lookup_host((host.as_str(), *port)).await?;
            ServiceLocation::Port(found.next().with_context(|| format!("{host} has no address"))?)
        }
        _ => anyhow::bail!("--redis: a relay cannot delay a Redis that uses TLS"),
    })
}

/// The same URL, with its password, at another location.
fn moved(url: &str, to: &ServiceLocation) -> Result<String> {
    let mut moved = Url::parse(url)?;
    if let Some(socket) = to.socket() {
        moved.set_path(&socket.to_string_lossy().replace('%', "%25"));
    } else {
        let address = to.port().context("the relay has no address")?;
        moved
            .set_ip_host(address.ip())
            .ok()
            .context("the URL of Redis has no host")?;
        moved
            .set_port(Some(address.port()))
            .ok()
            .context("the URL of Redis has no port")?;
    }
    Ok(moved.into())
}
