//! What a mechanism says of itself, as data: the source of `GET /strategies`, of every table and of what a load test expects.

mod family;

pub use family::Family;

/// A mechanism, before anything is opened.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism {
    /// The file's name with dashes, and the first half of a strategy's name.
    pub name: &'static str,
    /// The kind of mechanism.
    pub family: Family,
    /// Which lesson it belongs to, from 1: each repairs what the one before it lacks.
    pub lesson: u8,
    /// One line for a table.
    pub summary: &'static str,
    /// Where its claims differ from those of its family.
    pub claims: Claims,
    /// The step before which a fault does it the most harm, by its name or its role; with a `+` the fault comes after it.
    pub weak_at: &'static str,
    /// The services that it uses besides the store it sells from, see [`crate::services`].
    pub needs: &'static [&'static str],
    /// The file it is written in, whose header says how it works and what breaks it.
    pub source: &'static str,
}

/// Where a mechanism differs from its family, by the names of the threats in the load test.
#[derive(Clone, Copy, Debug)]
pub struct Claims {
    /// The family whose claims it starts from; none where that is its own.
    pub like: Option<Family>,
    /// The threats that it survives.
    pub survives: &'static [&'static str],
    /// The threats that break it whenever they strike.
    pub broken_by: &'static [&'static str],
    /// The threats that break it too seldom to be seen in every few rounds.
    pub sometimes_broken_by: &'static [&'static str],
    /// Whether it tells a crowd busy although a purchase could still wait: after some tries, or at the first conflict.
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
    /// The family whose claims it starts from.
    pub fn claims_like(&self) -> Family {
        self.claims.like.unwrap_or(self.family)
    }

    /// The threats that it survives, by itself or with its family.
    pub fn survives(&self) -> Vec<&'static str> {
        self.joined(self.claims_like().survives(), self.claims.survives)
    }

    /// The threats that break it whenever they strike.
    pub fn broken_by(&self) -> Vec<&'static str> {
        self.joined(self.claims_like().broken_by(), self.claims.broken_by)
    }

    /// The family's threats of which the mechanism says nothing, and `own`.
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

    /// The header of its file, as Markdown.
    pub fn header(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        let lines: Vec<_> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        lines.join("\n")
    }
}
