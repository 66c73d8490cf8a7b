//! Conditions under which strategies are tried: one file each, and its `mod` line here.

// The modules stand in the order of the columns.
mod one_buyer;
mod crowd;
mod second_instance;
mod crashed_holder;
mod slow_holder;
mod paused_holder;
mod blocked_runtime;
mod crashed_between;
mod reconciler_killed;
mod message_twice;
mod redis_restart;
mod redis_restart_aof;
mod redis_power_loss;
mod redis_power_loss_synced;
mod redis_failover;
mod redis_evicts;
mod redis_evicts_all;
mod redis_full;
mod cluster_failover;
mod slot_migration;
mod node_cut_off;
mod sql_restart;
mod sql_power_loss;
mod sql_power_loss_unsynced;
mod sql_gone;
mod pool_exhausted;
mod sql_failover;
mod disk_full;
mod store_silent;
mod lost_reply;
mod slow_network;
mod instance_cut_off;
mod clock_jump;
mod clock_back;
mod redis_restart_clock_back;
mod session_expiry;
mod lock_service_restart;
mod minority_restart;
mod majority_restart;
mod minority_clock_jump;
mod majority_clock_jump;
mod leader_change;
mod rolling_replacement;
mod second_click;
mod retrying_proxy;
mod buyer_gone;

use anyhow::{Result, bail};

use crate::attack::Injection;
use crate::deployment::requirement::Requirement;
use crate::phase::Phase;
use crate::sale::Load;
use crate::shop::catalogue::Strategy;
use crate::text::{MAX_NAME, nearest, one_line};

/// Every threat: the `THREAT` of each module above, in the same order.
static ALL: &[Threat] = include!(concat!(env!("OUT_DIR"), "/threats.rs"));

/// A condition under which strategies are tried, as data.
pub struct Threat {
    /// The file's name with dashes. A strategy claims to survive the threat by this name.
    pub name: &'static str,
    /// The head of its column in a table; `{instances}` stands for the number of instances.
    pub title: &'static str,
    /// Whether it is a control, which is no threat: it shows that a strategy is worth a trial at all.
    pub is_control: bool,
    /// Whether the threat can break anything in this strategy, by its family, its stores and its steps. If not, nothing
    /// is played.
    pub is_about: fn(&Strategy) -> bool,
    /// The phases in which its fault comes to this strategy, each in a round of its own. Without any, there is one round,
    /// and the threat chooses the moment.
    pub phases: fn(&Strategy) -> Vec<Phase>,
    /// The instance counts on which it is played, of those that the user asked for.
    pub instances: InstanceCounts,
    /// The load of a round, made from the load that the user asked for.
    pub load: fn(Load, &Strategy) -> Load,
    /// Whether its rounds mostly wait, for a lease or for a process that comes back. Such rounds are played side by
    /// side, and their speed is not measured.
    pub mostly_waits: bool,
    /// Whether a store loses some or all of its data. No sale of an earlier round may be open then.
    pub empties_a_store: bool,
    /// The parts that have to be started here to try this strategy. Without them the round is skipped.
    pub requires: fn(&Strategy) -> Vec<Requirement>,
    /// The fault in the middle of the attack, if there is one.
    pub injection: Option<Injection>,
    /// The source of the file. Its header describes the threat.
    pub source: &'static str,
}

/// The instance counts on which a threat is played, of those that the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceCounts {
    /// On one instance only.
    One,
    /// On the smallest count of two or more.
    SmallestOfSeveral,
    /// On every count of two or more.
    EachOfSeveral,
    /// On the smallest count of two or more, or else on one.
    Any,
}

impl Threat {
    /// A crowd on several instances, in which nothing breaks. A threat names only its differences.
    pub const PLAIN: Self = Self {
        name: "",
        title: "",
        is_control: false,
        is_about: |_| true,
        phases: |_| Vec::new(),
        instances: InstanceCounts::SmallestOfSeveral,
        load: |asked, _| asked,
        mostly_waits: false,
        empties_a_store: false,
        requires: |_| Vec::new(),
        injection: None,
        source: "",
    };

    /// Returns the head of its column for this number of instances.
    pub fn title_on(&self, instances: usize) -> String {
        self.title.replace("{instances}", &instances.to_string())
    }

    /// Returns the instance counts on which it is played, of those that the user asked for.
    pub fn instances_of(&self, counts: &[usize]) -> Vec<usize> {
        let several = counts.iter().copied().filter(|count| *count >= 2);
        match self.instances {
            InstanceCounts::One => counts.iter().copied().filter(|count| *count == 1).collect(),
            InstanceCounts::EachOfSeveral => several.collect(),
            InstanceCounts::SmallestOfSeveral => several.min().into_iter().collect(),
            InstanceCounts::Any => several.min().or(counts.first().copied()).into_iter().collect(),
        }
    }

    /// Returns the header of its file, as Markdown.
    pub fn header(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        let lines: Vec<_> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        lines.join("\n")
    }
}

/// Returns every threat, in the order of the columns.
pub fn all() -> &'static [Threat] {
    ALL
}

/// Returns the names of all threats, in the order of the columns.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|threat| threat.name).collect()
}

/// Returns the threat of that name.
pub fn find(name: &str) -> Option<&'static Threat> {
    ALL.iter().find(|threat| threat.name == name)
}

/// Refuses a strategy whose claims name a threat that does not exist.
///
/// # Errors
/// Names the first such claim, and the name that was probably meant.
pub fn check_claims(strategies: &[Strategy]) -> Result<()> {
    let known = || ALL.iter().filter(|threat| !threat.is_control).map(|threat| threat.name);
    let unknown = |names: &[String]| {
        let unknown = names.iter().find(|name| known().all(|known| known != name.as_str()))?;
        let hint = nearest(known(), unknown).unwrap_or_default();
        let unknown = one_line(unknown, MAX_NAME);
        Some(format!(
            "\"{unknown}\", which is not a threat; did you mean \"{hint}\"?"
        ))
    };
    for strategy in strategies {
        let name = &strategy.name;
        let lists = [
            (&strategy.claims, "claims to survive"),
            (&strategy.broken_by, "says that it is broken by"),
            (&strategy.sometimes_broken_by, "says that it is sometimes broken by"),
        ];
        for (threats, says) in lists {
            if let Some(unknown) = unknown(threats) {
                bail!("{name} {says} {unknown}");
            }
        }
    }
    Ok(())
}
