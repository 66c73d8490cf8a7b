//! A member of a cluster, as `CLUSTER NODES` shows it.

use anyhow::{Context, Result};

use super::Operator;

/// A node as another one sees it.
pub(super) struct Member {
    pub(super) id: String,
    /// Where the other nodes reach it.
    pub(super) host: String,
    pub(super) port: u16,
    /// The id of its primary; none for a primary.
    pub(super) primary: Option<String>,
    /// Whether it counts as failed, for certain or by what this one node sees.
    pub(super) has_failed: bool,
    /// The slots that it serves: each range with both ends.
    slots: Vec<(u16, u16)>,
}

impl Member {
    /// Returns all members as that node sees them.
    pub(super) fn all(operator: &mut Operator) -> Result<Vec<Member>> {
        let text: String = operator.ask("CLUSTER", &["NODES"])?;
        let members = text.lines().map(|line| {
            let member = Member::parse(line);
            member.with_context(|| format!("CLUSTER NODES answers with {line:?}"))
        });
        members.collect()
    }

    /// Reads `id ip:port@bus flags primary ping pong epoch link slots...`.
    fn parse(line: &str) -> Option<Member> {
        let words: Vec<&str> = line.split(' ').collect();
        let [id, at, flags, primary, _, _, _, _, slots @ ..] = &*words else {
            return None;
        };
        let (host, port) = at.split_once('@')?.0.rsplit_once(':')?;
        // A slot that migrates stands in brackets, and beside the slots that are served.
        let slots = slots.iter().filter(|slot| !slot.starts_with('['));
        let slots = slots.map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            Some((first.parse().ok()?, last.parse().ok()?))
        });
        Some(Member {
            id: (*id).to_owned(),
            host: host.to_owned(),
            port: port.parse().ok()?,
            primary: Some(*primary).filter(|primary| *primary != "-").map(str::to_owned),
            has_failed: flags.split(',').any(|flag| ["fail", "fail?"].contains(&flag)),
            slots: slots.collect::<Option<_>>()?,
        })
    }

    pub(super) fn serves(&self, slot: u16) -> bool {
        self.slots.iter().any(|(first, last)| (*first..=*last).contains(&slot))
    }
}

/// Returns the member that serves a slot.
pub(super) fn serving(members: &[Member], slot: u16) -> Result<&Member> {
    let found = members.iter().find(|member| member.serves(slot));
    found.with_context(|| format!("no node of the cluster serves the slot {slot}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_cluster_nodes_names_port_primary_and_slots() {
        let primary = "07c3 127.0.0.1:30001@31001,host myself,master - 0 0 1 connected 0-5460 9000 [93->-292f]";
        let primary = Member::parse(primary).unwrap();
        assert_eq!(
            (&*primary.id, &*primary.host, primary.port, primary.primary.as_deref()),
            ("07c3", "127.0.0.1", 30001, None)
        );
        assert!([0, 93, 5460, 9000].iter().all(|slot| primary.serves(*slot)));
        assert!(!primary.serves(5461) && !primary.has_failed);
        let replica = "824f 127.0.0.1:30004@31004 slave,fail? 07c3 0 1426238317239 4 connected";
        let replica = Member::parse(replica).unwrap();
        assert_eq!((replica.primary.as_deref(), replica.has_failed), (Some("07c3"), true));
        for bad in [
            "",
            "07c3 127.0.0.1 master - 0 0 1 connected",
            "07c3 h:1@2 master - 0 0 1 connected a-b",
        ] {
            assert!(Member::parse(bad).is_none(), "{bad}");
        }
    }
}
