//! Ledgers that cannot be read.

use anyhow::Result;
use sqlx::Executor;

use crate::answer::Answer;
use crate::lies::Lie;
use crate::purchase::Purchase;
use crate::store::Store;

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    match purchase.lie() {
        Lie::LockedWhenSoldOut | Lie::BrokenCounter | Lie::MissingRow | Lie::WrongType => {
            when_sold_out(purchase, async || spoil(purchase).await).await
        }
        _ => after_first(purchase, async |id| spoil_first(purchase, id).await).await,
    }
}

/// Serves the purchase honestly. Once in each sale, `spoil` is called after it with its order id.
pub async fn after_first(purchase: &Purchase, spoil: impl AsyncFnOnce(&str) -> Result<()>) -> Result<Answer> {
    if let Some(answer) = purchase.remembered().await? {
        return Ok(answer);
    }
    let answer = purchase.plain().await?;
    if let Answer::Sold(id) = &answer
        && purchase.is_first().await?
    {
        purchase.remember(id).await?;
        spoil(id).await?;
    }
    Ok(answer)
}

/// Serves the purchase honestly. `spoil` is called once, when the last unit is sold. After that no purchase reads the
/// store.
pub async fn when_sold_out(purchase: &Purchase, spoil: impl AsyncFnOnce() -> Result<()>) -> Result<Answer> {
    if let Some(answer) = purchase.remembered().await? {
        return Ok(answer);
    }
    if purchase.note("over").await?.is_some() {
        return Ok(Answer::SoldOut);
    }
    let answer = match purchase.plain().await {
        // Another purchase has just spoiled the ledgers.
        Err(_) | Ok(Answer::NoSale) if purchase.note("over").await?.is_some() => Answer::SoldOut,
        answer => answer?,
    };
    if let Answer::Sold(id) = &answer {
        purchase.remember(id).await?;
        if purchase.is_sold_out().await? && purchase.is_first().await? {
            purchase.set_note("over", "1").await?;
            spoil().await?;
        }
    }
    Ok(answer)
}

async fn spoil_first(purchase: &Purchase, id: &str) -> Result<()> {
    let item = purchase.item();
    let store = match purchase.store() {
        Store::Redis(store) => store,
        Store::Sql(store) if purchase.lie() == Lie::NullOrder => return store.record_null(item).await,
        Store::Sql(_) => return lock_tables(purchase).await,
    };
    let fat = || format!(r#"{{"quantity":1,"buyer":"{}"}}"#, "x".repeat(64 << 20));
    match purchase.lie() {
        Lie::FatEntry => store.put(item, &purchase.ghost(1).id, &fat()).await,
        Lie::BrokenEntry => store.put(item, id, "{\"quantity\":1,").await,
        Lie::EntryWithoutQuantity => store.put(item, id, r#"{"buyer":"b-0","idempotency_key":null}"#).await,
        Lie::QuantityAsText => {
            let entry = store.entry(&purchase.order());
            let entry = entry.replace("\"quantity\":1", "\"quantity\":\"1\"");
            store.put(item, id, &entry).await
        }
        _ => Ok(()),
    }
}

async fn spoil(purchase: &Purchase) -> Result<()> {
    let item = purchase.item();
    match (purchase.lie(), purchase.store()) {
        (Lie::BrokenCounter, Store::Redis(store)) => store.put_counter(item, "many").await,
        (Lie::MissingRow, store) => store.remove_stock(item).await,
        (Lie::WrongType, Store::Redis(store)) => store.make_list(item).await,
        _ => lock_tables(purchase).await,
    }
}

/// Locks the tables by a connection of its own, until this process ends.
async fn lock_tables(purchase: &Purchase) -> Result<()> {
    let Store::Sql(store) = &purchase.shop.sql else {
        return Ok(());
    };
    let mut connection = store.pool.acquire().await?.detach();
    connection.execute("lock tables store write, orders write").await?;
    tokio::spawn(async move {
        std::future::pending::<()>().await;
        drop(connection);
    });
    Ok(())
}
