//! The instances of a shop, by the answers at its admin URLs. This room also notices the death and the stall of an
//! instance.

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

/// The longest wait for an instance's answer. A killed instance accepts connections for some milliseconds more, but
/// does not answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// The sender of an answer, as far as it gives its name.
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
    /// Uses these base URLs of admin listeners; one host name may stand for several addresses.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn at(admins: Vec<String>) -> Result<Self> {
        let client = http::connecting_anew(ANSWERS_WITHIN)?;
        Ok(Self { admins, client })
    }

    /// Returns the admin URLs, for a message.
    pub fn urls(&self) -> String {
        self.admins.join(", ")
    }

    /// Returns how many instances answer. Two addresses are one instance if their answers give the same name. Without
    /// names an IPv4 address and an IPv6 address count as one: `localhost` is 127.0.0.1 and ::1.
    pub async fn answering(&self) -> usize {
        self.answering_within(ANSWERS_WITHIN).await
    }

    /// Does the same, with this limit for each answer.
    pub async fn answering_within(&self, limit: Duration) -> usize {
        let addresses = self.addresses().await.into_iter();
        let responses = join_all(addresses.map(async |at| (at, self.ask_within(at, limit).await))).await;
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

    /// Returns the base URLs of the admin listeners, one for each address behind them.
    pub async fn admins(&self) -> HashSet<String> {
        let looked_up = self.look_up().await.into_iter();
        let at = |(at, path): (SocketAddr, String)| format!("http://{at}{}", path.trim_end_matches('/'));
        looked_up.map(at).collect()
    }

    async fn addresses(&self) -> HashSet<SocketAddr> {
        self.look_up().await.into_iter().map(|(at, _)| at).collect()
    }

    /// Returns every address behind the admin URLs, with the path prefix there.
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

    /// Returns the sender of the answer at an address, if one comes soon.
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
