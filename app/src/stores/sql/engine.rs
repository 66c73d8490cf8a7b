//! The database servers that speak SQL, and where their ways differ for a purchase.

/// A kind of database server. Most statements are the same on both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// MariaDB, whose transactions are REPEATABLE READ by default.
    MariaDb,
    /// PostgreSQL, whose transactions are READ COMMITTED by default.
    Postgres,
}

impl Engine {
    /// Returns the name of its store: the second half of a strategy's name.
    pub const fn store(self) -> &'static str {
        match self {
            Self::MariaDb => "sql",
            Self::Postgres => "pg",
        }
    }

    /// Returns the name of the server, for observers.
    pub(super) const fn server(self) -> &'static str {
        match self {
            Self::MariaDb => "mariadb",
            Self::Postgres => "postgres",
        }
    }

    /// Whether the level of a transaction is set before it begins, and not as its first statement.
    pub const fn isolates_before_begin(self) -> bool {
        matches!(self, Self::MariaDb)
    }

    /// Returns the statements that create the shop's tables, and the check that they are as the shop expects them.
    pub(super) const fn schema(self) -> [&'static str; 2] {
        match self {
            Self::MariaDb => [
                include_str!("../../../../sql/schema.sql"),
                include_str!("../../../../sql/relied_upon.sql"),
            ],
            Self::Postgres => [
                include_str!("../../../../sql/pg_schema.sql"),
                include_str!("../../../../sql/pg_relied_upon.sql"),
            ],
        }
    }
}

/// A level of isolation that a transaction asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Every read of the transaction sees the same moment.
    RepeatableRead,
    /// The outcome is that of some serial order.
    Serializable,
}

impl Isolation {
    /// Returns its name, for observers.
    pub const fn word(self) -> &'static str {
        match self {
            Self::RepeatableRead => "repeatable read",
            Self::Serializable => "serializable",
        }
    }

    pub(super) const fn statement(self) -> &'static str {
        match self {
            Self::RepeatableRead => "set transaction isolation level repeatable read",
            Self::Serializable => "set transaction isolation level serializable",
        }
    }
}
