//! Stock and orders in MariaDB: tables `store` and `orders`, see `sql/schema.sql`.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::mysql::{MySqlPool, MySqlPoolOptions};
use sqlx::{AssertSqlSafe, MySqlConnection, Row};

use super::{ANSWER_WITHIN, CONNECT_WITHIN, POOL_SIZE, Shelf, Stock};
use crate::probe::{Probe, Step};
use crate::sale::{Error, Name, Order, Purchase};

const SCHEMA: &str = include_str!("../../../sql/schema.sql");

/// One instance's connections to MariaDB.
pub struct Sql {
    pool: MySqlPool,
    instance: Name,
}

impl Sql {
    pub(super) async fn connect(url: &str, instance: &Name, wait: Duration) -> Result<Self, Error> {
        // Whole seconds are all that InnoDB takes.
        let row_wait_s = wait.as_secs_f64().ceil().max(1.0);
        let answer_s = ANSWER_WITHIN.as_secs();
        let settings =
            format!("set session innodb_lock_wait_timeout = {row_wait_s}, session max_statement_time = {answer_s}");
        // The pool counts the opening of a connection as waiting for one: less time than that opens none, ever.
        let pool = MySqlPoolOptions::new()
            .max_connections(POOL_SIZE as u32)
            .acquire_timeout(wait.max(CONNECT_WITHIN))
            .after_connect(move |connection, _| {
                let settings = AssertSqlSafe(settings.clone());
                Box::pin(async move { sqlx::raw_sql(settings).execute(connection).await.map(drop) })
            })
            .connect(url)
            .await?;
        sqlx::raw_sql(SCHEMA).execute(&pool).await?;
        Ok(Self {
            pool,
            instance: instance.clone(),
        })
    }

    /// The pool, for statements that stand in a strategy's own file.
    pub fn pool(&self) -> &MySqlPool {
        &self.pool
    }

    /// Enters the order; false when the ledger holds it already and nothing was entered.
    ///
    /// # Errors
    /// When MariaDB refuses for any other reason.
    pub async fn record(&self, purchase: &Purchase, connection: &mut MySqlConnection) -> Result<bool, Error> {
        let entered = sqlx::query(
            "insert into orders (id, item, quantity, buyer, idempotency_key, instance) values (?, ?, ?, ?, ?, ?)",
        )
        .bind(purchase.order.to_string())
        .bind(purchase.item.as_str())
        .bind(purchase.quantity)
        .bind(purchase.buyer.as_str())
        .bind(purchase.key.as_ref().map(Name::as_str))
        .bind(self.instance.as_str())
        .execute(connection)
        .await;
        match entered {
            Ok(_) => Ok(true),
            Err(error) if error.as_database_error().is_some_and(|e| e.is_unique_violation()) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// How many sales are open besides that of `item`.
    ///
    /// # Errors
    /// When MariaDB does not answer.
    pub async fn other_sales(&self, item: &Name) -> Result<i64, Error> {
        let count = sqlx::query_scalar("select count(*) from store where id <> ?");
        Ok(count.bind(item.as_str()).fetch_one(&self.pool).await?)
    }
}

#[async_trait]
impl Stock for Sql {
    fn name(&self) -> &'static str {
        "sql"
    }

    async fn read(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Shelf>, Error> {
        probe.at(Step::Read).await;
        let row =
            sqlx::query("select s.num, o.quantity, o.buyer from store s left join orders o on o.id = ? where s.id = ?")
                .bind(purchase.order.to_string())
                .bind(purchase.item.as_str())
                .fetch_optional(&self.pool)
                .await?;
        let Some(row) = row else { return Ok(None) };
        let order = match (row.try_get::<Option<i64>, _>(1)?, row.try_get(2)?) {
            (Some(quantity), Some(buyer)) => Some(Order {
                quantity: quantity as u32,
                buyer,
            }),
            _ => None,
        };
        Ok(Some(Shelf {
            left: row.try_get(0)?,
            order,
        }))
    }

    async fn write(&self, purchase: &Purchase, left: i64, probe: &Probe) -> Result<bool, Error> {
        let mut transaction = self.pool.begin().await?;
        probe.at(Step::Write).await;
        let found = sqlx::query("update store set num = ? where id = ?")
            .bind(left)
            .bind(purchase.item.as_str())
            .execute(&mut *transaction)
            .await?
            .rows_affected();
        probe.at(Step::Record).await;
        if found == 0 || !self.record(purchase, &mut transaction).await? {
            transaction.rollback().await?;
            return Ok(false);
        }
        probe.at(Step::Commit).await;
        transaction.commit().await?;
        Ok(true)
    }

    async fn open(&self, item: &Name, stock: i64) -> Result<(), Error> {
        let mut transaction = self.pool.begin().await?;
        sqlx::query("replace into store (id, num) values (?, ?)")
            .bind(item.as_str())
            .bind(stock)
            .execute(&mut *transaction)
            .await?;
        sqlx::query("delete from orders where item = ?")
            .bind(item.as_str())
            .execute(&mut *transaction)
            .await?;
        Ok(transaction.commit().await?)
    }

    async fn open_if_absent(&self, item: &Name, stock: i64) -> Result<(), Error> {
        sqlx::query("insert ignore into store (id, num) values (?, ?)")
            .bind(item.as_str())
            .bind(stock)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    async fn close(&self, item: &Name) -> Result<(), Error> {
        let mut transaction = self.pool.begin().await?;
        for table in ["delete from store where id = ?", "delete from orders where item = ?"] {
            sqlx::query(table)
                .bind(item.as_str())
                .execute(&mut *transaction)
                .await?;
        }
        Ok(transaction.commit().await?)
    }

    async fn ping(&self) -> Result<(), Error> {
        sqlx::query("select 1").execute(&self.pool).await?;
        Ok(())
    }
}
