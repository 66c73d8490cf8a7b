//! PostgreSQL as a store: the same tables and the same statements as in MariaDB, by its own protocol and rules. Most strategies sell
//! without it, so a shop opens also while it does not answer.

use std::sync::Arc;

use super::sql::{Engine, Sql};
use super::{Stock, Store, StoreEntry};

/// PostgreSQL, for the list of stores.
pub(super) const ENTRY: StoreEntry = StoreEntry {
    name: Engine::Postgres.store(),
    steps: Sql::STEPS,
    loses_by: Sql::LOSES_BY,
    is_optional: true,
    connect: |to| Box::pin(async { Ok(Arc::new(Sql::at(Engine::Postgres, to)?) as Arc<dyn Stock>) }),
};
