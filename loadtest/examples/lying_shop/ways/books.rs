//! Books that cannot be read.

use anyhow::Result;
use sqlx::Executor;

use crate::answer::Answer;
use crate::lies::Lie;
use crate::store::Store;
use crate::visit::Visit;

pub async fn sell(visit: &Visit) -> Result<Answer> {
    match visit.lie() {
        Lie::LockedWhenSoldOut | Lie::BrokenCounter | Lie::MissingRow | Lie::WrongType => {
            when_sold_out(visit, async || spoil(visit).await).await
        }
        _ => after_first(visit, async |id| spoil_first(visit, id).await).await,
    }
}

/// The honest sale; once in each sale `spoil` is called when it is over, with its order.
pub async fn after_first(visit: &Visit, spoil: impl AsyncFnOnce(&str) -> Result<()>) -> Result<Answer> {
    if let Some(answer) = visit.remembered().await? {
        return Ok(answer);
    }
    let answer = visit.plain().await?;
    if let Answer::Sold(id) = &answer
        && visit.is_first().await?
    {
        visit.remember(id).await?;
        spoil(id).await?;
    }
    Ok(answer)
}

/// The honest sale; `spoil` is called when the last unit was sold, and after that nobody looks into the store again.
pub async fn when_sold_out(visit: &Visit, spoil: impl AsyncFnOnce() -> Result<()>) -> Result<Answer> {
    if let Some(answer) = visit.remembered().await? {
        return Ok(answer);
    }
    if visit.note("over").await?.is_some() {
        return Ok(Answer::SoldOut);
    }
    let answer = match visit.plain().await {
        // Somebody else has just spoiled the books.
        Err(_) | Ok(Answer::NoSale) if visit.note("over").await?.is_some() => Answer::SoldOut,
        answer => answer?,
    };
    if let Answer::Sold(id) = &answer {
        visit.remember(id).await?;
        if visit.is_sold_out().await? && visit.is_first().await? {
            visit.set_note("over", "1").await?;
            spoil().await?;
        }
    }
    Ok(answer)
}

async fn spoil_first(visit: &Visit, id: &str) -> Result<()> {
    let Store::Redis(store) = visit.store() else {
        return lock_tables(visit).await;
    };
    let item = visit.item();
    let fat = || format!(r#"{{"quantity":1,"buyer":"{}"}}"#, "x".repeat(64 << 20));
    match visit.lie() {
        Lie::FatEntry => store.put(item, &visit.ghost(1).id, &fat()).await,
        Lie::BrokenEntry => store.put(item, id, "{\"quantity\":1,").await,
        Lie::EntryWithoutQuantity => store.put(item, id, r#"{"buyer":"b-0","idempotency_key":null}"#).await,
        Lie::QuantityAsText => {
            let entry = store.entry(&visit.order());
            let entry = entry.replace("\"quantity\":1", "\"quantity\":\"1\"");
            store.put(item, id, &entry).await
        }
        _ => Ok(()),
    }
}

async fn spoil(visit: &Visit) -> Result<()> {
    let item = visit.item();
    match (visit.lie(), visit.store()) {
        (Lie::BrokenCounter, Store::Redis(store)) => store.put_counter(item, "many").await,
        (Lie::MissingRow, store) => store.remove_stock(item).await,
        (Lie::WrongType, Store::Redis(store)) => store.make_list(item).await,
        _ => lock_tables(visit).await,
    }
}

/// A connection of its own holds the lock until this process ends.
async fn lock_tables(visit: &Visit) -> Result<()> {
    let Store::Sql(store) = &visit.shop.sql else {
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
