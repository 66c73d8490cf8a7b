//! One schedule: two or three purchases, of which one at a time takes its next step, and events between the steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};
use app::domain::Name;
use app::probe::{Effect, Step, Time};
use app::stores::Stock;
use loadtest::facts::{LedgerReader, STORES, StorePair, Urls};
use loadtest::shop::response::ResponseKind;
use stack::Stores;

use crate::afterwards::Judged;
use crate::arrivals::Arrivals;
use crate::background::Pass;
use crate::choice::{Choice, Choose, EventKind, Moment, Possible};
use crate::instances::{Instance, Kind};
use crate::leases::Leases;
use crate::lock_waits::LockWaits;
use crate::news::{News, is_pause};
use crate::purchases::Purchases;
use crate::turns::{AtInstance, Taken, Turns};
use crate::workers::Work;

/// The number of instances. Purchases are spread over them in turn.
pub const INSTANCES: usize = 2;

/// The number of the next item. No two players of a process use one item: an error may leave something of it behind.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// How often time passes by itself in one schedule, where no purchase can go on without that.
const MOST_PASSED: usize = 4;

/// A schedule that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
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
    /// The steps that workers take without work.
    pub(super) idle: Pass,
}

impl Player {
    /// Opens the instances of a strategy over these stores, which nobody else may use, for so many purchases. There is one
    /// unit less than there are purchases.
    ///
    /// # Errors
    /// When there is no such strategy, or a store cannot be reached.
    pub async fn open(strategy: &str, purchases: usize, stores: &Stores) -> Result<Self> {
        let kind = Kind::of(strategy)?;
        let time = Time::stopped();
        let turns = Turns::new(Arrivals { purchases }, kind.has_workers, time.clone());
        let turns = Arc::new(turns?);
        let mut instances = Vec::new();
        for instance in 0..INSTANCES {
            let observer = AtInstance {
                turns: turns.clone(),
                instance,
            };
            let name = format!("app-{}", instance + 1);
            instances.push(Instance::open(&name, strategy, stores, (Arc::new(observer), &time)).await?);
        }
        let first = instances.first().context("no instance")?;
        let stocks = first.stocks(kind.store).await?;
        let started = stores
            .services()
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
            kind,
            reader: LedgerReader::connect(&urls).await?,
            waits: LockWaits::connect(stores).await?,
            leases: Leases::connect(stores, time).await?,
            instances,
            idle: Pass::new(),
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
        let item = Name::parse(&format!("item-{}", NEXT.fetch_add(1, Ordering::Relaxed)))?;
        for stock in &self.stocks {
            stock.open(&item, arrivals.units()).await?;
        }
        self.turns.begin();
        let mut purchases = Purchases::new(arrivals);
        for number in 0..arrivals.purchases {
            purchases.send(number, &item, &self.instances, &self.turns)?;
        }
        let choices = self.schedule(&item, chooser, &mut purchases).await?;
        let taken = self.turns.taken();
        // Those that are left wait for a purchase that never comes.
        let is_left = self.turns.is_one_under_way();
        let tries_in_vain = !is_left && !self.turns.ready().is_empty();
        let told = purchases.end(&self.turns).await;
        // A worker that waited for one of them may keep others waiting until it goes on.
        self.let_workers_go().await?;
        if is_left || choices.is_none() || told.iter().any(|told| told.is_killed) {
            self.waits.none_left().await?;
        }
        self.let_workers_end().await?;
        let mut judged = Judged::default();
        if choices.is_some() {
            judged = self.judge(&item, told).await?;
        }
        let work = self.work();
        for instance in &self.instances {
            instance.strategy.forget(&item).await?;
        }
        for stock in &self.stocks {
            stock.close(&item).await?;
        }
        Ok(choices.map(|choices| Play {
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

    /// Makes choices until no purchase can go on. Returns them, or `None` where the chooser ends the schedule early.
    async fn schedule(
        &mut self,
        item: &Name,
        chooser: &mut dyn Choose,
        purchases: &mut Purchases,
    ) -> Result<Option<Vec<Choice>>> {
        let mut choices: Vec<Choice> = Vec::new();
        let mut last = None;
        let mut news = News::new(self.turns.arrivals());
        let mut passed = 0;
        loop {
            self.waits.settle(&self.turns).await?;
            let ready = self.turns.ready();
            let mut useful = ready.clone();
            useful.retain(|(number, step)| news.is_useful(*number, step));
            useful.sort_by_key(|(number, _)| (Some(*number) != last, *number));
            let is_over = ready.is_empty() && !self.turns.is_one_under_way();
            // Where no purchase can go on, the workers do, and then time.
            if self.kind.has_workers && useful.is_empty() && !is_over {
                let has_worked = !self.let_workers_go().await?.is_empty();
                if has_worked || passed < MOST_PASSED {
                    if !has_worked {
                        passed += 1;
                        self.let_time_pass().await?;
                    }
                    news.take_event();
                    continue;
                }
            }
            let events = choices.iter().filter(|choice| choice.event().is_some()).count();
            let mut kinds = EventKind::ALL.to_vec();
            kinds.retain(|kind| !is_over && chooser.may(*kind, events));
            let mut possible: Vec<Possible> = useful.iter().map(possible).collect();
            possible.extend(self.events(&kinds, &useful, &choices).await?);
            if possible.is_empty() {
                return Ok(Some(choices));
            }
            let moment = Moment {
                possible,
                going_on: last.filter(|last| useful.iter().any(|(number, _)| number == last)),
            };
            if chooser.wants_stores() {
                chooser.show_stores(&self.look(item).await?);
            }
            let chosen = chooser.choose(&moment);
            let Some(chosen) = chosen.with_context(|| self.turns.in_words())? else {
                return Ok(None);
            };
            choices.push(chosen);
            if chosen.event().is_some() {
                news.take_event();
                self.turns.note_event();
            }
            match chosen {
                Choice::Step(purchase) => {
                    let step = ready.iter().find(|(at, _)| *at == purchase);
                    let (_, step) = step.context("a purchase that stands before no step")?;
                    news.take(purchase, step);
                    last = Some(purchase);
                    self.turns.allow(purchase);
                }
                Choice::LeaseEnds => {
                    self.let_time_pass().await?;
                }
                Choice::RedisEmpties => self.leases.empty_redis().await?,
                Choice::Crash(purchase) => purchases.kill(purchase, &self.turns).await?,
                Choice::Repeat(purchase) => {
                    news.take_arrival();
                    let number = self.turns.arrivals().again(purchase);
                    purchases.send(number, item, &self.instances, &self.turns)?;
                }
            }
        }
    }

    /// Returns the events of these kinds that are possible now, after the choices before. A purchase may arrive a second time
    /// right after its first step.
    async fn events(
        &mut self,
        kinds: &[EventKind],
        useful: &[(usize, Step)],
        before: &[Choice],
    ) -> Result<Vec<Possible>> {
        let mut events = Vec::new();
        if kinds.contains(&EventKind::LeaseEnds) && (self.kind.has_workers || self.leases.are_there().await?) {
            events.push(Choice::LeaseEnds);
        }
        let holds_no_sale = !self.kind.store.contains("redis");
        if kinds.contains(&EventKind::RedisEmpties) && holds_no_sale && self.leases.has_redis_data().await? {
            events.push(Choice::RedisEmpties);
        }
        if kinds.contains(&EventKind::Crash) {
            events.extend(useful.iter().map(|(number, _)| Choice::Crash(*number)));
        }
        // The second arrival takes its first step at any later moment: here it only has to be there.
        if kinds.contains(&EventKind::Repeat)
            && let Some((Choice::Step(purchase), earlier)) = before.split_last()
            && *purchase < self.turns.arrivals().purchases
            && !earlier.contains(&Choice::Step(*purchase))
        {
            events.push(Choice::Repeat(*purchase));
        }
        let effect = Effect::ANY;
        Ok(events.into_iter().map(|choice| Possible { choice, effect }).collect())
    }
}

/// Returns the next step of a purchase as a choice. Only a step of another purchase makes a pause possible.
fn possible((number, step): &(usize, Step)) -> Possible {
    Possible {
        choice: Choice::Step(*number),
        effect: if is_pause(step) { Effect::ANY } else { step.effect() },
    }
}
