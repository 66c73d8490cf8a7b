//! One schedule: two or three purchases, of which one at a time takes its next step, and events between the steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use app::domain::Name;
use app::probe::Time;
use app::stores::Stock;
use loadtest::facts::{LedgerReader, STORES, StorePair, Urls};
use loadtest::shop::response::ResponseKind;
use stack::Stores;

use crate::afterwards::Judged;
use crate::arrivals::{Arrivals, INSTANCES};
use crate::background::Pass;
use crate::choice::{Choice, Choose, EventKind};
use crate::instances::{Instance, Kind, Reached};
use crate::late_requests::LateRequests;
use crate::leases::Leases;
use crate::lock_waits::LockWaits;
use crate::purchases::Purchases;
use crate::replica::Replica;
use crate::sessions::Sessions;
use crate::taken::Taken;
use crate::turns::{AtInstance, Turns};
use crate::workers::Work;

/// The number of the next item or player. No two players of a process use one item: an error may leave something of it behind.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A schedule that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// The number of instances.
    pub instances: usize,
    /// The choices.
    pub choices: Vec<Choice>,
    /// The steps of the purchases, in their order.
    pub taken: Vec<Taken>,
    /// The steps of background workers, in their order.
    pub work: Vec<Work>,
    /// The responses, in the order of the purchases.
    pub told: Vec<ResponseKind>,
    /// The responses to second arrivals, each with its purchase.
    pub told_again: Vec<(usize, ResponseKind)>,
    /// Whether a purchase tried again in vain at the end, although all others were over.
    pub tries_in_vain: bool,
    /// The response to a buyer who came after all of them, where units were left then.
    pub told_later: Option<ResponseKind>,
    /// The findings: name and size of each.
    pub findings: Vec<(&'static str, i64)>,
}

/// The world in which schedules of one strategy are played.
pub struct Player {
    pub(super) turns: Arc<Turns>,
    pub(super) instances: Vec<Instance>,
    stocks: Vec<Arc<dyn Stock>>,
    pub(super) kind: Kind,
    pub(super) stores: StorePair,
    pub(super) reader: LedgerReader,
    pub(super) waits: LockWaits,
    pub(super) leases: Leases,
    pub(super) replica: Replica,
    pub(super) late: LateRequests,
    pub(super) sessions: Sessions,
    /// The instances whose connections have prepared their statements.
    pub(super) is_warm: [bool; INSTANCES],
    /// The steps that workers take without work.
    pub(super) idle: Pass,
}

