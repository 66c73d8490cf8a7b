//! Stock in Redis, orders in MariaDB. The step that takes the units also notes the order that is still to be recorded.
//! A request for the pending purchases completes those that are old enough.

use std::sync::LazyLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use redis::Script;
use serde_json::{Value, json};

use super::unseen;
use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::lying_instance::Shop;
use crate::purchase::Purchase;
use crate::store::{Order, Store, redis::stock_of};

/// The time after which a pending purchase is completed.
const FINISHED_AFTER: Duration = Duration::from_millis(1_500);

/// The prefix of a note about a pending order, before its id. The note holds the order and the time.
const LEFT: &str = "left ";

static TAKE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local stock = tonumber(redis.call('GET', KEYS[1]) or '0')
        if stock < tonumber(ARGV[1]) then return 0 end
        redis.call('DECRBY', KEYS[1], ARGV[1])
        redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
        return 1",
    )
});

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    let (shop, item, order) = (&purchase.shop, purchase.item(), purchase.order());
    if shop.redis.stock(item).await?.is_none() {
        return Ok(Answer::NoSale);
    }
    if let Some(known) = shop.sql.find(item, &order.id).await? {
        return Ok(purchase.again(&known));
    }
    let under_way = format!("under way {}", order.id);
    if purchase.count(&under_way).await? > 1 {
        return Ok(Answer::Busy);
    }
    if !take(shop, item, &order).await? {
        shop.notes.add(item, &under_way, -1).await?;
        return Ok(Answer::SoldOut);
    }
    purchase.work().await;
    if let Some(answer) = fault::inject(purchase).await? {
        return Ok(answer);
    }
    shop.sql.record(item, &order).await?;
    shop.notes.remove(item, &left(&order.id)).await?;
    Ok(Answer::Sold(order.id))
}

fn left(id: &str) -> String {
    format!("{LEFT}{id}")
}

async fn take(shop: &Shop, item: &str, order: &Order) -> Result<bool> {
    let Store::Redis(redis) = &shop.redis else {
        unreachable!("this one is Redis")
    };
    let note = json!([now_ms()?, order.id, order.quantity, order.buyer, order.key]).to_string();
    let mut call = TAKE.key(stock_of(item));
    call.key(crate::notes::key_of(item))
        .arg(order.quantity)
        .arg(left(&order.id))
        .arg(note);
    Ok(call.invoke_async(&mut redis.connection.clone()).await?)
}

/// Returns the pending purchases of a sale, after it has completed the old ones. `None` in a shop that sells from one
/// store.
pub async fn pending(shop: &Shop, item: &str) -> Result<Option<Value>> {
    let lags = matches!(
        shop.lie,
        Lie::LagsAndCallsItOpen | Lie::LagsForASecond | Lie::LagsByOne | Lie::LagsAtTheEnd | Lie::RecordsAndCallsItOpen
    );
    if lags {
        let open = unseen::lagging(shop, item).await?;
        return Ok(Some(
            json!({ "open": open, "finished": 0, "undone": 0, "longest_ms": 0 }),
        ));
    }
    if !matches!(shop.lie, Lie::FinishesWhatIsLeft | Lie::NeverFinishes) {
        return Ok(None);
    }
    let (mut open, now) = (0, now_ms()?);
    let [finished, longest] = ["finished", "longest"].map(|what| format!("{what} by {}", shop.instance));
    for (name, note) in shop.notes.all(item).await? {
        if !name.starts_with(LEFT) {
            continue;
        }
        let (since, id, quantity, buyer, key) = serde_json::from_str(&note).context("the note of what is left")?;
        let hung = now.saturating_sub(since);
        if shop.lie == Lie::NeverFinishes || hung < FINISHED_AFTER.as_millis() as u64 {
            open += 1;
            continue;
        }
        let order = Order {
            id,
            quantity,
            buyer,
            key,
        };
        shop.sql.record(item, &order).await?;
        shop.notes.remove(item, &name).await?;
        shop.notes.add(item, &finished, 1).await?;
        shop.notes.set(item, &longest, &hung.to_string()).await?;
    }
    let number = async |name: &str| -> Result<u64> {
        Ok(shop
            .notes
            .get(item, name)
            .await?
            .map_or(Ok(0), |number| number.parse())?)
    };
    let (finished, longest_ms) = (number(&finished).await?, number(&longest).await?);
    Ok(Some(
        json!({ "open": open, "finished": finished, "undone": 0, "longest_ms": longest_ms }),
    ))
}

fn now_ms() -> Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64)
}
