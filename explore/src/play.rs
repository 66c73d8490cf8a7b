//! One schedule: two or three purchases, of which one at a time takes its next step, and events between the steps.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use app::domain::{Error, Name, Outcome, Purchase};
use app::probe::{Effect, Step};
use app::stores::Stock;
use loadtest::facts::{LedgerReader, STORES, StorePair, Urls};
use loadtest::shop::response::ResponseKind;
use stack::Stores;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use crate::choice::{Choice, Choose, EventKind, Moment, Possible};
use crate::instances::{Instance, Kind};
use crate::judge::{Told, findings};
use crate::leases::Leases;
use crate::lock_waits::LockWaits;
use crate::news::{News, is_pause};
use crate::turns::{Taken, Turns};

/// The number of instances. Purchases are spread over them in turn.
const INSTANCES: usize = 2;

/// A schedule that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// The choices.
    pub choices: Vec<Choice>,
    /// The steps, in their order.
    pub taken: Vec<Taken>,
    /// The responses, in the order of the purchases.
    pub told: Vec<ResponseKind>,
    /// The findings: name and size of each.
    pub findings: Vec<(&'static str, i64)>,
}

/// The world in which schedules of one strategy are played.
pub struct Player {
    turns: Arc<Turns>,
    purchases: usize,
    instances: Vec<Instance>,
    stocks: Vec<Arc<dyn Stock>>,
    kind: Kind,
    stores: StorePair,
    reader: LedgerReader,
    waits: LockWaits,
    leases: Leases,
    played: u64,
}

/// The purchases of one schedule.
struct Begun {
    tasks: JoinSet<()>,
    /// The outcome of each purchase by its number. It is there before the purchase counts as ended.
    outcomes: mpsc::UnboundedReceiver<(usize, Result<Outcome, Error>, Instant)>,
    handles: Vec<AbortHandle>,
    told: Vec<Told>,
}

