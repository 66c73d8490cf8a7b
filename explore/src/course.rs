//! The course of one schedule: choices, until no purchase can go on.

use anyhow::{Context, Result};
use app::domain::Name;
use app::probe::{Effect, Step};

use crate::choice::{Choice, Choose, EventKind, Moment, Mover, Possible};
use crate::news::{News, is_pause};
use crate::play::Player;
use crate::purchases::Purchases;

/// How often time passes by itself in one schedule, where no purchase can go on without that.
const MOST_PASSED: usize = 4;

/// What a schedule has come to so far.
struct Course {
    choices: Vec<Choice>,
    /// The one that moved last.
    last: Option<Mover>,
    news: News,
    /// How often time has passed by itself.
    passed: usize,
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
            choices: Vec::new(),
            last: None,
            news: News::new(self.turns.arrivals()),
            passed: 0,
        };
        if chooser.may(EventKind::RedisFailsOver, 0) {
            self.replica.begin(self.leases.lock_store()?).await?;
        }
        loop {
            self.waits.settle(&self.turns).await?;
            let ready = self.turns.ready();
            let useful = course.useful(&ready);
            let is_over = ready.is_empty() && !self.turns.is_one_under_way();
            if useful.is_empty() && !is_over && self.do_others_go_on(&mut course).await? {
                continue;
            }
            let mut kinds = EventKind::ALL.to_vec();
            kinds.retain(|kind| !is_over && chooser.may(*kind, course.events()));
            let moment = self.moment(&course, &kinds, &useful).await?;
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
    async fn do_others_go_on(&mut self, course: &mut Course) -> Result<bool> {
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
    async fn moment(&mut self, course: &Course, kinds: &[EventKind], useful: &[(usize, Step)]) -> Result<Moment> {
        let mut possible: Vec<Possible> = useful.iter().map(possible).collect();
        possible.extend(self.late.arrivals().map(with_any_effect));
        let moves = possible.iter().filter_map(|possible| possible.choice.mover());
        let going_on = course.last.filter(|last| moves.into_iter().any(|mover| mover == *last));
        possible.extend(self.events(kinds, useful, &course.choices).await?);
        Ok(Moment { possible, going_on })
    }
}

impl Course {
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

    /// Notes a choice.
    fn take(&mut self, chosen: Choice, ready: &[(usize, Step)]) -> Result<()> {
        self.choices.push(chosen);
        if chosen.event().is_some() || matches!(chosen, Choice::Arrival(_)) {
            self.news.take_event();
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
