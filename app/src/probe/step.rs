//! Steps: what a mechanism does, declared by itself as data, so that a fault can name each of them.

/// The role that a step plays in any sale, whatever its mechanism calls it. A fault can name a role instead of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Asks for the lock.
    Lock,
    /// Reads the stock.
    Read,
    /// Writes the stock.
    Write,
    /// Enters the order in the ledger.
    Record,
    /// Makes stock and order durable together.
    Commit,
    /// Gives the lock back.
    Release,
    /// Prolongs the lease of the lock.
    Renew,
}

impl Role {
    /// All roles, in the order in which a purchase meets them.
    pub const ALL: [Self; 7] = [
        Self::Lock,
        Self::Read,
        Self::Write,
        Self::Record,
        Self::Commit,
        Self::Release,
        Self::Renew,
    ];

    /// The name by which a fault asks for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Read => "read",
            Self::Write => "write",
            Self::Record => "record",
            Self::Commit => "commit",
            Self::Release => "release",
            Self::Renew => "renew",
        }
    }
}

/// One round trip to a store or a lock service, or one wait inside the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What the mechanism calls it, in kebab case.
    pub name: &'static str,
    /// The role it plays, if it is one that every sale has.
    pub role: Option<Role>,
    /// The commands that the store receives, as its own log names them. None for a step inside the process.
    pub sends: &'static [&'static str],
    /// Whether it locks the rows of all items, so that purchases of other items wait for it and it for them.
    pub locks_all_items: bool,
}

impl Step {
    /// A step that sends these commands, in one round trip.
    pub const fn command(name: &'static str, sends: &'static [&'static str]) -> Self {
        Self {
            name,
            role: None,
            sends,
            locks_all_items: false,
        }
    }

    /// A step that no store sees: a wait for a lock, for a connection, for a message.
    pub const fn local(name: &'static str) -> Self {
        Self::command(name, &[])
    }

    /// The same step, playing `role`.
    pub const fn plays(self, role: Role) -> Self {
        Self {
            role: Some(role),
            ..self
        }
    }

    /// The same step, locking the rows of all items.
    pub const fn locking_all_items(self) -> Self {
        Self {
            locks_all_items: true,
            ..self
        }
    }

    /// Whether `name` means this step: its own name, or that of its role.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.role.is_some_and(|role| role.name() == name)
    }
}
