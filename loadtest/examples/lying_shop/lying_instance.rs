//! One instance of the lying shop.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};

use crate::lies::Lie;
use crate::notes::Notes;
use crate::options::Options;
use crate::store::{Order, RedisStore, SqlStore, Store};
use crate::tunnel::OpenConnections;

pub struct Shop {
    pub lie: Lie,
    pub instance: String,
    pub token: String,
    pub claims: Vec<String>,
    pub redis: Store,
    pub sql: Store,
    pub notes: Notes,
    /// The orders by idempotency key that only this process knows.
    pub memory: Mutex<HashMap<String, Order>>,
    /// The number of purchases that this process has received.
    pub purchases: AtomicUsize,
    turns: AtomicUsize,
    /// The open connections to the admin listener.
    pub admin_connections: Arc<OpenConnections>,
    /// How often this process has changed the name of its process.
    pub renamed: AtomicUsize,
}

impl Shop {
    pub async fn open(options: &Options) -> Result<Self> {
        let redis = RedisStore::connect(&options.redis_url, &options.instance).await;
        let redis = redis.context("Redis at OVERSELL_REDIS_URL")?;
        let notes = Notes::new(redis.connection.clone());
        let sql = SqlStore::connect(&options.sql_url, &options.instance).await;
        let sql = sql.context("MariaDB at OVERSELL_SQL_URL")?;
        Ok(Self {
            lie: options.lie,
            instance: options.instance.clone(),
            token: options.admin_token.clone(),
            claims: options.claims.clone(),
            redis: Store::Redis(redis),
            sql: Store::Sql(sql),
            notes,
            memory: Mutex::default(),
            purchases: AtomicUsize::new(0),
            turns: AtomicUsize::new(0),
            admin_connections: Arc::default(),
            renamed: AtomicUsize::new(0),
        })
    }

    /// Returns how often it was called before.
    pub fn turn(&self) -> usize {
        self.turns.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the place of the notes on the first sale of each strategy. No item has such a name, and each lie is tried
    /// once on the same stores.
    pub fn first_sales(&self) -> String {
        format!("the first sales of {:?}", self.lie)
    }
}
