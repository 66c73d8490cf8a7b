//! A relay that tells its clients apart by their addresses, so that one of them can be cut off alone.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};

use super::change::Change;
use super::serve;
use super::valve::Valve;
use crate::service_location::{Listener, ServiceLocation};

/// The most clients that are told apart; the connections of further ones are closed.
const MOST_CLIENTS: usize = 256;

/// A listener before one server. Each address that connects has a treatment of its own.
pub(crate) struct Gate {
    target: Mutex<String>,
    valves: Mutex<HashMap<IpAddr, Arc<Valve>>>,
}

impl Gate {
    /// Forwards from `listen` to `target`, such as `redis:6379`, until the runtime around it ends.
    ///
    /// # Errors
    ///
    /// When it cannot listen there.
    pub(crate) fn open(listen: SocketAddr, target: String) -> Result<Arc<Gate>> {
        let listener = Listener::at(listen).with_context(|| format!("a relay could not listen at {listen}"))?;
        let gate = Arc::new(Gate {
            target: Mutex::new(target),
            valves: Mutex::default(),
        });
        let gates = Arc::clone(&gate);
        tokio::spawn(async move { serve(listener, |client| gates.line(client)).await });
        Ok(gate)
    }

    /// Changes the treatment of that client, from now on.
    ///
    /// # Errors
    ///
    /// When there are too many clients already.
    pub(crate) fn change(&self, client: IpAddr, change: Change) -> Result<()> {
        let valve = self.valve(client).context("too many clients")?;
        valve.change(change);
        Ok(())
    }

    /// Returns how many pieces of that client were affected since the last change.
    pub(crate) fn affected(&self, client: IpAddr) -> u64 {
        self.valves().get(&client).map_or(0, |valve| valve.affected())
    }

    /// Returns the server that new connections are forwarded to.
    pub(crate) fn target(&self) -> String {
        self.target_mut().clone()
    }

    /// Forwards to another server from now on. Connections to the one before are closed: their clients would stay with it.
    pub(crate) fn forward_to(&self, target: String) {
        *self.target_mut() = target;
        self.valves().values().for_each(|valve| valve.change(Change::Cut));
    }

    /// Lets everything pass, of every client.
    pub(crate) fn pass_all(&self) {
        self.valves().values().for_each(|valve| valve.change(Change::Pass));
    }

    fn line(&self, client: Option<IpAddr>) -> Option<super::Line> {
        Some(self.valve(client?)?.line(ServiceLocation::Name(self.target())))
    }

    fn valve(&self, client: IpAddr) -> Option<Arc<Valve>> {
        let mut valves = self.valves();
        if !valves.contains_key(&client) && valves.len() >= MOST_CLIENTS {
            return None;
        }
        Some(Arc::clone(
            valves.entry(client).or_insert_with(|| Arc::new(Valve::new())),
        ))
    }

    fn target_mut(&self) -> MutexGuard<'_, String> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn valves(&self) -> MutexGuard<'_, HashMap<IpAddr, Arc<Valve>>> {
        // A panic elsewhere leaves the map as good as before.
        self.valves.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
