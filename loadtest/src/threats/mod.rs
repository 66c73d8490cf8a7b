//! How the world turns against a strategy. One file each; the list below is the one list.

use anyhow::{Result, bail};

use crate::attack::Injection;
use crate::deployment::requirement::Requirement;
use crate::sale::Load;
use crate::shop::catalogue::Strategy;
use crate::text::{MAX_NAME, nearest, one_line};

/// Buyers of a fault: each of them may have to wait out a lease.
const BUYERS: usize = 16;

/// Takes one line for each threat: its file and its type. `cargo fmt` does not reach the files from here, so `.ci/run`
/// gives every file to `rustfmt` by name.
macro_rules! threats {
    ($($file:ident::$threat:ident,)+) => {
        $(mod $file;)+
        static ALL: &[&dyn Threat] = &[$(&$file::$threat),+];

        /// The files, in the same order.
        static SOURCES: &[&str] = &[$(include_str!(concat!(stringify!($file), ".rs"))),+];
    };
}

// In the order of the columns.
threats! {
    one_buyer::OneBuyer,
    crowd::Crowd,
    second_instance::SecondInstance,
    crashed_holder::CrashedHolder,
    slow_holder::SlowHolder,
    paused_holder::PausedHolder,
    blocked_runtime::BlockedRuntime,
    crashed_between::CrashedBetween,
    redis_restart::RedisRestart,
    redis_restart_aof::RedisRestartAof,
    redis_failover::RedisFailover,
    sql_restart::SqlRestart,
    sql_gone::SqlGone,
    store_silent::StoreSilent,
    lost_reply::LostReply,
    slow_network::SlowNetwork,
    clock_jump::ClockJump,
    session_expiry::SessionExpiry,
    second_click::SecondClick,
    retrying_proxy::RetryingProxy,
    buyer_gone::BuyerGone,
}

/// A condition under which a strategy is tried.
pub trait Threat: Send + Sync {
    /// Its name, which is also how a strategy claims to survive it.
    fn name(&self) -> &'static str;

    /// The head of its column in a table.
    fn title(&self, instances: usize) -> String;

    /// A control is no threat: it shows that a strategy is worth a trial at all.
    fn is_control(&self) -> bool {
        false
    }

    /// At which of the instance counts it is played: on two, or as few more as there are, where nothing else is said.
    fn instances(&self, counts: &[usize]) -> Vec<usize> {
        smallest_crowd_of_instances(counts).into_iter().collect()
    }

    /// Whether its rounds mostly wait, for a lease or for a process that comes back: such rounds are played side by side,
    /// and what they measure of speed counts for nothing.
    fn mostly_waits(&self) -> bool {
        false
    }

    /// Whether a store is empty after it, or lacks some of what it had: no sale of an earlier round may be open then.
    fn empties_a_store(&self) -> bool {
        false
    }

    /// Whether there is anything in this strategy that it could break; where not, nothing is played.
    fn concerns(&self, _strategy: &Strategy) -> bool {
        true
    }

    /// Its load, made from the one that was asked for: two waves where there is a deed.
    fn load(&self, asked: Load, _strategy: &Strategy) -> Load {
        match self.injection() {
            Some(_) => two_waves(asked),
            None => asked,
        }
    }

    /// What has to be ours to try this strategy under it; where it is not, the round is skipped.
    fn needs(&self, _strategy: &Strategy) -> Vec<Requirement> {
        Vec::new()
    }

    /// What it does to the shop in the middle of the attack, if it does anything.
    fn injection(&self) -> Option<&dyn Injection> {
        None
    }
}

/// Every threat, in the order of the columns.
pub fn all() -> &'static [&'static dyn Threat] {
    ALL
}

/// The names of all threats, in the order of the columns.
pub fn names() -> Vec<&'static str> {
    all().iter().map(|threat| threat.name()).collect()
}

/// What the header of a threat's own file says of it, as Markdown.
pub fn header(name: &str) -> Option<String> {
    let place = all().iter().position(|threat| threat.name() == name)?;
    let lines = SOURCES.get(place)?.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<_> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    Some(lines.join("\n"))
}

/// The threat of that name.
pub fn find(name: &str) -> Option<&'static dyn Threat> {
    all().iter().copied().find(|threat| threat.name() == name)
}

/// Refuses a strategy that claims to survive something that is no threat.
///
/// # Errors
/// The first such claim, with the name that was probably meant.
pub fn check_claims(strategies: &[Strategy]) -> Result<()> {
    let known = || {
        all()
            .iter()
            .filter(|threat| !threat.is_control())
            .map(|threat| threat.name())
    };
    let stranger = |names: &[String]| {
        let stranger = names.iter().find(|name| known().all(|known| known != name.as_str()))?;
        let hint = nearest(known(), stranger).unwrap_or_default();
        let stranger = one_line(stranger, MAX_NAME);
        Some(format!("\"{stranger}\", which is no threat; did you mean \"{hint}\"?"))
    };
    for strategy in strategies {
        let name = &strategy.name;
        if let Some(stranger) = stranger(&strategy.claims) {
            bail!("{name} claims to survive {stranger}");
        }
        if let Some(stranger) = stranger(&strategy.sometimes_broken_by) {
            bail!("{name} says that it is sometimes broken by {stranger}");
        }
    }
    Ok(())
}

/// The smallest count of two or more.
fn smallest_crowd_of_instances(counts: &[usize]) -> Option<usize> {
    counts.iter().copied().filter(|count| *count >= 2).min()
}

/// The load of a fault, in two waves: the first has the fault in it and cannot sell everything, the second wants more than
/// is left. All want one item: whoever is struck and those who come for what it held have to want the same.
fn two_waves(asked: Load) -> Load {
    let buyers = asked.buyers.min(BUYERS);
    Load {
        buyers,
        requests: buyers * 2,
        stock: (buyers + buyers / 4) as i64 * i64::from(asked.quantity),
        items: 1,
        ..asked
    }
}
