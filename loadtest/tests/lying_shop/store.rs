//! Where the shop keeps its stock and its orders: real stores, in the places that the contract names.

use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use sqlx::mysql::MySqlPool;

/// An order to be written.
pub struct Order<'a> {
    pub id: &'a str,
    pub quantity: i64,
    pub buyer: &'a str,
    pub key: Option<&'a str>,
}

#[derive(Clone)]
pub enum Store {
    Redis(MultiplexedConnection),
    Sql(MySqlPool),
}

/// Takes `ARGV[1]` units if they are there and `ARGV[2]` more stay.
const TAKE: &str = "
    if tonumber(redis.call('GET', KEYS[1])) >= ARGV[1] + ARGV[2] then
        redis.call('DECRBY', KEYS[1], ARGV[1])
        return 1
    end
    return 0";

fn stock_of(item: &str) -> String {
    format!("stock:{{{item}}}")
}

fn orders_of(item: &str) -> String {
    format!("orders:{{{item}}}")
}

impl Store {
    pub async fn redis(url: &str) -> Self {
        let client = redis::Client::open(url).unwrap();
        Self::Redis(client.get_multiplexed_async_connection().await.unwrap())
    }

    pub async fn sql(url: &str) -> Self {
        let pool = MySqlPool::connect(url).await.unwrap();
        sqlx::raw_sql(include_str!("../../../sql/schema.sql"))
            .execute(&pool)
            .await
            .unwrap();
        Self::Sql(pool)
    }

    pub async fn open(&self, item: &str, stock: i64) {
        match self {
            Self::Redis(redis) => redis.clone().set(stock_of(item), stock).await.unwrap(),
            Self::Sql(pool) => {
                let opened = sqlx::query("insert into store (id, num) values (?, ?)")
                    .bind(item)
                    .bind(stock);
                opened.execute(pool).await.unwrap();
            }
        }
    }

    pub async fn close(&self, item: &str) {
        match self {
            Self::Redis(redis) => {
                let keys = [stock_of(item), orders_of(item)];
                redis.clone().del(&keys).await.unwrap()
            }
            Self::Sql(pool) => {
                for closed in ["delete from orders where item = ?", "delete from store where id = ?"] {
                    sqlx::query(closed).bind(item).execute(pool).await.unwrap();
                }
            }
        }
    }

    /// Takes units if they are there and `held_back` more stay; says whether it did.
    pub async fn take(&self, item: &str, quantity: i64, held_back: i64) -> bool {
        match self {
            Self::Redis(redis) => {
                let script = redis::Script::new(TAKE);
                let mut call = script.key(stock_of(item));
                call.arg(quantity).arg(held_back);
                call.invoke_async(&mut redis.clone()).await.unwrap()
            }
            Self::Sql(pool) => {
                let taken = sqlx::query("update store set num = num - ? where id = ? and num >= ? + ?");
                let taken = taken.bind(quantity).bind(item).bind(quantity).bind(held_back);
                taken.execute(pool).await.unwrap().rows_affected() == 1
            }
        }
    }

    /// Takes units whether they are there or not.
    pub async fn take_blindly(&self, item: &str, quantity: i64) {
        match self {
            Self::Redis(redis) => redis.clone().decr(stock_of(item), quantity).await.unwrap(),
            Self::Sql(pool) => {
                let taken = sqlx::query("update store set num = num - ? where id = ?");
                taken.bind(quantity).bind(item).execute(pool).await.unwrap();
            }
        }
    }

    pub async fn record(&self, item: &str, order: &Order<'_>) {
        match self {
            Self::Redis(redis) => {
                let entry = serde_json::json!({
                    "quantity": order.quantity, "buyer": order.buyer, "idempotency_key": order.key, "instance": "x"
                });
                let entry = entry.to_string();
                redis.clone().hset(orders_of(item), order.id, entry).await.unwrap()
            }
            Self::Sql(pool) => {
                let entered = "insert into orders (id, item, quantity, buyer, idempotency_key, instance) \
                               values (?, ?, ?, ?, ?, 'x')";
                let entered = sqlx::query(entered).bind(order.id).bind(item).bind(order.quantity);
                entered.bind(order.buyer).bind(order.key).execute(pool).await.unwrap();
            }
        }
    }

    /// Whether an order of that id is in the ledger.
    pub async fn has(&self, item: &str, id: &str) -> bool {
        match self {
            Self::Redis(redis) => redis.clone().hexists(orders_of(item), id).await.unwrap(),
            Self::Sql(pool) => {
                let count = sqlx::query_scalar::<_, i64>("select count(*) from orders where item = ? and id = ?");
                count.bind(item).bind(id).fetch_one(pool).await.unwrap() > 0
            }
        }
    }
}
