//! The relays of one instance: for each service at most one before each of its processes.

use std::path::Path;

use anyhow::{Context, Result};

use super::{LateRequest, Relay};
use crate::address;
use crate::service_kind::ServiceKind;
use crate::service_location::ServiceLocation;

/// The relays before each of the services named.
pub struct InstanceRelays(Vec<(ServiceKind, Vec<Relay>)>);

impl InstanceRelays {
    /// Starts a relay before each process of these services, with its socket in `folder`.
    ///
    /// # Errors
    ///
    /// When a service was not started here, or a relay cannot listen.
    pub(crate) fn start(
        kinds: &[ServiceKind],
        locations: &[(ServiceKind, Vec<ServiceLocation>)],
        folder: &Path,
    ) -> Result<InstanceRelays> {
        let relays = kinds.iter().map(|&kind| {
            let found = locations.iter().find(|(service, _)| *service == kind);
            let (_, locations) =
                found.with_context(|| format!("no relay can be put before {kind}: it was not started here"))?;
            let relays = locations.iter().map(|location| Relay::start(folder, location.clone()));
            Ok((kind, relays.collect::<Result<_>>()?))
        });
        Ok(InstanceRelays(relays.collect::<Result<_>>()?))
    }

    /// Uses the relays before the processes of these services for one instance of a shop in containers.
    pub(crate) fn elsewhere(relays: Vec<(ServiceKind, Vec<Relay>)>) -> InstanceRelays {
        InstanceRelays(relays)
    }

    /// Returns the relays before that service, in the order of its processes.
    pub(crate) fn before(&self, kind: ServiceKind) -> &[Relay] {
        let found = self.0.iter().find(|(before, _)| *before == kind);
        found.map_or(&[], |(_, relays)| relays)
    }

    /// Returns all relays.
    pub fn all(&self) -> impl Iterator<Item = &Relay> {
        self.0.iter().flat_map(|(_, relays)| relays)
    }

    /// Returns the requests that were kept since the last call, each with the service that it goes to.
    pub fn late_requests(&self) -> Vec<(ServiceKind, LateRequest)> {
        let services = self.0.iter();
        let late = services.flat_map(|(kind, relays)| {
            let late = relays.iter().flat_map(Relay::late_requests);
            late.map(|request| (*kind, request))
        });
        late.collect()
    }

    /// Returns the URLs of each service through its relays, separated by blanks.
    pub fn urls(&self) -> impl Iterator<Item = (ServiceKind, String)> {
        let services = self.0.iter();
        services.map(|(kind, relays)| {
            let urls: Vec<_> = relays
                .iter()
                .filter_map(|relay| address::through(*kind, relay))
                .collect();
            (*kind, urls.join(" "))
        })
    }
}
