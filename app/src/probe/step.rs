//! Steps: each mechanism declares its steps as data, so that a fault can name each of them.

use super::{Data, Effect};

/// The role of a step in a sale, for any mechanism. A fault can name a role instead of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Asks for the lock.
    Lock,
    /// Asks for one of several permits. They exclude nobody, so a permit is no lock.
    Permit,
    /// Reads the stock.
    Read,
    /// Writes the stock.
    Write,
    /// Enters the order in the ledger.
    Record,
    /// Makes stock and order durable together.
    Commit,
    /// Gives the lock or the permit back.
    Release,
    /// Prolongs the lease of the lock.
    Renew,
    /// Asks whether the lock is still the holder's.
    Verify,
}

impl Role {
    /// All roles, in the order of a purchase.
    pub const ALL: [Self; 9] = [
        Self::Lock,
        Self::Permit,
        Self::Read,
        Self::Write,
        Self::Record,
        Self::Commit,
        Self::Release,
        Self::Renew,
        Self::Verify,
    ];

    /// Returns the name that a fault uses for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Permit => "permit",
            Self::Read => "read",
            Self::Write => "write",
            Self::Record => "record",
            Self::Commit => "commit",
            Self::Release => "release",
            Self::Renew => "renew",
            Self::Verify => "verify",
        }
    }
}

/// One round trip to a store or a lock service, or one wait inside the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The mechanism's name for it, in kebab case.
    pub name: &'static str,
    /// Its role, if it has one.
    pub role: Option<Role>,
    /// The commands that the store receives, named as in its own log. Empty for a step inside the process.
    pub sends: &'static [&'static str],
    /// Whether it locks the rows of all items, so that it and the purchases of other items wait for each other.
    pub locks_all_items: bool,
    /// Whether only a background worker takes it, to look for work that a purchase has left.
    pub looks_for_work: bool,
    /// What it waits for inside the process, if it waits.
    pub waits_for: Option<WaitsFor>,
    /// The data that it reads and writes, as far as it says so.
    declared: Option<Effect>,
}

/// What a step inside the process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// A step of another actor: a release, a message, the end of a batch.
    Actor,
    /// Time: the step ends by itself, whatever other actors do.
    Time,
}

impl Step {
    /// Creates a step that sends these commands in one round trip.
    pub const fn command(name: &'static str, sends: &'static [&'static str]) -> Self {
        Self {
            name,
            role: None,
            sends,
            locks_all_items: false,
            looks_for_work: false,
            waits_for: None,
            declared: None,
        }
    }

    /// Creates a step that no store sees: a connection, the release of a mutex. No other instance notices it.
    pub const fn local(name: &'static str) -> Self {
        Self {
            declared: Some(Effect::NONE),
            ..Self::command(name, &[])
        }
    }

    /// Creates a wait for another actor: for a lock, a message or a batch.
    pub const fn wait(name: &'static str) -> Self {
        Self {
            waits_for: Some(WaitsFor::Actor),
            ..Self::local(name)
        }
    }

    /// Creates a pause that ends by itself.
    pub const fn sleep(name: &'static str) -> Self {
        Self {
            waits_for: Some(WaitsFor::Time),
            ..Self::local(name)
        }
    }

    /// Returns the same step with `role`.
    pub const fn plays(self, role: Role) -> Self {
        Self {
            role: Some(role),
            ..self
        }
    }

    /// Returns the same step, which reads this and what it said before.
    pub const fn reads(self, data: Data) -> Self {
        let effect = self.declared_effect();
        self.declares(effect.reads.and(data), effect.writes)
    }

    /// Returns the same step, which writes this, or locks it until its transaction ends, and what it said before.
    pub const fn writes(self, data: Data) -> Self {
        let effect = self.declared_effect();
        self.declares(effect.reads, effect.writes.and(data))
    }

    const fn declared_effect(&self) -> Effect {
        match self.declared {
            Some(effect) => effect,
            None => Effect::NONE,
        }
    }

    const fn declares(self, reads: Data, writes: Data) -> Self {
        Self {
            declared: Some(Effect { reads, writes }),
            ..self
        }
    }

    /// Returns the data that it reads and writes: everything where it does not say, or waits for another actor.
    pub const fn effect(&self) -> Effect {
        match (self.declared, self.waits_for) {
            (_, Some(WaitsFor::Actor)) | (None, _) => Effect::ANY,
            (Some(effect), _) => effect,
        }
    }

    /// Returns the same step, marked as locking the rows of all items.
    pub const fn locking_all_items(self) -> Self {
        Self {
            locks_all_items: true,
            ..self
        }
    }

    /// Returns the same step, marked as the look of a background worker for work.
    pub const fn looking_for_work(self) -> Self {
        Self {
            looks_for_work: true,
            ..self
        }
    }

    /// Returns whether `name` is the name of this step or of its role.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.role.is_some_and(|role| role.name() == name)
    }
}
