//! MariaDB: the tables `store` and `orders`.

use std::time::Duration;

use anyhow::Result;
use sqlx::mysql::{MySqlConnection, MySqlPool, MySqlPoolOptions, MySqlRow};
use sqlx::{QueryBuilder, Row};

use super::{Order, Sale};

const SCHEMA: &str = include_str!("../../../../sql/schema.sql");

const RESERVES: &str = "create table if not exists lie_reserves (
    item varchar(64) character set utf8mb4 collate utf8mb4_bin not null,
    id char(36) character set ascii collate ascii_bin not null,
    units bigint not null,
    expires timestamp(6) not null,
    primary key (item, id)) engine = InnoDB";

/// Lets the columns of `orders` be null, which the schema forbids. A unique index replaces the primary key, and
/// protects all rows with an id as well as before.
const NULLABLE: &str = "alter table orders
    drop index if exists `PRIMARY`,
    add unique index if not exists orders_by_id (id),
    modify id char(36) character set ascii collate ascii_bin null,
    modify quantity bigint null,
    modify buyer varchar(64) character set utf8mb4 collate utf8mb4_bin null";

/// The attempts of a transaction: InnoDB ends one of two transactions that wait for each other.
const TRIES: usize = 10;

#[derive(Clone)]
pub struct SqlStore {
    pub pool: MySqlPool,
    instance: String,
}

impl SqlStore {
    pub async fn connect(url: &str, instance: &str) -> Result<Self> {
        let options = MySqlPoolOptions::new().max_connections(24);
        let options = options.acquire_timeout(Duration::from_secs(20));
        let pool = options.connect(url).await?;
        sqlx::raw_sql(SCHEMA).execute(&pool).await?;
        sqlx::raw_sql(RESERVES).execute(&pool).await?;
        Ok(Self {
            pool,
            instance: instance.to_owned(),
        })
    }

    /// Runs a statement that changes a setting or a table.
    pub async fn run(&self, statement: &'static str) -> Result<()> {
        sqlx::raw_sql(statement).execute(&self.pool).await?;
        Ok(())
    }

    pub async fn close(&self, item: &str) -> Result<()> {
        retried(|| self.try_to_close(item)).await
    }

    async fn try_to_close(&self, item: &str) -> Result<()> {
        for closed in [
            "delete from orders where item = ?",
            "delete from lie_reserves where item = ?",
            "delete from store where id = ?",
        ] {
            sqlx::query(closed).bind(item).execute(&self.pool).await?;
        }
        Ok(())
    }

    pub async fn stock(&self, item: &str) -> Result<Option<i64>> {
        let stock = sqlx::query_scalar("select num from store where id = ?");
        Ok(stock.bind(item).fetch_optional(&self.pool).await?)
    }

    pub async fn put_stock(&self, item: &str, stock: i64) -> Result<()> {
        let put = sqlx::query("insert into store (id, num) values (?, ?) on duplicate key update num = values(num)");
        put.bind(item).bind(stock).execute(&self.pool).await?;
        Ok(())
    }

    pub async fn change(&self, item: &str, by: i64) -> Result<()> {
        let changed = sqlx::query("update store set num = num + ? where id = ?");
        changed.bind(by).bind(item).execute(&self.pool).await?;
        Ok(())
    }

    pub async fn take(&self, item: &str, units: i64, keep: i64) -> Result<bool> {
        let mut connection = self.pool.acquire().await?;
        take(&mut connection, item, units, keep).await
    }

    pub async fn find(&self, item: &str, id: &str) -> Result<Option<Order>> {
        let found = sqlx::query("select id, quantity, buyer, idempotency_key from orders where item = ? and id = ?");
        let found = found.bind(item).bind(id).fetch_optional(&self.pool).await?;
        found.map(|row| parse(&row)).transpose()
    }

    pub async fn orders(&self, item: &str) -> Result<Vec<Order>> {
        let all = sqlx::query("select id, quantity, buyer, idempotency_key from orders where item = ?");
        let all = all.bind(item).fetch_all(&self.pool).await?;
        all.iter().map(parse).collect()
    }

    pub async fn record(&self, item: &str, order: &Order) -> Result<()> {
        self.delete(item, &order.id).await?;
        let mut connection = self.pool.acquire().await?;
        Ok(self.insert(&mut connection, item, order).await?)
    }

