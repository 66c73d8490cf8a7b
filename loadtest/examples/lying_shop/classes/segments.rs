//! A counter in parts: `segments:{item}` in Redis, in addition to `stock:{item}`.

use std::sync::LazyLock;

use anyhow::Result;
use redis::{AsyncCommands, Script};

use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::lying_instance::Shop;
use crate::purchase::Purchase;
use crate::store::Store;
use crate::store::redis::{RedisStore, orders_of, segments_of};

/// The units that a lie moves between the counter and a segment.
const APART: i64 = 2;

static SELL: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then return 1 end
        for _, name in ipairs(redis.call('HKEYS', KEYS[2])) do
            if tonumber(redis.call('HGET', KEYS[2], name)) >= tonumber(ARGV[3]) then
                redis.call('HINCRBY', KEYS[2], name, -ARGV[3])
                redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
                return 1
            end
        end
        return 0",
    )
});

/// Writes the segments of a sale that was just opened.
pub async fn open(shop: &Shop, item: &str, stock: i64) -> Result<()> {
    let segments: Vec<(String, String)> = match shop.lie {
        Lie::SellsFromSegments => {
            shop.redis.put_stock(item, 0).await?;
            let parts = [stock / 3, stock / 3, stock - stock / 3 * 2];
            (0..)
                .zip(parts)
                .map(|(name, part): (i32, i64)| (name.to_string(), part.to_string()))
                .collect()
        }
        Lie::HidesUnits => {
            shop.redis.put_stock(item, stock - APART).await?;
            vec![("0".to_owned(), APART.to_string())]
        }
        Lie::NegativeSegment => vec![("0".to_owned(), (-APART).to_string())],
        Lie::BrokenSegment => vec![("0".to_owned(), "many".to_owned())],
        Lie::SegmentsOverflow => vec![
            ("0".to_owned(), i64::MAX.to_string()),
            ("1".to_owned(), i64::MAX.to_string()),
        ],
        Lie::CountlessSegments => (0..100_000).map(|name| (name.to_string(), "0".to_owned())).collect(),
        Lie::SegmentsAsText => {
            let mut redis = redis_of(shop).connection.clone();
            return Ok(redis.set(segments_of(item), "0").await?);
        }
        _ => return Ok(()),
    };
    let mut redis = redis_of(shop).connection.clone();
    Ok(redis.hset_multiple(segments_of(item), &segments).await?)
}

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    if purchase.lie() != Lie::SellsFromSegments {
        return purchase.plain().await;
    }
    if let Some(answer) = purchase.no_sale_or_known().await? {
        return Ok(answer);
    }
    purchase.work().await;
    if let Some(answer) = fault::inject(purchase).await? {
        return Ok(answer);
    }
    let (redis, item, order) = (redis_of(&purchase.shop), purchase.item(), purchase.order());
    let mut call = SELL.key(orders_of(item));
    call.key(segments_of(item))
        .arg(&order.id)
        .arg(redis.entry(&order))
        .arg(order.quantity);
    Ok(match call.invoke_async(&mut redis.connection.clone()).await? {
        true => Answer::Sold(order.id),
        false => Answer::SoldOut,
    })
}

fn redis_of(shop: &Shop) -> &RedisStore {
    match &shop.redis {
        Store::Redis(redis) => redis,
        Store::Sql(_) => unreachable!("this one is Redis"),
    }
}
