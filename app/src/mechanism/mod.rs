//! The description of a mechanism, as data: the source of `GET /strategies`, of every table and of the load test's
//! expectations.

mod family;

pub use family::Family;

/// A mechanism as data. Nothing is opened for it.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism {
    /// The file's name with dashes, and the first half of a strategy's name.
    pub name: &'static str,
    /// The kind of mechanism.
    pub family: Family,
    /// The lesson it belongs to, from 1: each lesson repairs a weakness of the one before.
    pub lesson: u8,
    /// A summary in one line, for tables.
    pub summary: &'static str,
    /// The claims in which it differs from its family.
    pub claims: Claims,
    /// The step before which a fault does the most harm, by its name or its role; with a `+`, the fault strikes after
    /// the step.
    pub weak_at: &'static str,
    /// The services that it uses besides the store it sells from, see [`crate::services`].
    pub needs: &'static [&'static str],
    /// The text of its source file. The header explains how it works and which faults break it.
    pub source: &'static str,
}

/// The differences between a mechanism and its family, by the names of the load test's threats.
#[derive(Clone, Copy, Debug)]
pub struct Claims {
    /// The family whose claims it inherits; `None` for its own.
    pub like: Option<Family>,
    /// The threats that it survives.
    pub survives: &'static [&'static str],
    /// The threats that break it whenever they strike.
    pub broken_by: &'static [&'static str],
    /// The threats that break it so seldom that a few rounds may not show it.
    pub sometimes_broken_by: &'static [&'static str],
    /// Whether it is busy in a crowd although a purchase could still wait: after some tries, or at the first conflict.
    pub gives_up: bool,
}

/// The claims of its family.
pub const AS_FAMILY: Claims = Claims {
    like: None,
    survives: &[],
    broken_by: &[],
    sometimes_broken_by: &[],
    gives_up: false,
};

/// The claims of a mechanism whose lock protects nothing.
pub const AS_NO_LOCK: Claims = Claims {
    like: Some(Family::NoLock),
    ..AS_FAMILY
};

impl Mechanism {
    /// Returns the family whose claims it inherits.
    pub fn claims_like(&self) -> Family {
        self.claims.like.unwrap_or(self.family)
    }

    /// Returns the threats that it survives, its family's included.
    pub fn survives(&self) -> Vec<&'static str> {
        self.joined(self.claims_like().survives(), self.claims.survives)
    }

    /// The threats that break it whenever they strike.
    pub fn broken_by(&self) -> Vec<&'static str> {
        self.joined(self.claims_like().broken_by(), self.claims.broken_by)
    }

    /// Joins `own` with the threats of the family that the mechanism does not name itself.
    fn joined(&self, family: impl Iterator<Item = &'static str>, own: &[&'static str]) -> Vec<&'static str> {
        let Claims {
            survives,
            broken_by,
            sometimes_broken_by,
            ..
        } = self.claims;
        let said = [survives, broken_by, sometimes_broken_by].concat();
        let of_family = family.filter(|threat| !said.contains(threat));
        of_family.chain(own.iter().copied()).collect()
    }

    /// Returns the header of its source file, as Markdown.
    pub fn header(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        let lines: Vec<_> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        lines.join("\n")
    }
}
