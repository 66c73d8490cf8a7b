//! A batch at MariaDB: one transaction, which decides under the lock of the item's row.

use std::sync::Arc;

use async_trait::async_trait;

use super::batch::Batch;
use super::served::Served;
use super::{BatchStore, Combining, MECHANISM, WAIT};
use crate::domain::{Error, Outcome};
use crate::probe::{Data, Role, Step};
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, Connection, FIND, RECORD, ROLLBACK, query, rows};
use crate::strategies::{NativeEntry, opened};

/// The tries of a batch when another writer, without the row's lock, enters one of its orders meanwhile.
const TRIES: usize = 3;

const LOCK_ROW: Step = Step::command("lock-row", &["select"])
    .reads(Data::ALL)
    .writes(Data::STOCK)
    .plays(Role::Read);
const TAKE: Step = Step::command("take", &["update"])
    .writes(Data::STOCK)
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: MECHANISM,
    stores: &["sql", "pg"],
    steps: &[WAIT, CONNECT, BEGIN, LOCK_ROW, FIND, TAKE, RECORD, COMMIT, ROLLBACK],
    open: |world, store| {
        Box::pin(async move {
            let transaction = BatchTransaction { sql: world.sql(store)? };
            opened(Combining::new(transaction, world.timeouts.wait))
        })
    },
};

struct BatchTransaction {
    sql: Arc<Sql>,
}

#[async_trait]
impl BatchStore for BatchTransaction {
    fn name(&self) -> &'static str {
        self.sql.engine().store()
    }

    async fn put_through(&self, batch: &mut Batch<'_>) -> Result<Vec<Outcome>, Error> {
        for _ in 0..TRIES {
            let mut sql = self.sql.begun(batch.first(), batch.probe()).await?;
            let error = match self.attempt(batch, &mut sql).await {
                Err(error @ (Error::Duplicate | Error::GivenUp { .. })) => error,
                done => return done,
            };
            self.sql.roll_back(batch.first(), batch.probe(), &mut sql).await?;
            if error.changed_nothing() {
                return Err(error);
            }
        }
        Err(Error::given_up(self.name(), &Error::Duplicate))
    }
}

impl BatchTransaction {
    /// Carries out the batch in a transaction that was begun. After an error the caller rolls back.
    async fn attempt(&self, batch: &mut Batch<'_>, sql: &mut Connection) -> Result<Vec<Outcome>, Error> {
        let item = batch.first().item.clone();
        let select = query("select num from store where id = ? for update").bind(item.as_str());
        let left = self.sql.left(&LOCK_ROW, select, (batch.first(), batch.probe()), sql);
        let left = left.await?;
        // The wait for the row may have been long: purchases that came meanwhile need not wait for it again.
        batch.gather();
        let Some(left) = left else {
            self.sql.roll_back(batch.first(), batch.probe(), sql).await?;
            return Ok(vec![Outcome::UnknownItem; batch.len()]);
        };
        let (batch, probe) = (&*batch, batch.probe());
        // The first plain read of the transaction: every order that was entered under the lock is committed by now.
        let before = self.sql.find_all(batch.purchases(), &item, probe, sql).await?;
        let served = Served::of(batch.purchases(), left, before);
        if served.sold.is_empty() {
            self.sql.roll_back(batch.first(), probe, sql).await?;
            return Ok(served.outcomes);
        }
        let update = query("update store set num = num - ? where id = ?")
            .bind(served.units())
            .bind(item.as_str());
        probe.step(&TAKE, &item, sql.execute(update), rows).await?;
        self.sql.record_all(&served.sold, &item, probe, sql).await?;
        self.sql.commit(batch.first(), probe, sql).await?;
        Ok(served.outcomes)
    }
}