impl Player {
    /// Opens the instances of a strategy over these stores, which nobody else may use, for so many purchases. There is one
    /// unit less than there are purchases.
    ///
    /// # Errors
    /// When there is no such strategy, or a store cannot be reached.
    pub async fn open(strategy: &str, purchases: usize, stores: &Stores) -> Result<Self> {
        let kind = Kind::of(strategy)?;
        let turns = Arc::new(Turns::new((0..purchases).map(buyer).collect()));
        let mut instances = Vec::new();
        for number in 1..=INSTANCES {
            let name = format!("app-{number}");
            instances.push(Instance::open(&name, strategy, stores, turns.clone()).await?);
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
        Ok(Self {
            turns,
            purchases,
            stocks,
            stores: StorePair::try_from(kind.store.to_owned()).map_err(anyhow::Error::msg)?,
            kind,
            reader: LedgerReader::connect(&urls).await?,
            waits: LockWaits::connect(stores.sql_url()).await?,
            leases: Leases::connect(stores).await?,
            instances,
            played: 0,
        })
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
        self.played += 1;
        let item = Name::parse(&format!("item-{}", self.played))?;
        for stock in &self.stocks {
            stock.open(&item, self.units()).await?;
        }
        let mut begun = self.begin(&item)?;
        let choices = self.schedule(chooser, &mut begun).await?;
        let taken = self.turns.taken();
        // Those that are left wait for a purchase that never comes.
        let is_left = !self.turns.under_way().is_empty() || begun.told.iter().any(|told| told.is_killed);
        begun.tasks.shutdown().await;
        if is_left || choices.is_none() {
            self.waits.none_left().await?;
        }
        let mut told = begun.told;
        while let Ok((number, outcome, at)) = begun.outcomes.try_recv() {
            told[number].ended = Some((outcome, at));
        }
        let findings = match &choices {
            Some(_) => findings(&self.reader, self.stores, self.units(), &told).await?,
            None => Vec::new(),
        };
        for instance in &self.instances {
            instance.strategy.forget(&item).await?;
        }
        for stock in &self.stocks {
            stock.close(&item).await?;
        }
        Ok(choices.map(|choices| Play {
            choices,
            taken,
            told: told.iter().map(Told::kind).collect(),
            findings,
        }))
    }

    /// Returns the units of each sale.
    fn units(&self) -> i64 {
        self.purchases as i64 - 1
    }

    /// Sends each purchase on the way to its first step.
    fn begin(&self, item: &Name) -> Result<Begun> {
        self.turns.begin();
        let (ends, outcomes) = mpsc::unbounded_channel();
        let mut begun = Begun {
            tasks: JoinSet::new(),
            outcomes,
            handles: Vec::new(),
            told: Vec::new(),
        };
        for (number, instance) in (0..self.purchases).zip(self.instances.iter().cycle()) {
            let (buyer, key) = (Name::parse(&buyer(number))?, Name::parse(&format!("key-{number}"))?);
            let purchase = Purchase::new(item.clone(), 1, buyer, Some(key));
            begun.told.push(Told {
                purchase: purchase.clone(),
                instance: instance.name.clone(),
                is_killed: false,
                ended: None,
                began: Instant::now(),
            });
            let (strategy, probe, turns) = (instance.strategy.clone(), instance.probe(&purchase), self.turns.clone());
            let ends = ends.clone();
            begun.handles.push(begun.tasks.spawn(async move {
                let outcome = strategy.buy(&purchase, &probe).await;
                // The receiver is there until all tasks have ended.
                let _ = ends.send((number, outcome, Instant::now()));
                turns.end(number);
            }));
        }
        Ok(begun)
    }

    /// Makes choices until no purchase can go on. Returns them, or `None` where the chooser ends the schedule early.
    async fn schedule(&mut self, chooser: &mut dyn Choose, begun: &mut Begun) -> Result<Option<Vec<Choice>>> {
        let mut choices: Vec<Choice> = Vec::new();
        let mut last = None;
        let mut news = News::new(self.purchases);
        loop {
            self.waits.settle(&self.turns).await?;
            let ready = self.turns.ready();
            let mut useful = ready.clone();
            useful.retain(|(number, step)| news.is_useful(*number, step));
            useful.sort_by_key(|(number, _)| (Some(*number) != last, *number));
            let is_over = ready.is_empty() && self.turns.under_way().is_empty();
            let events = choices.iter().filter(|choice| choice.event().is_some()).count();
            let mut kinds = EventKind::ALL.to_vec();
            kinds.retain(|kind| !is_over && chooser.may(*kind, events));
            let mut possible: Vec<Possible> = useful.iter().map(possible).collect();
            possible.extend(self.events(&kinds, &useful).await?);
            // Where no purchase can go on, time does: a lease ends.
            if possible.is_empty() {
                return Ok(Some(choices));
            }
            let moment = Moment {
                possible,
                going_on: last.filter(|last| useful.iter().any(|(number, _)| number == last)),
            };
            let Some(chosen) = chooser.choose(&moment)? else {
                return Ok(None);
            };
            choices.push(chosen);
            match chosen {
                Choice::Step(purchase) => {
                    let step = ready.iter().find(|(at, _)| *at == purchase);
                    let (_, step) = step.context("a purchase that stands before no step")?;
                    news.take(purchase, step);
                    last = Some(purchase);
                    self.turns.allow(purchase);
                }
                Choice::LeaseEnds => {
                    news.take_event();
                    self.turns.note_event();
                    self.leases.end().await?;
                }
                Choice::Crash(purchase) => {
                    news.take_event();
                    self.turns.note_event();
                    self.kill(purchase, begun).await?;
                }
            }
        }
    }

    /// Returns the events of these kinds that are possible now.
    async fn events(&mut self, kinds: &[EventKind], useful: &[(usize, Step)]) -> Result<Vec<Possible>> {
        let mut events = Vec::new();
        if kinds.contains(&EventKind::LeaseEnds) && self.leases.are_there().await? {
            events.push(Choice::LeaseEnds);
        }
        if kinds.contains(&EventKind::Crash) && !self.kind.has_workers {
            events.extend(useful.iter().map(|(number, _)| Choice::Crash(*number)));
        }
        let effect = Effect::ANY;
        Ok(events.into_iter().map(|choice| Possible { choice, effect }).collect())
    }

    /// Drops the purchases of that purchase's process as they stand: their connections close, and nothing of them runs any
    /// more.
    async fn kill(&self, purchase: usize, begun: &mut Begun) -> Result<()> {
        let killed = begun.told.get(purchase).context("there is no such purchase")?;
        let process = killed.instance.clone();
        for (number, (told, handle)) in begun.told.iter_mut().zip(&begun.handles).enumerate() {
            if told.instance != process || handle.is_finished() {
                continue;
            }
            handle.abort();
            told.is_killed = true;
            while !handle.is_finished() {
                tokio::task::yield_now().await;
            }
            self.turns.end(number);
        }
        Ok(())
    }
}

/// Returns the next step of a purchase as a choice. Only a step of another purchase makes a pause possible.
fn possible((number, step): &(usize, Step)) -> Possible {
    Possible {
        choice: Choice::Step(*number),
        effect: if is_pause(step) { Effect::ANY } else { step.effect() },
    }
}

fn buyer(number: usize) -> String {
    format!("buyer-{number}")
}
