//! What a strategy finds around it when it is opened: the stores, the services besides, the times to keep, and who stands
//! at the seam.

use std::sync::Arc;

use tokio::sync::OnceCell;
use tokio_util::task::AbortOnDropHandle;

use crate::domain::{Error, Name};
use crate::probe::{Observers, Probe};
use crate::services::Services;
use crate::stores::sql::Databases;
use crate::stores::{Connect, SECOND_SQL, Sql, Stock, Store, Stores};
use crate::timeouts::Timeouts;

/// One instance's surroundings.
pub struct World {
    /// The stores that are there.
    pub stores: Stores,
    /// Where everything is, the stores included.
    pub services: Services,
    /// The instance's name.
    pub instance: Name,
    /// How long to wait for a lock, and how long a lock lives.
    pub timeouts: Timeouts,
    /// Who stands at the seam.
    pub observers: Observers,
    second_sql: OnceCell<Second>,
}

/// The second MariaDB server.
struct Second {
    sql: Arc<Sql>,
    /// To see whether it answers, by connections that no purchase can have: that all others are lent is no silence.
    watched: Sql,
}

impl World {
    /// Connects to every store that has a URL.
    ///
    /// # Errors
    /// When one of them cannot be reached.
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

    /// A store, as what it is.
    ///
    /// # Errors
    /// When it is not there.
    pub fn store<S: Store>(&self) -> Result<Arc<S>, Error> {
        Ok(self.stores.get::<S>()?)
    }

    /// A store by its name, as what all stores have in common.
    ///
    /// # Errors
    /// When it is not there.
    pub fn stock(&self, name: &str) -> Result<Arc<dyn Stock>, Error> {
        Ok(self.stores.find(name)?)
    }

    /// The second MariaDB server, connected to when it is first needed.
    ///
    /// # Errors
    /// When it is not there or cannot be reached. It is tried again the next time.
    pub async fn second_sql(&self) -> Result<Arc<Sql>, Error> {
        Ok(self.second().await?.sql.clone())
    }

    async fn second(&self) -> Result<&Second, Error> {
        let connect = async || {
            let to = Connect {
                url: self.services.url(SECOND_SQL)?,
                instance: &self.instance,
                wait: self.timeouts.wait,
            };
            let sql = Arc::new(Sql::connect(to).await?);
            let watched = sql.with_connections_of_its_own()?;
            Ok::<_, Error>(Second { sql, watched })
        };
        self.second_sql.get_or_try_init(connect).await
    }

    /// Where the orders are of a strategy that sells from `store`, see [`Entry::store`](crate::strategies::Entry::store).
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

    /// Both MariaDB servers.
    ///
    /// # Errors
    /// When one of them is not there, or the second one cannot be reached.
    pub async fn databases(&self) -> Result<Databases, Error> {
        Ok(Databases {
            stock: self.store()?,
            orders: self.second_sql().await?,
        })
    }

    /// Every store in which a sale lies, by name. The second MariaDB server is left out where it has no URL, and also while
    /// it does not answer: most strategies sell without it.
    pub async fn all_stores(&self) -> Vec<(&'static str, Arc<dyn Stock>)> {
        let mut all: Vec<_> = self.stores.all().map(|(name, store)| (name, store.clone())).collect();
        match self.answering_second_sql().await {
            Ok(sql) => all.push((SECOND_SQL, sql)),
            Err(Error::Missing(_)) => {}
            Err(error) => tracing::warn!(%error, store = SECOND_SQL, "left out"),
        }
        all
    }

    async fn answering_second_sql(&self) -> Result<Arc<Sql>, Error> {
        let second = self.second().await?;
        second.watched.ping().await?;
        Ok(second.sql.clone())
    }

    /// Starts work beside the purchases, under the eyes of who stands at the seam. It ends when the handle is dropped, at
    /// whatever step it is: it has to bear that, as it has to bear a crash.
    pub fn start<F>(&self, name: &'static str, work: impl FnOnce(Probe) -> F) -> AbortOnDropHandle<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let probe = Probe::of_worker(name, self.observers.clone());
        AbortOnDropHandle::new(tokio::spawn(work(probe)))
    }
}
