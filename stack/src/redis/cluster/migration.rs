//! A slot of a cluster moves to another primary, in the steps of the tool that comes with Redis.

use anyhow::{Context, Result, ensure};
use redis::{IntoConnectionInfo, cmd};

use super::member::serving;
use super::{Nodes, PRIMARIES};
use crate::stores::Stores;

/// The longest time that a key may take on its way, in milliseconds.
const KEY_LIMIT_MS: &str = "5000";

/// A slot whose keys have moved to another primary, which serves it only to clients that were sent there for one command (ASK).
pub struct SlotMigration {
    slot: u16,
    source: usize,
    target: usize,
    /// Where the source reaches the target.
    at: (String, u16),
    /// The keys that were moved so far.
    pub keys: u64,
    /// The redirects that the source had answered with before.
    before: u64,
}

impl Stores {
    /// Begins to move the slot of a key to another primary, and moves its keys one by one.
    ///
    /// # Errors
    ///
    /// When the cluster was not started here, or does not answer.
    pub fn begin_slot_migration(&self, key: &str) -> Result<SlotMigration> {
        let nodes = self.cluster()?;
        let slot = nodes.slot(key)?;
        let members = nodes.members()?;
        let source = serving(&members, slot)?;
        let target = members
            .iter()
            .find(|member| member.primary.is_none() && member.id != source.id);
        let target = target.context("the cluster has no other primary")?;
        let ids = [&source.id, &target.id];
        let at = (target.host.clone(), target.port);
        let (source, target) = (nodes.find(ids[0])?, nodes.find(ids[1])?);
        let text = slot.to_string();
        let mut of_target = nodes.operator(target)?;
        let mut of_source = nodes.operator(source)?;
        let before = nodes.redirects(source)?;
        of_target.execute("CLUSTER", &["SETSLOT", &text, "IMPORTING", ids[0]])?;
        of_source.execute("CLUSTER", &["SETSLOT", &text, "MIGRATING", ids[1]])?;
        let mut migration = SlotMigration {
            slot,
            source,
            target,
            at,
            keys: 0,
            before,
        };
        migration.move_keys(&nodes)?;
        Ok(migration)
    }

    /// Gives the slot to the other primary. Returns how many commands the source sent elsewhere since the migration began: those
    /// that came for a key that had moved (ASK), and for the slot (MOVED).
    ///
    /// # Errors
    ///
    /// When the cluster does not answer, or the slot still has keys at its source.
    pub fn end_slot_migration(&self, mut migration: SlotMigration) -> Result<u64> {
        let nodes = self.cluster()?;
        migration.move_keys(&nodes)?;
        let text = migration.slot.to_string();
        let id: String = nodes.operator(migration.target)?.ask("CLUSTER", &["MYID"])?;
        let left: u64 = nodes
            .operator(migration.source)?
            .ask("CLUSTER", &["COUNTKEYSINSLOT", &text])?;
        ensure!(left == 0, "the slot {text} still has {left} keys at its source");
        // The target first: a slot without a node would be refused to every client.
        let primaries = nodes.primaries()?.into_iter();
        let others = primaries.filter(|node| *node != migration.target);
        for node in std::iter::once(migration.target).chain(others) {
            nodes
                .operator(node)?
                .execute("CLUSTER", &["SETSLOT", &text, "NODE", &id])?;
        }
        Ok(nodes.redirects(migration.source)?.saturating_sub(migration.before))
    }
}

impl SlotMigration {
    fn move_keys(&mut self, nodes: &Nodes<'_>) -> Result<()> {
        let mut source = nodes.operator(self.source)?;
        let (host, port) = &self.at;
        let (slot, port) = (self.slot.to_string(), port.to_string());
        let url = nodes.service(self.target).redis_url()?.into_connection_info()?;
        let password = url
            .redis_settings()
            .password()
            .context("the nodes ask for no password")?;
        loop {
            let keys: Vec<String> = source.ask("CLUSTER", &["GETKEYSINSLOT", &slot, "1"])?;
            let [key] = &*keys else { return Ok(()) };
            let arguments = [host, &port, "", "0", KEY_LIMIT_MS, "AUTH", password, "KEYS", key];
            // The arguments hold the password, so no error may show them.
            let moved = cmd("MIGRATE").arg(&arguments).exec(&mut source.0);
            moved.with_context(|| format!("Redis refused to move {key}"))?;
            self.keys += 1;
        }
    }
}

impl Nodes<'_> {
    fn primaries(&self) -> Result<Vec<usize>> {
        let members = self.members()?;
        let primaries = members
            .iter()
            .filter(|member| member.primary.is_none() && !member.has_failed);
        let primaries = primaries
            .map(|member| self.find(&member.id))
            .collect::<Result<Vec<_>>>()?;
        ensure!(
            primaries.len() == PRIMARIES,
            "the cluster has {} primaries",
            primaries.len()
        );
        Ok(primaries)
    }

    /// Returns how many commands a node has sent elsewhere since it started.
    fn redirects(&self, node: usize) -> Result<u64> {
        let text: String = self.operator(node)?.ask("INFO", &["errorstats"])?;
        let counts = text.lines().filter_map(|line| {
            let of = line
                .strip_prefix("errorstat_ASK:")
                .or(line.strip_prefix("errorstat_MOVED:"));
            of?.strip_prefix("count=")?.parse::<u64>().ok()
        });
        Ok(counts.sum())
    }
}
