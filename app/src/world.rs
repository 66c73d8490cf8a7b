//! What a strategy finds around it when it is opened: the stores, the services besides, the times to keep, and who stands
//! at the seam.

use std::sync::Arc;

use tokio_util::task::AbortOnDropHandle;

use crate::probe::{Observers, Probe};
use crate::sale::{Error, Name};
use crate::services::Services;
use crate::stores::{Stock, Store, Stores};
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
