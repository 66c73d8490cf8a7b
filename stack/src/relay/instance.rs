//! The relays of one instance, at most one before each server.

use std::path::Path;

use anyhow::{Context, Result};

use super::Relay;
use crate::address;
use crate::server_kind::ServerKind;
use crate::service_location::ServiceLocation;

/// One relay for each of the servers named.
pub(crate) struct InstanceRelays(Vec<(ServerKind, Relay)>);

impl InstanceRelays {
    /// Starts a relay for each of the servers, with its socket in `folder`.
    ///
    /// # Errors
    ///
    /// When a server was not started here, or a relay cannot listen.
    pub(crate) fn start(
        kinds: &[ServerKind],
        locations: &[(ServerKind, ServiceLocation)],
        folder: &Path,
    ) -> Result<InstanceRelays> {
        let relays = kinds.iter().map(|&kind| {
            let found = locations.iter().find(|(server, _)| *server == kind);
            let (_, location) =
                found.with_context(|| format!("no relay can be put before a {kind} that was not started here"))?;
            Ok((kind, Relay::start(folder, location.clone())?))
        });
        Ok(InstanceRelays(relays.collect::<Result<_>>()?))
    }

    /// Returns the relay before that server.
    pub(crate) fn before(&self, kind: ServerKind) -> Option<&Relay> {
        let found = self.0.iter().find(|(before, _)| *before == kind);
        found.map(|(_, relay)| relay)
    }

    /// Returns all relays.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Relay> {
        self.0.iter().map(|(_, relay)| relay)
    }

    /// Returns the URL of each server through its relay.
    pub(crate) fn urls(&self) -> impl Iterator<Item = (ServerKind, String)> {
        let urls = self.0.iter();
        urls.filter_map(|(kind, relay)| Some((*kind, address::of(*kind, relay.at())?)))
    }
}
