//! The steps of a transaction of counter and ledger, and the end of one that does not sell.

use super::{BEGIN, COMMIT, Connection, ISOLATE, Isolation, ROLLBACK, Sql, Statement, WRITE, query, wrote};
use crate::domain::{Error, Outcome, Purchase};
use crate::probe::{Probe, Step};
use crate::stores::{Stock, in_words};

impl Sql {
    /// Takes a connection and begins a transaction.
    ///
    /// # Errors
    /// When there is no connection, or the database does not answer.
    pub async fn begun(&self, purchase: &Purchase, probe: &Probe) -> Result<Connection, Error> {
        let mut sql = self.connected(probe).await?;
        let begun = probe.step(&BEGIN, &purchase.item, sql.begin(), |()| "begun").await;
        // The transaction has not begun, so nothing was written.
        begun.map_err(|error| Error::given_up(self.engine().store(), &error))?;
        Ok(sql)
    }

    /// Takes a connection and begins a transaction at that level of isolation.
    ///
    /// # Errors
    /// When there is no connection, or the database refuses or does not answer.
    pub async fn begun_at(&self, level: Isolation, purchase: &Purchase, probe: &Probe) -> Result<Connection, Error> {
        let mut sql = self.connected(probe).await?;
        if self.engine().isolates_before_begin() {
            Self::isolate(level, purchase, probe, &mut sql).await?;
        }
        probe.step(&BEGIN, &purchase.item, sql.begin(), |()| "begun").await?;
        if !self.engine().isolates_before_begin() {
            Self::isolate(level, purchase, probe, &mut sql).await?;
        }
        Ok(sql)
    }

    async fn isolate(level: Isolation, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<(), Error> {
        let isolate = sql.isolate(level);
        probe.step(&ISOLATE, &purchase.item, isolate, |()| level.word()).await
    }

    /// Reads the counter by `select` on this connection; `None` when no sale of the item is open.
    ///
    /// # Errors
    /// When the database refuses, or gives up the transaction.
    pub async fn left(
        &self,
        step: &Step,
        select: Statement<'_>,
        (purchase, probe): (&Purchase, &Probe),
        sql: &mut Connection,
    ) -> Result<Option<i64>, Error> {
        let row = probe
            .step(step, &purchase.item, sql.fetch(select), |row| {
                in_words(row.as_ref().map(|row| row.get(0)), false)
            })
            .await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// Sets the counter to `left`, whatever its value is now. Returns false when the sale is closed.
    ///
    /// # Errors
    /// When the database refuses, or gives up the transaction.
    pub async fn set(
        &self,
        left: i64,
        purchase: &Purchase,
        probe: &Probe,
        sql: &mut Connection,
    ) -> Result<bool, Error> {
        let update = query("update store set num = ? where id = ?")
            .bind(left)
            .bind(purchase.item.as_str());
        let set = probe.step(&WRITE, &purchase.item, sql.execute(update), |found| wrote(*found, left));
        Ok(set.await? > 0)
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// When the database does not answer: it is then unknown whether the sale took place.
    pub async fn commit(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<(), Error> {
        let commit = probe.step(&COMMIT, &purchase.item, sql.commit(), |()| "committed");
        commit.await
    }

    /// Rolls the transaction back.
    ///
    /// # Errors
    /// When the database does not answer; it then rolls back by itself.
    pub async fn roll_back(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<(), Error> {
        let rollback = probe.step(&ROLLBACK, &purchase.item, sql.rollback(), |()| "rolled back");
        rollback.await
    }

    /// Reads the counter by `select`, works, sets the counter to that value minus the quantity, enters the order and
    /// commits. Returns the units that are left; `None` when it does not sell.
    ///
    /// # Errors
    /// When the database refuses, or gives up the transaction.
    pub async fn read_then_set(
        &self,
        step: &Step,
        select: Statement<'_>,
        (purchase, probe): (&Purchase, &Probe),
        sql: &mut Connection,
    ) -> Result<Option<i64>, Error> {
        let found = self.left(step, select, (purchase, probe), sql).await?;
        let remaining = found.unwrap_or(0) - i64::from(purchase.quantity);
        if remaining < 0 {
            return Ok(None);
        }
        probe.work().await;
        if !self.set(remaining, purchase, probe, sql).await? || !self.record(purchase, probe, sql).await? {
            return Ok(None);
        }
        self.commit(purchase, probe, sql).await?;
        Ok(Some(remaining))
    }

    /// Returns the outcome of a transaction, whose result `sold` is the units left, or `None` for no sale. Returns
    /// `None` when the database gave up the transaction.
    ///
    /// # Errors
    /// Those of the transaction, and those of [`Sql::refusal`].
    pub async fn outcome(
        &self,
        sold: Result<Option<i64>, Error>,
        (purchase, probe): (&Purchase, &Probe),
        mut sql: Connection,
    ) -> Result<Option<Outcome>, Error> {
        match sold {
            Ok(Some(remaining)) => Ok(Some(Outcome::Sold { remaining })),
            Ok(None) => {
                self.roll_back(purchase, probe, &mut sql).await?;
                drop(sql);
                self.refusal(purchase, probe).await.map(Some)
            }
            Err(Error::GivenUp { .. }) => {
                self.roll_back(purchase, probe, &mut sql).await?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Finds out why nothing was sold. It reads after the fact, so it costs a sale nothing.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn refusal(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        Ok(match self.read(purchase, probe).await? {
            None => Outcome::UnknownItem,
            Some(found) => found.order.map_or(Outcome::SoldOut, Outcome::Repeated),
        })
    }
}
