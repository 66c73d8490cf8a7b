//! What mechanisms do in a transaction of counter and ledger, and how one ends that does not sell.

use sqlx::{Row, query};

use super::{BEGIN, COMMIT, Connection, ROLLBACK, Sql, Statement, WRITE, wrote};
use crate::domain::{Error, Outcome, Purchase};
use crate::probe::{Probe, Step};
use crate::stores::{Stock, Store, in_words};

impl Sql {
    /// A connection with a transaction begun.
    ///
    /// # Errors
    /// When none is to be had, or MariaDB does not answer.
    pub async fn begun(&self, purchase: &Purchase, probe: &Probe) -> Result<Connection, Error> {
        let mut sql = self.connected(probe).await?;
        let begun = probe.step(&BEGIN, &purchase.item, sql.begin(), |()| "begun").await;
        // In a transaction that was not begun nothing was written.
        begun.map_err(|error| Error::given_up(Sql::NAME, &error))?;
        Ok(sql)
    }

    /// The counter, as `select` finds it on this connection; `None` when no such sale is open.
    ///
    /// # Errors
    /// When MariaDB refuses, or gives the transaction up.
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

    /// Sets the counter to `left`, whatever it is now; false when the sale was closed.
    ///
    /// # Errors
    /// When MariaDB refuses, or gives the transaction up.
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

    /// Makes durable what the transaction changed.
    ///
    /// # Errors
    /// When MariaDB does not answer: whether the sale took place is then unknown.
    pub async fn commit(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<(), Error> {
        let commit = probe.step(&COMMIT, &purchase.item, sql.commit(), |()| "committed");
        commit.await
    }

    /// Takes back what the transaction changed.
    ///
    /// # Errors
    /// When MariaDB does not answer; it then does the same by itself.
    pub async fn roll_back(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<(), Error> {
        let rollback = probe.step(&ROLLBACK, &purchase.item, sql.rollback(), |()| "rolled back");
        rollback.await
    }

    /// Reads the counter by `select`, works, sets it to what was read minus the quantity, enters the order and commits:
    /// answers how many are left behind it, and `None` when it does not sell.
    ///
    /// # Errors
    /// When MariaDB refuses, or gives the transaction up.
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

    /// What came of a transaction that sold, leaving so many units, or did not sell. `None` when MariaDB gave it up.
    ///
    /// # Errors
    /// Those of the transaction, and those of asking why it did not sell.
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

    /// Why nothing was sold: asked after the fact, and off the path of a sale.
    ///
    /// # Errors
    /// When MariaDB does not answer.
    pub async fn refusal(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        Ok(match self.read(purchase, probe).await? {
            None => Outcome::UnknownItem,
            Some(found) => found.order.map_or(Outcome::SoldOut, Outcome::Repeated),
        })
    }
}
