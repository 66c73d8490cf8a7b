//! The instances of a shop, by the answers at its admin URLs. This room also notices the death and the stall of an
//! instance.

mod death;
mod stall;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use futures_util::future::join_all;
use reqwest::{Client, Url};
use tokio::net::lookup_host;
use tokio::time::timeout;

pub use self::death::{Death, DeathWatch};
pub use self::stall::{Stall, StallWatch};

use crate::http;
use crate::trust::Trust;

/// The longest wait for an instance's answer. A killed instance accepts connections for some milliseconds more, but
/// does not answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// The sender of an answer, as far as it gives its name.
struct Identity {
    instance: Option<String>,
    process: Option<String>,
}

/// An address behind an admin URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Listener {
    at: SocketAddr,
    /// The URL of the address, without a path. With TLS it keeps the name, which the certificate has to show.
    root: String,
}

/// The addresses behind the admin URLs of a shop.
#[derive(Clone)]
pub struct Instances {
    admins: Vec<String>,
    client: Client,
}

impl Instances {
    /// Uses these base URLs of admin listeners; one host name may stand for several addresses, unless its URL begins with
    /// `https://`.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn at(admins: Vec<String>, trust: &Trust) -> Result<Self> {
        let client = http::connecting_anew(ANSWERS_WITHIN, trust)?;
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
        let listeners = self.listeners().await.into_iter();
        let asked = listeners.map(async |listener| (listener.at, self.ask_within(&listener, limit).await));
        let responses = join_all(asked).await;
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
        let at = |(listener, path): (Listener, String)| format!("{}{}", listener.root, path.trim_end_matches('/'));
        looked_up.map(at).collect()
    }

    async fn listeners(&self) -> HashSet<Listener> {
        self.look_up().await.into_iter().map(|(listener, _)| listener).collect()
    }

    /// Returns every address behind the admin URLs, with the path prefix there.
    async fn look_up(&self) -> Vec<(Listener, String)> {
        let mut found = Vec::new();
        for admin in &self.admins {
            let Ok(url) = admin.parse::<Url>() else {
                continue;
            };
            let port = url.port_or_known_default().unwrap_or(80);
            let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
            let looked_up = timeout(ANSWERS_WITHIN, lookup_host((host, port))).await;
            let addresses = looked_up.into_iter().flatten().flatten();
            let is_encrypted = url.scheme() == "https";
            let listeners = addresses
                .take(if is_encrypted { 1 } else { usize::MAX })
                .map(|at| Listener {
                    at,
                    root: if is_encrypted {
                        url.origin().ascii_serialization()
                    } else {
                        format!("http://{at}")
                    },
                });
            found.extend(listeners.map(|listener| (listener, url.path().to_owned())));
        }
        found
    }

    /// Returns the sender of a listener's answer, if one comes soon.
    async fn ask(&self, listener: &Listener) -> Option<Identity> {
        self.ask_within(listener, ANSWERS_WITHIN).await
    }

    async fn ask_within(&self, listener: &Listener, limit: Duration) -> Option<Identity> {
        let question = self.client.get(format!("{}/", listener.root)).timeout(limit);
        let response = question.send().await.ok()?;
        Some(Identity {
            instance: http::named(response.headers(), &http::INSTANCE),
            process: http::named(response.headers(), &http::PROCESS),
        })
    }
}
