//! Facts from a Redis Cluster: the same keys as in one Redis. Each item is read from the primary that serves its slot, and each
//! primary is searched for the orders of other items. Which node serves a slot is asked anew for each reading. A part of an item
//! may lie in another slot, where it has a counter and a ledger of its own.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use async_trait::async_trait;
use redis::{Client, ConnectionAddr, cmd};

use super::redis::{Redis, is_of_wrong_type};
use super::{Facts, Ledger, Order};

/// The most nodes of a cluster that is read. Redis recommends no more than a thousand.
const MOST_NODES: usize = 1_000;

/// The most slots of one item. No honest shop needs more.
const MOST_SLOTS: u32 = 100;

/// Where a node listens.
type At = (String, u16);

pub(super) struct Cluster {
    /// The node of the URL.
    first: Client,
    /// Every node that was seen so far: the first one may be the one that died.
    nodes: Mutex<BTreeMap<At, Arc<Redis>>>,
}

/// A primary, with the slots that it serves: each range with both ends.
struct Primary {
    at: At,
    slots: Vec<(u16, u16)>,
}

impl Cluster {
    pub(super) fn new(url: &str) -> Result<Self> {
        let first = Client::open(url)?;
        let ConnectionAddr::Tcp(host, port) = first.get_connection_info().addr() else {
            anyhow::bail!("only redis:// is read");
        };
        let at = (host.clone(), *port);
        let node = Arc::new(Redis::of(first.clone()));
        Ok(Self {
            first,
            nodes: Mutex::new(BTreeMap::from([(at, node)])),
        })
    }

    /// Returns the reader of a node, with the password of the first one.
    fn node(&self, at: &At) -> Result<Arc<Redis>> {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(node) = nodes.get(at) {
            return Ok(node.clone());
        }
        ensure!(nodes.len() < MOST_NODES, "it has named more than {MOST_NODES} nodes");
        let address = ConnectionAddr::Tcp(at.0.clone(), at.1);
        let info = self.first.get_connection_info().clone().set_addr(address);
        let node = Arc::new(Redis::of(Client::open(info)?));
        nodes.insert(at.clone(), node.clone());
        Ok(node)
    }

    /// Returns all primaries, as the first node that answers knows them.
    async fn primaries(&self) -> Result<Vec<Primary>> {
        let nodes: Vec<_> = self
            .nodes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect();
        let mut last = None;
        for node in nodes {
            match node.ask::<String>(cmd("CLUSTER").arg("NODES")).await {
                Ok(text) => return primaries(&text),
                Err(error) => last = Some(error),
            }
        }
        Err(last.context("no node is known")?)
    }

    /// Returns in how many slots an item lies; `None` where the cluster has no number for that, or one that is out of bounds.
    async fn slots(&self, primaries: &[Primary], item: &str) -> Result<Option<u32>> {
        let mut ask = cmd("GET");
        ask.arg(format!("slots:{{{item}}}"));
        match self.serving(primaries, item)?.ask::<Option<Vec<u8>>>(&ask).await {
            Ok(None) => Ok(Some(1)),
            Ok(Some(text)) => {
                let number = str::from_utf8(&text).ok().and_then(|text| text.parse().ok());
                Ok(number.filter(|number| (1..=MOST_SLOTS).contains(number)))
            }
            Err(error) if error.downcast_ref().is_some_and(is_of_wrong_type) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the reader of the node that serves the keys of an item.
    fn serving(&self, primaries: &[Primary], item: &str) -> Result<Arc<Redis>> {
        let slot = slot(item);
        let serves = |primary: &&Primary| {
            primary
                .slots
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&slot))
        };
        let primary = primaries.iter().find(serves);
        self.node(&primary.with_context(|| format!("no node serves the slot {slot}"))?.at)
    }
}

