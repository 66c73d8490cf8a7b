//! The course of one schedule: choices, until no purchase can go on.

use anyhow::{Context, Result};
use app::domain::Name;
use app::probe::{Effect, Step};

use crate::arrivals::INSTANCES;
use crate::background::Awake;
use crate::choice::{Choice, Choose, EventKind, Moment, Mover, Possible};
use crate::news::{News, is_pause};
use crate::play::Player;
use crate::purchases::Purchases;

/// How often time passes by itself in one schedule, where no purchase can go on without that.
const MOST_PASSED: usize = 4;

/// What a schedule has come to so far.
struct Course<'a> {
    item: &'a Name,
    choices: Vec<Choice>,
    /// The one that moved last.
    last: Option<Mover>,
    news: News,
    /// How often time has passed by itself.
    passed: usize,
    /// The workers of each instance.
    awake: [Awake; INSTANCES],
}

impl Player {
    /// Makes choices until no purchase can go on. Returns them, or `None` where the chooser ends the schedule early.
    pub(super) async fn schedule(
        &mut self,
        item: &Name,
        chooser: &mut dyn Choose,
        purchases: &mut Purchases,
    ) -> Result<Option<Vec<Choice>>> {
        let mut course = Course {
            item,
            choices: Vec::new(),
            last: None,
            news: News::new(self.turns.arrivals()),
            passed: 0,
            awake: [Awake::No; INSTANCES],
        };
        if chooser.may(EventKind::RedisFailsOver, 0) {
            self.replica.begin(self.leases.lock_store()?).await?;
        }
        loop {
            self.waits.settle(&self.turns).await?;
            let ready = self.turns.ready();
            let useful = course.useful(&ready);
            let is_over = ready.is_empty() && !self.turns.is_one_under_way();
            let at_work = if is_over {
                Vec::new()
            } else {
                self.at_work(&mut course.awake).await?
            };
            if useful.is_empty() && at_work.is_empty() && !is_over && self.do_others_go_on(&mut course).await? {
                continue;
            }
            let mut kinds = EventKind::ALL.to_vec();
            kinds.retain(|kind| !is_over && chooser.may(*kind, course.events()));
            let moment = self.moment(&course, &kinds, &useful, &at_work).await?;
            if moment.possible.is_empty() {
                return Ok(Some(course.choices));
            }
            if chooser.wants_stores() {
                chooser.show_stores(&self.look(item).await?);
            }
            let chosen = chooser.choose(&moment);
            let Some(chosen) = chosen.with_context(|| self.turns.in_words())? else {
                return Ok(None);
            };
            course.take(chosen, &ready)?;
            if chosen.step().is_none() {
                self.turns.note_event();
            }
            self.carry_out(chosen, item, purchases).await?;
        }
    }

    /// Where no purchase can go on, lets the workers do so, and then time pass, but not while a request is late. Returns whether
    /// something happened.
    async fn do_others_go_on(&mut self, course: &mut Course<'_>) -> Result<bool> {
        if !self.kind.has_workers {
            return Ok(false);
        }
        if self.let_workers_go().await?.is_empty() {
            if course.passed >= MOST_PASSED || self.late.is_any() {
                return Ok(false);
            }
            course.passed += 1;
            self.let_time_pass().await?;
        }
        course.news.take_event();
        Ok(true)
    }

    /// Returns what is possible now, with events of these kinds.
    async fn moment(
        &mut self,
        course: &Course<'_>,
        kinds: &[EventKind],
        useful: &[(usize, Step)],
        at_work: &[usize],
    ) -> Result<Moment> {
        let mut possible: Vec<Possible> = useful.iter().map(possible).collect();
        possible.extend(at_work.iter().map(|instance| with_any_effect(Choice::Work(*instance))));
        possible.extend(self.late.arrivals().map(with_any_effect));
        let mut moves = possible.iter().filter_map(|possible| possible.choice.mover());
        let going_on = course.last.filter(|last| moves.any(|mover| mover == *last));
        possible.extend(self.events(kinds, useful, &course.choices).await?);
        if self.kind.has_workers && kinds.contains(&EventKind::WorkerWakes) {
            possible.extend(course.worker_wakes().map(with_any_effect));
        }
        if kinds.contains(&EventKind::SessionEnds)
            && !self.kind.asks_its_client
            && self.sessions.is_held(course.item.as_str()).await?
        {
            possible.push(with_any_effect(Choice::SessionEnds));
        }
        Ok(Moment { possible, going_on })
    }
}

impl Course<'_> {
    /// Returns the number of events so far.
    fn events(&self) -> usize {
        let choices = self.choices.iter();
        choices.filter(|choice| choice.event().is_some()).count()
    }

    /// Returns the purchases whose next step may lead further, the one that went last before all others.
    fn useful(&self, ready: &[(usize, Step)]) -> Vec<(usize, Step)> {
        let mut useful = ready.to_vec();
        useful.retain(|(number, step)| self.news.is_useful(*number, step));
        useful.sort_by_key(|(number, _)| (Some(Mover::Purchase(*number)) != self.last, *number));
        useful
    }

    /// Returns the event that wakes workers: those of the first instance at which they sleep. Where both are alike, so are the
    /// schedules.
    fn worker_wakes(&self) -> Option<Choice> {
        let asleep = self.awake.iter().position(|awake| *awake == Awake::No);
        asleep.map(Choice::WorkerWakes)
    }

    /// Notes a choice.
    fn take(&mut self, chosen: Choice, ready: &[(usize, Step)]) -> Result<()> {
        self.choices.push(chosen);
        if chosen.event().is_some() || chosen.step().is_none() {
            self.news.take_event();
        }
        match chosen {
            // Whoever goes on then interrupts nobody.
            Choice::WorkerWakes(instance) => (self.awake[instance], self.last) = (Awake::First, None),
            Choice::Work(_) => self.last = chosen.mover(),
            _ => {}
        }
        if let Some(purchase) = chosen.step() {
            let step = ready.iter().find(|(at, _)| *at == purchase);
            let (_, step) = step.context("a purchase that stands before no step")?;
            self.news.take(purchase, step);
            self.last = chosen.mover();
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

/// Returns a choice that may change everything.
pub(super) fn with_any_effect(choice: Choice) -> Possible {
    Possible {
        choice,
        effect: Effect::ANY,
    }
}