    pub async fn insert(&self, to: &mut MySqlConnection, item: &str, order: &Order) -> sqlx::Result<()> {
        let entered =
            "insert into orders (id, item, quantity, buyer, idempotency_key, instance) values (?, ?, ?, ?, ?, ?)";
        let entered = sqlx::query(entered).bind(&order.id).bind(item).bind(order.quantity);
        let entered = entered
            .bind(order.buyer.as_deref().unwrap_or_default())
            .bind(&order.key);
        entered.bind(&self.instance).execute(to).await.map(drop)
    }

    /// Records a row with nothing but its item and instance.
    pub async fn record_null(&self, item: &str) -> Result<()> {
        sqlx::raw_sql(NULLABLE).execute(&self.pool).await?;
        let entered = sqlx::query("insert into orders (item, instance) values (?, ?)");
        entered.bind(item).bind(&self.instance).execute(&self.pool).await?;
        Ok(())
    }

    pub async fn remove_stock(&self, item: &str) -> Result<()> {
        let removed = sqlx::query("delete from store where id = ?");
        removed.bind(item).execute(&self.pool).await?;
        Ok(())
    }

    pub async fn record_all(&self, item: &str, orders: &[Order]) -> Result<()> {
        for some in orders.chunks(1_000) {
            let mut all =
                QueryBuilder::new("insert into orders (id, item, quantity, buyer, idempotency_key, instance) ");
            all.push_values(some, |mut row, order| {
                row.push_bind(&order.id).push_bind(item).push_bind(order.quantity);
                row.push_bind(order.buyer.clone().unwrap_or_default());
                row.push_bind(&order.key).push_bind(&self.instance);
            });
            all.build().execute(&self.pool).await?;
        }
        Ok(())
    }

    pub async fn delete(&self, item: &str, id: &str) -> Result<()> {
        let deleted = sqlx::query("delete from orders where item = ? and id = ?");
        deleted.bind(item).bind(id).execute(&self.pool).await?;
        Ok(())
    }

    pub async fn sell(&self, item: &str, order: &Order, units: i64, keep: i64) -> Result<Sale> {
        retried(|| self.try_to_sell(item, order, units, keep)).await
    }

    async fn try_to_sell(&self, item: &str, order: &Order, units: i64, keep: i64) -> Result<Sale> {
        let mut transaction = self.pool.begin().await?;
        let taken = take(&mut transaction, item, units, keep).await?;
        if taken {
            match self.insert(&mut transaction, item, order).await {
                Ok(()) => {
                    transaction.commit().await?;
                    return Ok(Sale::Sold);
                }
                Err(error) if error.as_database_error().is_some_and(|e| e.is_unique_violation()) => {}
                Err(error) => return Err(error.into()),
            }
        }
        transaction.rollback().await?;
        // The transaction that held the row before may have recorded this very order.
        Ok(match self.find(item, &order.id).await? {
            Some(known) => Sale::Known(known),
            None if self.stock(item).await?.is_some() => Sale::SoldOut,
            None => Sale::Gone,
        })
    }
}

async fn take(from: &mut MySqlConnection, item: &str, units: i64, keep: i64) -> Result<bool> {
    let taken = sqlx::query("update store set num = num - ? where id = ? and num >= ?");
    let taken = taken.bind(units).bind(item).bind(units + keep);
    Ok(taken.execute(from).await?.rows_affected() == 1)
}

/// Tries a transaction again for as long as InnoDB ends it for a deadlock, up to [`TRIES`] times.
pub async fn retried<T, F: Future<Output = Result<T>>>(transaction: impl Fn() -> F) -> Result<T> {
    let mut tried = 1;
    loop {
        match transaction().await {
            Err(error) if tried < TRIES && is_deadlock(&error) => tried += 1,
            result => return result,
        }
    }
}

fn is_deadlock(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<sqlx::Error>();
    let error = error.and_then(|error| error.as_database_error());
    error.is_some_and(|error| error.code().as_deref() == Some("40001"))
}

fn parse(row: &MySqlRow) -> Result<Order> {
    Ok(Order {
        id: row.try_get(0)?,
        quantity: row.try_get(1)?,
        buyer: row.try_get(2)?,
        key: row.try_get(3)?,
    })
}
