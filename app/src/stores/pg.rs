//! PostgreSQL as a store: the same tables and the same statements as in MariaDB, by its own protocol and rules.

use std::sync::Arc;

use super::sql::{Engine, Sql};
use super::{Stock, Store, StoreEntry};

/// PostgreSQL, for the list of stores.
pub(super) const ENTRY: StoreEntry = StoreEntry {
    name: Engine::Postgres.store(),
    steps: Sql::STEPS,
    loses_by: Sql::LOSES_BY,
    connect: |to| Box::pin(async { Ok(Arc::new(Sql::open_at(Engine::Postgres, to).await?) as Arc<dyn Stock>) }),
};
