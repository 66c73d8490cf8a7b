//! The environment of a strategy: its stores, further services, timeouts, and the observers at the seam.

use std::sync::Arc;

use tokio::sync::OnceCell;
use tokio_util::task::AbortOnDropHandle;

use crate::domain::{Error, Name};
use crate::probe::{Observers, Probe};
use crate::services::Services;
use crate::stores::sql::Databases;
use crate::stores::{Connect, Redis, SECOND_SQL, Sql, Stock, Store, Stores, lock_service};
use crate::timeouts::Timeouts;

/// The environment of one instance.
pub struct World {
    /// The connected stores.
    pub stores: Stores,
    /// The URLs of all services, the stores included.
    pub services: Services,
    /// The instance's name.
    pub instance: Name,
    /// The longest wait for a lock, and the lease of a lock.
    pub timeouts: Timeouts,
    /// The observers at the seam.
    pub observers: Observers,
    second_sql: OnceCell<Second>,
}

/// The second MariaDB server.
struct Second {
    sql: Arc<Sql>,
    /// Connections for the readiness check alone. When purchases use all others, the server still counts as answering.
    watched: Sql,
}

impl World {
    /// Connects to every store that has a URL.
    ///
    /// # Errors
    /// When a store cannot be reached.
    pub async fn open(
        services: Services,
        instance: Name,
        timeouts: Timeouts,
        observers: Observers,
    ) -> Result<Self, Error> {
        Ok(Self {
            stores: Stores::connect(&services, &instance, timeouts.wait).await?,
            services,
            instance,
            timeouts,
            observers,
            second_sql: OnceCell::new(),
        })
    }

    /// Returns a store as its own type.
    ///
    /// # Errors
    /// When the store has no URL.
    pub fn store<S: Store>(&self) -> Result<Arc<S>, Error> {
        Ok(self.stores.get::<S>()?)
    }

    /// Returns a database that speaks SQL by the name of its store.
    ///
    /// # Errors
    /// When it has no URL.
    pub fn sql(&self, store: &str) -> Result<Arc<Sql>, Error> {
        Ok(self.stores.named(store)?)
    }

    /// Returns Redis for a sale in that store, and for its locks: the cluster where the sale lies there.
    ///
    /// # Errors
    /// When it has no URL.
    pub fn redis(&self, store: &'static str) -> Result<Arc<Redis>, Error> {
        Ok(self.stores.named(lock_service(Redis::NAME, store))?)
    }

    /// Returns the database for the locks of sales in that store.
    ///
    /// # Errors
    /// When it has no URL.
    pub fn locks_in(&self, store: &'static str) -> Result<Arc<Sql>, Error> {
        self.sql(lock_service(Sql::NAME, store))
    }

    /// Returns a store by its name.
    ///
    /// # Errors
    /// When the store has no URL.
    pub fn stock(&self, name: &str) -> Result<Arc<dyn Stock>, Error> {
        Ok(self.stores.find(name)?)
    }

    /// Returns the second MariaDB server. The first call connects to it.
    ///
    /// # Errors
    /// When it has no URL or cannot be reached. The next call tries again.
    pub async fn second_sql(&self) -> Result<Arc<Sql>, Error> {
        Ok(self.second().await?.sql.clone())
    }

    async fn second(&self) -> Result<&Second, Error> {
        let connect = async || {
            let to = Connect {
                url: self.services.url(SECOND_SQL)?,
                others: &[],
                instance: &self.instance,
                wait: self.timeouts.wait,
            };
            let sql = Arc::new(Sql::connect(to).await?);
            let watched = sql.with_connections_of_its_own()?;
            Ok::<_, Error>(Second { sql, watched })
        };
        self.second_sql.get_or_try_init(connect).await
    }

    /// Returns the store of the orders, for a strategy that sells from `store`, see
    /// [`Entry::store`](crate::strategies::Entry::store).
    ///
    /// # Errors
    /// When it is not there, or the second MariaDB server cannot be reached.
    pub async fn orders(&self, store: &str) -> Result<Arc<dyn Stock>, Error> {
        match store.split_once('+') {
            Some((stock, orders)) if stock == orders => Ok(self.second_sql().await?),
            Some((_, orders)) => self.stock(orders),
            None => self.stock(store),
        }
    }

    /// Returns both MariaDB servers.
    ///
    /// # Errors
    /// When one of them has no URL, or the second one cannot be reached.
    pub async fn databases(&self) -> Result<Databases, Error> {
        Ok(Databases {
            stock: self.store()?,
            orders: self.second_sql().await?,
        })
    }

    /// Returns every store that holds a sale, by name. Leaves out an optional store and the second MariaDB server where they
    /// have no URL or do not answer: most strategies sell without them.
    pub async fn all_stores(&self) -> Vec<(&'static str, Arc<dyn Stock>)> {
        let required = self.stores.required();
        let mut all: Vec<_> = required.map(|(name, store)| (name, store.clone())).collect();
        for (name, store) in self.stores.optional() {
            match store.ping().await {
                Ok(()) => all.push((name, store.clone())),
                Err(error) => tracing::warn!(%error, store = name, "does not answer, left out"),
            }
        }
        match self.answering_second_sql().await {
            Ok(sql) => all.push((SECOND_SQL, sql)),
            Err(Error::Missing(_)) => {}
            Err(error) => tracing::warn!(%error, store = SECOND_SQL, "does not answer, left out"),
        }
        all
    }

    async fn answering_second_sql(&self) -> Result<Arc<Sql>, Error> {
        let second = self.second().await?;
        second.watched.ping().await?;
        Ok(second.sql.clone())
    }

    /// Starts a background task whose steps go through the seam. Dropping the handle aborts the task at any step, so
    /// the task must survive that as it must survive a crash.
    pub fn start<F>(&self, name: &'static str, work: impl FnOnce(Probe) -> F) -> AbortOnDropHandle<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.observers.time().note_worker();
        let probe = Probe::of_worker(name, self.observers.clone());
        AbortOnDropHandle::new(tokio::spawn(work(probe)))
    }
}
