//! The instances of a shop, by who answers at its admin URLs; the death of one of them, and one that stands still.

mod death;
mod stall;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use futures_util::future::join_all;
use reqwest::Client;
use tokio::net::lookup_host;
use tokio::time::timeout;

pub use self::death::{Death, DeathWatch};
pub use self::stall::{Stall, StallWatch};

use crate::http;

/// How long an instance may take to answer that it is there. One that has been killed accepts connections for some
/// milliseconds more, but it answers nothing.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// Who an answer comes from, as far as it says so.
struct Identity {
    instance: Option<String>,
    process: Option<String>,
}

/// The addresses behind the admin URLs of a shop.
#[derive(Clone)]
pub struct Instances {
    admins: Vec<String>,
    client: Client,
}

impl Instances {
    /// Base URLs of admin listeners; one name may stand for several addresses.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn at(admins: Vec<String>) -> Result<Self> {
        let client = http::connecting_anew(ANSWERS_WITHIN)?;
        Ok(Self { admins, client })
    }

    /// The admin URLs, for a message.
    pub fn urls(&self) -> String {
        self.admins.join(", ")
    }

    /// How many instances answer. Two addresses are one instance where the answers say so, and else where they differ in
    /// nothing but the version of IP: `localhost` is 127.0.0.1 and ::1.
    pub async fn answering(&self) -> usize {
        let responses = join_all(
            self.addresses()
                .await
                .into_iter()
                .map(async |at| (at, self.ask(at).await)),
        )
        .await;
        let (mut names, mut v4, mut v6) = (HashSet::new(), 0_usize, 0_usize);
        for (at, response) in responses {
            match response {
                Some(Identity {
                    instance: Some(name), ..
                }) => drop(names.insert(name)),
                Some(_) if at.is_ipv4() => v4 += 1,
                Some(_) => v6 += 1,
                None => {}
            }
        }
        names.len() + v4.max(v6)
    }

    /// The base URLs of the admin listeners, one for each address behind them.
    pub async fn admins(&self) -> HashSet<String> {
        let looked_up = self.look_up().await.into_iter();
        let at = |(at, path): (SocketAddr, String)| format!("http://{at}{}", path.trim_end_matches('/'));
        looked_up.map(at).collect()
    }

    async fn addresses(&self) -> HashSet<SocketAddr> {
        self.look_up().await.into_iter().map(|(at, _)| at).collect()
    }

    /// Every address behind the admin URLs, and the path that stands before all others there.
    async fn look_up(&self) -> Vec<(SocketAddr, String)> {
        let mut found = Vec::new();
        for admin in &self.admins {
            let Ok(url) = admin.parse::<reqwest::Url>() else {
                continue;
            };
            let port = url.port_or_known_default().unwrap_or(80);
            let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
            let looked_up = timeout(ANSWERS_WITHIN, lookup_host((host, port))).await;
            let addresses = looked_up.into_iter().flatten().flatten();
            found.extend(addresses.map(|at| (at, url.path().to_owned())));
        }
        found
    }

    /// Who answers there, if anybody does soon.
    async fn ask(&self, at: SocketAddr) -> Option<Identity> {
        self.ask_within(at, ANSWERS_WITHIN).await
    }

    async fn ask_within(&self, at: SocketAddr, limit: Duration) -> Option<Identity> {
        let question = self.client.get(format!("http://{at}/")).timeout(limit);
        let response = question.send().await.ok()?;
        Some(Identity {
            instance: http::named(response.headers(), &http::INSTANCE),
            process: http::named(response.headers(), &http::PROCESS),
        })
    }
}
