//! The notes of a sale that the instances share, and that survive a crash: the hash `lie:{item}` in Redis.

use anyhow::Result;
use redis::AsyncCommands;
use redis::aio::ConnectionManager;

#[derive(Clone)]
pub struct Notes {
    connection: ConnectionManager,
}

pub fn key_of(item: &str) -> String {
    format!("lie:{{{item}}}")
}

impl Notes {
    pub fn new(connection: ConnectionManager) -> Self {
        Self { connection }
    }

    fn to(&self) -> ConnectionManager {
        self.connection.clone()
    }

    pub async fn get(&self, item: &str, name: &str) -> Result<Option<String>> {
        Ok(self.to().hget(key_of(item), name).await?)
    }

    pub async fn set(&self, item: &str, name: &str, value: &str) -> Result<()> {
        Ok(self.to().hset(key_of(item), name, value).await?)
    }

    pub async fn all(&self, item: &str) -> Result<Vec<(String, String)>> {
        Ok(self.to().hgetall(key_of(item)).await?)
    }

    pub async fn remove(&self, item: &str, name: &str) -> Result<()> {
        Ok(self.to().hdel(key_of(item), name).await?)
    }

    /// Sets the value unless the name has one, and returns the value of the name.
    pub async fn set_first(&self, item: &str, name: &str, value: &str) -> Result<String> {
        self.to().hset_nx::<_, _, _, ()>(key_of(item), name, value).await?;
        Ok(self.to().hget(key_of(item), name).await?)
    }

    /// Adds to a counter and returns its new value.
    pub async fn add(&self, item: &str, name: &str, by: i64) -> Result<i64> {
        Ok(self.to().hincr(key_of(item), name, by).await?)
    }

    pub async fn forget(&self, item: &str) -> Result<()> {
        Ok(self.to().del(key_of(item)).await?)
    }
}