#[async_trait]
impl Ledger for Cluster {
    async fn read(&self, item: &str, limit: usize) -> Result<Facts> {
        let primaries = self.primaries().await?;
        let mut facts = self.serving(&primaries, item)?.read(item, limit).await?;
        let Some(slots) = self.slots(&primaries, item).await? else {
            facts.stock_left = None;
            return Ok(facts);
        };
        facts.in_parts = slots > 1;
        for number in 1..slots {
            if facts.cut_short {
                break;
            }
            let part = part(item, number);
            let node = self.serving(&primaries, &part)?;
            let there = node.read_keys(&part, limit, Some(0)).await?;
            facts.stock_left = facts
                .stock_left
                .zip(there.stock_left)
                .and_then(|(left, more)| left.checked_add(more));
            facts.unreadable += there.unreadable;
            facts.orders.extend(there.orders);
            facts.cut_short |= there.cut_short || facts.orders.len() > limit;
        }
        facts.orders.sort();
        Ok(facts)
    }

    async fn elsewhere(&self, items: &HashSet<&str>) -> Result<Vec<Order>> {
        let primaries = self.primaries().await?;
        let mut known: HashSet<String> = HashSet::new();
        for item in items {
            let slots = self.slots(&primaries, item).await?.unwrap_or(1);
            known.extend((1..slots).map(|number| part(item, number)));
        }
        let known = known.iter().map(String::as_str).chain(items.iter().copied()).collect();
        let mut orders = Vec::new();
        for primary in primaries {
            orders.extend(self.node(&primary.at)?.elsewhere(&known).await?);
        }
        Ok(orders)
    }

    async fn version(&self) -> Result<String> {
        let primaries = self.primaries().await?;
        let first = primaries.first().context("no node is a primary")?;
        self.node(&first.at)?.version().await
    }
}

/// Reads the lines `id host:port@bus flags primary ping pong epoch link slots...`. A node that has failed serves nothing.
fn primaries(text: &str) -> Result<Vec<Primary>> {
    let lines = text.lines().take(MOST_NODES).map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, at, flags, _, _, _, _, _, slots @ ..] = &*words else {
            return None;
        };
        let (host, port) = at.split_once('@')?.0.rsplit_once(':')?;
        // A slot that is on its way stands in brackets, and beside those that are served.
        let ranges = slots.iter().filter(|slot| !slot.starts_with('['));
        let ranges = ranges.map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some((first.parse().ok()?, last.parse().ok()?))
        });
        let serves = flags.split(',').any(|flag| flag == "master") && !flags.split(',').any(|flag| flag == "fail");
        let primary = Primary {
            at: (host.to_owned(), port.parse().ok()?),
            slots: ranges.collect::<Option<_>>()?,
        };
        Some(serves.then_some(primary))
    });
    let members = lines
        .collect::<Option<Vec<_>>>()
        .context("CLUSTER NODES has a line of another form")?;
    Ok(members.into_iter().flatten().collect())
}

/// Returns the text between the braces of the keys of a part, from 1.
fn part(item: &str, number: u32) -> String {
    format!("{item}/{number}")
}

/// Returns the slot of an item: of the text between the braces of its keys.
fn slot(item: &str) -> u16 {
    /// CRC-16/XMODEM, as the specification of Redis Cluster has it.
    const POLYNOMIAL: u16 = 0x1021;
    let crc = item.bytes().fold(0_u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| match crc & 0x8000 {
            0 => crc << 1,
            _ => (crc << 1) ^ POLYNOMIAL,
        })
    });
    crc % 16_384
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_that_of_the_specification() {
        assert_eq!(slot("123456789"), 0x31c3);
        assert_eq!((slot("foo"), slot("bar")), (12_182, 5_061));
    }

    #[test]
    fn only_primaries_that_have_not_failed_serve() {
        let text = "a 127.0.0.1:1@11 myself,master - 0 0 1 connected 0-5460 9000 [93->-b]\n\
                    b 127.0.0.1:2@12 slave a 0 0 1 connected\n\
                    c ::1:3@13,host master,fail - 0 0 2 connected 5461-8999";
        let found = primaries(text).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].at, ("127.0.0.1".to_owned(), 1));
        assert_eq!(found[0].slots, [(0, 5460), (9000, 9000)]);
        assert!(primaries("a 127.0.0.1:1 master - 0 0 1 connected").is_err());
    }
}
