//! Sells a stock in MariaDB under the lock, with the rule that makes a late holder harmless.
//!
//! `cargo run -p baton --example stock -- redis://127.0.0.1 mysql://user@127.0.0.1/shop`

use std::error::Error;

use baton::{Baton, Settings};
use sqlx::{MySqlPool, Row, query, raw_sql};

/// The stock, and the fence of the last writer beside it.
pub const TABLE: &str = "create table if not exists baton_stock (
    id varchar(64) not null primary key,
    num bigint not null,
    fence bigint unsigned not null default 0
)";

/// The rule: nobody has written since the read, and no higher fence has written.
pub const RULE: &str = "update baton_stock set num = ?, fence = ? where id = ? and fence = ? and fence < ?";

/// The stock as a holder read it.
#[derive(Clone, Copy)]
pub struct Seen {
    /// The units left.
    pub num: i64,
    /// The fence of the last writer.
    pub fence: u64,
}

/// Reads the stock.
pub async fn read(sql: &MySqlPool, id: &str) -> sqlx::Result<Seen> {
    let select = query("select num, fence from baton_stock where id = ?").bind(id);
    let row = select.fetch_one(sql).await?;
    Ok(Seen {
        num: row.try_get(0)?,
        fence: row.try_get(1)?,
    })
}

/// Takes one unit by `statement`, which is [`RULE`]. Returns false when the store refuses: then nothing was sold.
pub async fn sell_one(sql: &MySqlPool, statement: &'static str, id: &str, seen: Seen, mine: u64) -> sqlx::Result<bool> {
    let update = query(statement).bind(seen.num - 1).bind(mine).bind(id);
    let written = update.bind(seen.fence).bind(mine).execute(sql).await?;
    Ok(written.rows_affected() == 1)
}

#[tokio::main]
#[allow(dead_code, reason = "the test uses the rest of the file")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut urls = std::env::args().skip(1);
    let (Some(redis), Some(sql)) = (urls.next(), urls.next()) else {
        return Err("usage: stock REDIS_URL MARIADB_URL".into());
    };
    let baton = Baton::connect(redis::Client::open(redis)?, Settings::default()).await?;
    let sql = MySqlPool::connect(&sql).await?;
    raw_sql(TABLE).execute(&sql).await?;
    query("insert ignore into baton_stock (id, num) values ('sku-1', 10)")
        .execute(&sql)
        .await?;
    let held = baton.lock("sku-1").await?;
    let seen = read(&sql, "sku-1").await?;
    let is_sold = seen.num > 0 && sell_one(&sql, RULE, "sku-1", seen, held.fence()).await?;
    held.release().await?;
    println!("{} were left, sold one: {is_sold}", seen.num);
    Ok(())
}
