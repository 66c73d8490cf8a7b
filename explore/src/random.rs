//! Random schedules, for a space that is too large: the algorithm PCT (Burckhardt and others, 2010).
//!
//! Each purchase, each late request and the workers of each instance have a random priority, and the highest goes on. At some random moments, one less than the bug
//! depth, the purchase that would go on falls behind all others. A violation that needs `depth` ordered steps is found with a
//! probability of at least 1 / (purchases * steps ^ (depth - 1)) in each schedule. An event comes at a random moment.

use anyhow::Result;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::arrivals::{Arrivals, INSTANCES};
use crate::choice::{Choice, Choose, Cost, EventKind, Moment, Mover};

/// The choices of a schedule that are assumed before the first one is played.
const STEPS: usize = 16;

/// Random schedules, one after the other. The same seed gives the same schedules.
#[derive(Debug)]
pub struct Random {
    rng: Pcg32,
    depth: usize,
    kinds: Vec<EventKind>,
    events: usize,
    /// The most choices of a schedule so far; 0 before the first one.
    longest: usize,
    /// The arrivals of purchases.
    arrivals: usize,
    /// The priorities of those that move, by their places; the highest goes first.
    priorities: Vec<i64>,
    /// The moments, by the number of choices before, at which a purchase falls behind, or an event comes.
    changes: Vec<usize>,
    events_at: Vec<usize>,
    made: usize,
    cost: Cost,
}

impl Random {
    /// Creates the schedules of these arrivals for this bug depth, with at most so many events of these kinds.
    pub fn new(seed: u64, arrivals: Arrivals, depth: usize, events: usize, kinds: Vec<EventKind>) -> Self {
        let mut random = Self {
            rng: Pcg32::seed_from_u64(seed),
            depth,
            kinds,
            events,
            longest: 0,
            arrivals: arrivals.count(),
            priorities: Vec::new(),
            changes: Vec::new(),
            events_at: Vec::new(),
            made: 0,
            cost: Cost::default(),
        };
        random.draw();
        random
    }

    /// Goes on to the next schedule.
    pub fn next(&mut self) {
        self.longest = self.longest.max(self.made);
        self.draw();
    }

    /// Returns the cost of the schedule that was played last.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    fn draw(&mut self) {
        let mut priorities: Vec<i64> = (0..(2 * self.arrivals + INSTANCES) as i64).collect();
        priorities.shuffle(&mut self.rng);
        self.priorities = priorities;
        let length = if self.longest == 0 { STEPS } else { self.longest };
        let mut moments =
            |count: usize| -> Vec<usize> { (0..count).map(|_| self.rng.random_range(0..length)).collect() };
        (self.changes, self.events_at) = (moments(self.depth.saturating_sub(1)), moments(self.events));
        (self.made, self.cost) = (0, Cost::default());
    }

    /// Returns the place of one that moves.
    fn place(&self, mover: Mover) -> usize {
        match mover {
            Mover::Purchase(purchase) => purchase,
            Mover::Late(purchase) => self.arrivals + purchase,
            Mover::Workers(instance) => 2 * self.arrivals + instance,
        }
    }

    /// Returns the choice with the highest priority that is no event, with its place.
    fn first(&self, moment: &Moment) -> Option<(usize, Choice)> {
        let choices = moment.possible.iter().map(|possible| possible.choice);
        let moves = choices.filter(|choice| choice.event().is_none());
        let placed = moves.filter_map(|choice| Some((self.place(choice.mover()?), choice)));
        placed.max_by_key(|(place, _)| self.priorities[*place])
    }
}

impl Choose for Random {
    fn may(&self, event: EventKind, events: usize) -> bool {
        events < self.events && self.kinds.contains(&event)
    }

    fn choose(&mut self, moment: &Moment) -> Result<Option<Choice>> {
        let due = self.events_at.iter().filter(|at| **at <= self.made).count();
        let events = moment.possible.iter().map(|possible| possible.choice);
        let events: Vec<Choice> = events.filter(|choice| choice.event().is_some()).collect();
        let first = self.first(moment);
        let event = events
            .choose(&mut self.rng)
            .filter(|_| self.cost.events < due || first.is_none());
        let choice = match (event, first) {
            (Some(event), _) => Some(*event),
            (None, Some((first, _))) if self.changes.contains(&self.made) => {
                self.priorities[first] = self.priorities.iter().min().map_or(0, |lowest| lowest - 1);
                self.first(moment).map(|(_, choice)| choice)
            }
            (None, first) => first.map(|(_, choice)| choice),
        };
        self.made += 1;
        if let Some(choice) = choice {
            self.cost = self.cost.with(moment, choice);
        }
        Ok(choice)
    }
}

#[cfg(test)]
mod tests {
    use app::probe::Effect;

    use super::*;
    use crate::choice::Possible;

    /// The order of the steps of two purchases with two steps each.
    fn played(random: &mut Random) -> Vec<usize> {
        let (mut left, mut order) = ([2, 2], Vec::new());
        while left != [0, 0] {
            let ready = (0..2).filter(|number| left[*number] > 0);
            let effect = Effect::ANY;
            let moment = Moment {
                possible: ready
                    .map(|number| Possible {
                        choice: Choice::Step(number),
                        effect,
                    })
                    .collect(),
                going_on: None,
            };
            let Some(Choice::Step(purchase)) = random.choose(&moment).unwrap() else {
                panic!("a purchase can go on")
            };
            left[purchase] -= 1;
            order.push(purchase);
        }
        order
    }

    fn schedules(seed: u64, depth: usize) -> Vec<Vec<usize>> {
        let arrivals = Arrivals {
            purchases: 2,
            instances: 2,
        };
        let mut random = Random::new(seed, arrivals, depth, 0, Vec::new());
        let mut schedules = Vec::new();
        for _ in 0..200 {
            schedules.push(played(&mut random));
            random.next();
        }
        schedules
    }

    #[test]
    fn a_seed_gives_the_same_schedules_and_another_one_others() {
        assert_eq!(schedules(7, 2), schedules(7, 2));
        assert_ne!(schedules(7, 2), schedules(8, 2));
    }

    #[test]
    fn depth_1_interrupts_nobody_and_a_larger_depth_reaches_every_order() {
        let different = |depth| {
            schedules(7, depth)
                .into_iter()
                .collect::<std::collections::BTreeSet<_>>()
                .len()
        };
        assert_eq!(different(1), 2);
        assert_eq!(different(3), 6);
    }
}
