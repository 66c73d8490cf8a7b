//! The relays of one instance: its own way to each store that asks for one.

use std::path::Path;

use anyhow::{Result, bail, ensure};

use super::Relay;
use crate::instance::StoreUrls;
use crate::{ServerKind, address, mariadb, redis};

/// One relay for each of the stores named.
pub(crate) struct InstanceRelays(Vec<(ServerKind, Relay)>);

impl InstanceRelays {
    /// Starts them, before stores that serve in `folder`.
    ///
    /// # Errors
    ///
    /// When a store was not started there, or a relay cannot listen.
    pub(crate) fn start(kinds: &[ServerKind], urls: StoreUrls<'_>, folder: &Path) -> Result<InstanceRelays> {
        let relays = kinds.iter().map(|&kind| {
            let (socket, url) = match kind {
                ServerKind::Redis => (redis::socket(folder, redis::NAME), urls.redis),
                ServerKind::MariaDb => (mariadb::socket(folder, mariadb::NAME), urls.sql),
                ServerKind::Nginx | ServerKind::ZooKeeper | ServerKind::Etcd => {
                    bail!("there is no relay before {kind}")
                }
            };
            let is_ours = Some(url) == own_url(kind, &socket).as_deref();
            ensure!(is_ours, "no relay can be put before a {kind} that was not started here");
            Ok((kind, Relay::start(folder, socket)?))
        });
        Ok(InstanceRelays(relays.collect::<Result<_>>()?))
    }

    /// The one before that store.
    pub(crate) fn before(&self, kind: ServerKind) -> Option<&Relay> {
        let found = self.0.iter().find(|(before, _)| *before == kind);
        found.map(|(_, relay)| relay)
    }

    /// Every one of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Relay> {
        self.0.iter().map(|(_, relay)| relay)
    }

    /// How the store is reached through its relay, if it has one.
    pub(crate) fn url(&self, kind: ServerKind) -> Option<String> {
        own_url(kind, self.before(kind)?.socket())
    }
}

fn own_url(kind: ServerKind, socket: &Path) -> Option<String> {
    match kind {
        ServerKind::Redis => Some(address::redis(socket)),
        ServerKind::MariaDb => Some(address::mysql(socket, mariadb::DATABASE)),
        ServerKind::Nginx | ServerKind::ZooKeeper | ServerKind::Etcd => None,
    }
}
