//! Reserves: units are reserved for one purchase for a limited time, and then confirmed. The units stay in the counter
//! or are taken out of it. The next purchase gives back the units of an expired reserve.

use std::sync::LazyLock;
use std::time::Duration;

use anyhow::Result;
use redis::Script;
use sqlx::mysql::MySqlConnection;

use super::redis::{orders_of, reserves_of, stock_of};
use super::sql::retried;
use super::{Order, RedisStore, SqlStore, Store};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ReserveKind {
    Apart,
    /// As [`ReserveKind::Apart`], for almost as long as a shop may reserve.
    ApartForNineSeconds,
    /// As [`ReserveKind::Apart`], but the reserve outlives the sale.
    ApartForLong,
    FromStock,
}

impl ReserveKind {
    fn lasts(self) -> Duration {
        match self {
            Self::Apart | Self::FromStock => Duration::from_secs(2),
            Self::ApartForNineSeconds => Duration::from_secs(9),
            Self::ApartForLong => Duration::from_secs(600),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum Reserve {
    Reserved,
    /// Other purchases have reserved the units that are left, or this same purchase is in progress.
    Held,
    SoldOut,
}

static TRY: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local from_stock = ARGV[4] == '1'
        local held = 0
        local all = redis.call('HGETALL', KEYS[2])
        for at = 1, #all, 2 do
            local units, expires = string.match(all[at + 1], '(%d+) (%d+)')
            if tonumber(expires) <= now then
                redis.call('HDEL', KEYS[2], all[at])
                if from_stock then redis.call('INCRBY', KEYS[1], units) end
            else
                held = held + tonumber(units)
            end
        end
        if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 'held' end
        if redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return 'held' end
        local stock = tonumber(redis.call('GET', KEYS[1]) or '0')
        local free = stock
        if not from_stock then free = stock - held end
        if free < tonumber(ARGV[2]) then
            if free + held >= tonumber(ARGV[2]) then return 'held' end
            return 'sold out'
        end
        redis.call('HSET', KEYS[2], ARGV[1], ARGV[2] .. ' ' .. string.format('%d', now + ARGV[3]))
        if from_stock then redis.call('DECRBY', KEYS[1], ARGV[2]) end
        return 'reserved'",
    )
});

static CONFIRM: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "if redis.call('HDEL', KEYS[2], ARGV[1]) == 0 then return 0 end
        if ARGV[4] == '0' then redis.call('DECRBY', KEYS[1], ARGV[2]) end
        redis.call('HSET', KEYS[3], ARGV[1], ARGV[3])
        return 1",
    )
});

impl Store {
    pub async fn reserve(&self, item: &str, order: &Order, kind: ReserveKind) -> Result<Reserve> {
        match self {
            Store::Redis(store) => store.reserve(item, order, kind).await,
            Store::Sql(store) => store.reserve(item, order, kind).await,
        }
    }

    /// Turns a reserve into an order. Returns false when it had expired and its units were given back.
    pub async fn confirm(&self, item: &str, order: &Order, kind: ReserveKind) -> Result<bool> {
        match self {
            Store::Redis(store) => store.confirm(item, order, kind).await,
            Store::Sql(store) => store.confirm(item, order, kind).await,
        }
    }
}

impl RedisStore {
    async fn reserve(&self, item: &str, order: &Order, kind: ReserveKind) -> Result<Reserve> {
        let mut call = TRY.key(stock_of(item));
        call.key(reserves_of(item)).key(orders_of(item));
        call.arg(&order.id).arg(order.quantity);
        call.arg(kind.lasts().as_millis() as u64)
            .arg(i32::from(kind == ReserveKind::FromStock));
        let word: String = call.invoke_async(&mut self.connection.clone()).await?;
        Ok(match word.as_str() {
            "reserved" => Reserve::Reserved,
            "held" => Reserve::Held,
            _ => Reserve::SoldOut,
        })
    }

    async fn confirm(&self, item: &str, order: &Order, kind: ReserveKind) -> Result<bool> {
        let mut call = CONFIRM.key(stock_of(item));
        call.key(reserves_of(item)).key(orders_of(item));
        call.arg(&order.id).arg(order.quantity).arg(self.entry(order));
        call.arg(i32::from(kind == ReserveKind::FromStock));
        Ok(call.invoke_async(&mut self.connection.clone()).await?)
    }
}

