//! All strategies: each native mechanism, and each guard on each store. They are data until they are first used.

use std::sync::Arc;

use tokio::sync::OnceCell;

use super::guarded::Guarded;
use super::{NATIVE, Open, Strategy};
use crate::domain::Error;
use crate::guards::{self, GuardEntry};
use crate::mechanism::Mechanism;
use crate::probe::{Role, Step, WORK};
use crate::services::{Missing, Services};
use crate::stores::{self, SECOND_SQL, StoreEntry, lock_service};
use crate::world::World;

/// A strategy as data.
pub struct Entry {
    /// `mechanism@store`
    pub name: String,
    /// The mechanism that decides.
    pub mechanism: Mechanism,
    /// The store of stock and orders, or two joined by `+`, stock first; `sql+sql` are two servers.
    pub store: &'static str,
    /// Every service that it needs, its stores included.
    pub needs: Vec<&'static str>,
    /// Every step that it can take, so that a fault can name it.
    pub steps: Vec<Step>,
    how: How,
}

enum How {
    Native(Open),
    Guarded(&'static GuardEntry),
}

impl Entry {
    /// Every strategy, in the order of the lessons.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for guard in guards::ALL {
            all.extend(stores::ALL.iter().map(|store| Self::guarded(guard, store)));
        }
        all.extend(NATIVE.iter().flat_map(Self::native));
        all.sort_by_key(|entry| entry.mechanism.lesson);
        all
    }

    fn native(entry: &'static super::NativeEntry) -> impl Iterator<Item = Self> {
        let stores = entry.stores.iter();
        stores.map(|store| Self::new(entry.mechanism, store, entry.steps.to_vec(), How::Native(entry.open)))
    }

    fn guarded(guard: &'static GuardEntry, store: &StoreEntry) -> Self {
        let steps = [guard.steps, store.steps].concat();
        Self::new(guard.mechanism, store.name, steps, How::Guarded(guard))
    }

    fn new(mechanism: Mechanism, store: &'static str, mut steps: Vec<Step>, how: How) -> Self {
        steps.push(WORK);
        let beside = mechanism.needs.iter().map(|need| lock_service(need, store));
        let mut needs: Vec<_> = servers(store).into_iter().chain(beside).collect();
        needs.sort_unstable();
        needs.dedup();
        Self {
            name: format!("{}@{store}", mechanism.name),
            mechanism,
            store,
            needs,
            steps,
            how,
        }
    }

    /// The threats that always break it: those of its mechanism, and those by which a store loses data.
    pub fn broken_by(&self) -> Vec<&'static str> {
        let loses_by = |name| stores::ALL.iter().filter(move |store| store.name == name);
        let stores = self.store.split('+').flat_map(loses_by);
        let mut broken_by = self.mechanism.broken_by();
        for threat in stores.flat_map(|store| store.loses_by) {
            if !broken_by.contains(threat) {
                broken_by.push(threat);
            }
        }
        broken_by
    }

    /// The threats under which it promises not to oversell, get stuck or lose an order. A threat that is neither here
    /// nor in [`Entry::broken_by`] is undeclared.
    pub fn claims(&self) -> Vec<&'static str> {
        let broken_by = self.broken_by();
        let mut claims = self.mechanism.survives();
        claims.retain(|threat| !broken_by.contains(threat));
        claims
    }

    /// Returns the first service that it needs and that is missing.
    pub fn missing(&self, services: &Services) -> Option<Missing> {
        self.needs.iter().find_map(|need| services.urls(need).err())
    }

    /// Whether it is a guard around read, check and write.
    pub fn is_guarded(&self) -> bool {
        matches!(self.how, How::Guarded(_))
    }

    /// The step before which a pause does the most harm. For every guard that is the write.
    pub fn pause_at(&self) -> &'static str {
        match self.how {
            How::Guarded(_) => Role::Write.name(),
            How::Native(_) => self.mechanism.weak_at,
        }
    }

    /// The step at which the stock is taken and the order is not entered yet, if these are two steps. A fault comes
    /// before it, or after it with a `+`: that is the weakest step of a mechanism whose order others enter.
    pub fn record_at(&self) -> Option<&'static str> {
        let of = |role| self.steps.iter().find(|step| step.role == Some(role));
        let record = of(Role::Write).and(of(Role::Record)).map(|step| step.name);
        record.map(|record| {
            Some(self.mechanism.weak_at)
                .filter(|at| at.ends_with('+'))
                .unwrap_or(record)
        })
    }

    async fn open(&self, world: &World) -> Result<Arc<dyn Strategy>, Error> {
        match &self.how {
            How::Native(open) => open(world, self.store).await,
            How::Guarded(entry) => {
                let stock = world.stock(self.store)?;
                Ok(Arc::new(Guarded::new((entry.open)(world, self.store).await?, stock)))
            }
        }
    }
}

/// Returns the servers of a store's name: one, or two for a name with `+`. Of one kind they are first and second.
fn servers(store: &'static str) -> Vec<&'static str> {
    match store.split_once('+') {
        Some((stock, orders)) if stock == orders => vec![stock, SECOND_SQL],
        _ => store.split('+').collect(),
    }
}

/// A strategy that is opened at its first use.
pub struct Listed {
    /// Its description.
    pub entry: Entry,
    /// Its number in the catalogue, from 0.
    pub number: usize,
    opened: OnceCell<Arc<dyn Strategy>>,
}

impl Listed {
    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.opened.initialized()
    }

    /// Returns the strategy, and opens it first if necessary.
    ///
    /// # Errors
    /// When a service that it needs is missing or cannot be reached. The next call tries again.
    pub async fn opened(&self, world: &World) -> Result<&Arc<dyn Strategy>, Error> {
        self.opened.get_or_try_init(|| self.entry.open(world)).await
    }
}

/// All strategies of one instance.
pub struct Catalogue(Vec<Arc<Listed>>);

impl Catalogue {
    /// Lists all strategies. None is open yet.
    pub fn new() -> Self {
        let listed = |(number, entry)| {
            Arc::new(Listed {
                entry,
                number,
                opened: OnceCell::new(),
            })
        };
        Self(Entry::all().into_iter().enumerate().map(listed).collect())
    }

    /// All of them, in the order of the lessons.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Listed>> {
        self.0.iter()
    }

    /// The strategy of that name.
    pub fn find(&self, name: &str) -> Option<&Arc<Listed>> {
        self.0.iter().find(|listed| listed.entry.name == name)
    }

    /// The names of all strategies, for a message.
    pub fn names(&self) -> String {
        let names: Vec<_> = self.0.iter().map(|listed| listed.entry.name.as_str()).collect();
        names.join(", ")
    }
}

impl Default for Catalogue {
    fn default() -> Self {
        Self::new()
    }
}