impl Player {
    /// Opens the instances of a strategy over these stores, which nobody else may use, for these arrivals and events of these
    /// kinds. There is one unit less than there are purchases.
    ///
    /// # Errors
    /// When there is no such strategy, or a store cannot be reached.
    pub async fn open(strategy: &str, arrivals: Arrivals, kinds: &[EventKind], stores: &Stores) -> Result<Self> {
        let kind = Kind::of(strategy)?;
        let time = Time::stopped();
        let turns = Turns::new(arrivals, kind.has_workers, time.clone());
        let turns = Arc::new(turns?);
        let user = format!("explorer-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let mut instances = Vec::new();
        for instance in 0..INSTANCES {
            let observer = AtInstance {
                turns: turns.clone(),
                instance,
            };
            let name = format!("app-{}", instance + 1);
            let needs_relays = kinds.iter().any(|kind| kind.is_of_relays());
            let relays = needs_relays.then(|| stores.relays()).transpose()?.map(Arc::new);
            let reached = Reached {
                stores,
                user: &user,
                relays,
                kind: &kind,
            };
            let instance = Instance::open(&name, strategy, reached, (Arc::new(observer), &time)).await?;
            instances.push(instance);
        }
        let first = instances.first().context("no instance")?;
        let stocks = first.stocks(kind.store).await?;
        let started = kind
            .needed(stores)
            .filter(|(service, _)| STORES.contains(&service.name()));
        let mut urls: Urls = started
            .filter_map(|(service, at)| Some((service.name(), at.first()?.clone())))
            .collect();
        urls.insert("redis", stores.redis_url().to_owned());
        urls.insert("sql", stores.sql_url().to_owned());
        let mut player = Self {
            turns,
            stocks,
            stores: StorePair::try_from(kind.store.to_owned()).map_err(anyhow::Error::msg)?,
            reader: LedgerReader::connect(&urls).await?,
            waits: LockWaits::connect(stores, &kind, &user, &instances).await?,
            leases: Leases::connect(stores, &kind, time).await?,
            replica: Replica::new(),
            late: LateRequests::default(),
            sessions: Sessions::connect(kind.sessions, stores).await?,
            is_warm: [false; INSTANCES],
            instances,
            idle: Pass::new(),
            kind,
        };
        player.let_workers_go().await?;
        player.idle = player.let_time_pass().await?;
        Ok(player)
    }

    /// Returns the turns of the purchases.
    pub fn turns(&self) -> Arc<Turns> {
        self.turns.clone()
    }

    /// Plays the schedule that `chooser` chooses. Returns `None` where it ends the schedule early.
    ///
    /// # Errors
    /// When a choice cannot be made, or a store fails.
    pub async fn play(&mut self, chooser: &mut dyn Choose) -> Result<Option<Play>> {
        let arrivals = self.turns.arrivals();
        let needs_relays = EventKind::ALL
            .iter()
            .any(|kind| kind.is_of_relays() && chooser.may(*kind, 0));
        if needs_relays {
            self.warm_up().await?;
        }
        let item = self.open_sale().await?;
        self.turns.begin();
        let mut purchases = Purchases::new(arrivals);
        for number in 0..arrivals.purchases {
            purchases.send(number, &item, &self.instances, &self.turns)?;
        }
        let choices = self.schedule(&item, chooser, &mut purchases).await?;
        let taken = self.turns.taken();
        self.drop_late();
        // Those that are left wait for a purchase that never comes.
        let is_left = self.turns.is_one_under_way();
        let tries_in_vain = !is_left && !self.turns.ready().is_empty();
        let told = purchases.end(&self.turns).await;
        // A worker that waited for one of them may keep others waiting until it goes on.
        self.let_workers_go().await?;
        if is_left || choices.is_none() || told.iter().any(|told| told.is_killed) {
            // A purchase that is dropped leaves no connection behind.
            for told in told.iter().filter(|told| told.ended.is_none()) {
                self.is_warm[arrivals.instance(told.number)] = false;
            }
            self.waits.none_left().await?;
        }
        self.let_workers_end().await?;
        let mut judged = Judged::default();
        if choices.is_some() {
            judged = self.judge(&item, told).await?;
        }
        let work = self.work();
        self.close_sale(&item).await?;
        Ok(choices.map(|choices| Play {
            instances: arrivals.instances,
            choices,
            taken,
            work,
            told: judged.told,
            told_again: judged.told_again,
            tries_in_vain,
            told_later: judged.told_later,
            findings: judged.findings,
        }))
    }

    /// Opens a sale of an item that was never sold before.
    async fn open_sale(&mut self) -> Result<Name> {
        let item = Name::parse(&format!("item-{}", NEXT.fetch_add(1, Ordering::Relaxed)))?;
        for stock in &self.stocks {
            stock.open(&item, self.turns.arrivals().units()).await?;
        }
        self.waits.open(&item);
        Ok(item)
    }

    async fn close_sale(&self, item: &Name) -> Result<()> {
        for instance in &self.instances {
            instance.strategy.forget(item).await?;
        }
        for stock in &self.stocks {
            stock.close(item).await?;
        }
        Ok(())
    }

    /// Lets a purchase buy alone at each instance that has a new connection. The first reply to a statement there is that to its
    /// preparation, and a lost one would keep the statement from being carried out.
    async fn warm_up(&mut self) -> Result<()> {
        let mut items = Vec::new();
        for number in 0..INSTANCES {
            if !self.is_warm[number] {
                let item = self.open_sale().await?;
                self.come_alone(number, &item).await?;
                items.push(item);
            }
        }
        if !items.is_empty() {
            self.let_workers_end().await?;
        }
        for item in items {
            self.close_sale(&item).await?;
        }
        self.is_warm = [true; INSTANCES];
        Ok(())
    }
}