impl SqlStore {
    async fn reserve(&self, item: &str, order: &Order, kind: ReserveKind) -> Result<Reserve> {
        retried(|| self.try_to_reserve(item, order, kind)).await
    }

    async fn confirm(&self, item: &str, order: &Order, kind: ReserveKind) -> Result<bool> {
        retried(|| self.try_to_confirm(item, order, kind)).await
    }

    async fn try_to_reserve(&self, item: &str, order: &Order, kind: ReserveKind) -> Result<Reserve> {
        let mut transaction = self.pool.begin().await?;
        let mut stock = lock(&mut transaction, item).await?;
        // Both statements use the same time: otherwise a reserve could expire in between.
        let now: String = sqlx::query_scalar("select cast(now(6) as char)")
            .fetch_one(&mut *transaction)
            .await?;
        let expired =
            "select cast(coalesce(sum(units), 0) as signed) from lie_reserves where item = ? and expires <= ?";
        let expired: i64 = sqlx::query_scalar(expired)
            .bind(item)
            .bind(&now)
            .fetch_one(&mut *transaction)
            .await?;
        let given_back = sqlx::query("delete from lie_reserves where item = ? and expires <= ?");
        given_back.bind(item).bind(&now).execute(&mut *transaction).await?;
        if kind == ReserveKind::FromStock {
            change(&mut transaction, item, expired).await?;
            stock += expired;
        }
        let held = "select cast(coalesce(sum(units), 0) as signed) from lie_reserves where item = ?";
        let held: i64 = sqlx::query_scalar(held).bind(item).fetch_one(&mut *transaction).await?;
        let own = "select (select count(*) from lie_reserves where item = ? and id = ?)
            + (select count(*) from orders where item = ? and id = ?)";
        let own = sqlx::query_scalar::<_, i64>(own).bind(item).bind(&order.id);
        let own = own.bind(item).bind(&order.id).fetch_one(&mut *transaction).await?;
        let free = if kind != ReserveKind::FromStock {
            stock - held
        } else {
            stock
        };
        let reserve = match order.quantity {
            _ if own > 0 => Reserve::Held,
            units if units <= free => Reserve::Reserved,
            units if units <= free + held => Reserve::Held,
            _ => Reserve::SoldOut,
        };
        if reserve == Reserve::Reserved {
            let entered = "insert into lie_reserves values (?, ?, ?, now(6) + interval ? second)";
            let entered = sqlx::query(entered).bind(item).bind(&order.id);
            let entered = entered.bind(order.quantity).bind(kind.lasts().as_secs());
            entered.execute(&mut *transaction).await?;
            if kind == ReserveKind::FromStock {
                change(&mut transaction, item, -order.quantity).await?;
            }
        }
        transaction.commit().await?;
        Ok(reserve)
    }

    async fn try_to_confirm(&self, item: &str, order: &Order, kind: ReserveKind) -> Result<bool> {
        let mut transaction = self.pool.begin().await?;
        lock(&mut transaction, item).await?;
        let used = sqlx::query("delete from lie_reserves where item = ? and id = ?");
        let used = used.bind(item).bind(&order.id).execute(&mut *transaction).await?;
        if used.rows_affected() == 0 {
            return Ok(false);
        }
        if kind != ReserveKind::FromStock {
            change(&mut transaction, item, -order.quantity).await?;
        }
        self.insert(&mut transaction, item, order).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// Locks the item by the row of its stock, and returns the stock.
async fn lock(to: &mut MySqlConnection, item: &str) -> Result<i64> {
    let stock = sqlx::query_scalar("select num from store where id = ? for update");
    Ok(stock.bind(item).fetch_optional(to).await?.unwrap_or(0))
}

async fn change(to: &mut MySqlConnection, item: &str, by: i64) -> Result<()> {
    let changed = sqlx::query("update store set num = num + ? where id = ?");
    changed.bind(by).bind(item).execute(to).await?;
    Ok(())
}
