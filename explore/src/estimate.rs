//! An estimate of the number of schedules within bounds, from random schedules (Knuth, 1975).
//!
//! Each random schedule counts for the inverse of its probability; the mean of these counts is the estimate. A schedule that
//! preempts at each chance has a short life, and there are few such: so most choices let the purchase go on that went before.

use anyhow::Result;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;

use crate::bounds::Bounds;
use crate::choice::{Choice, Choose, Cost, EventKind, Moment};
use crate::play::Player;

/// The random schedules of an estimate.
const SCHEDULES: u32 = 500;

/// The choices of a schedule that are assumed before the first one is played.
const LENGTH: f64 = 16.0;

/// The most likely that a choice costs a preemption or an event.
const MOST_LIKELY: f64 = 0.5;

/// Random schedules within bounds, one after the other, and what they count for.
struct Estimate {
    rng: Pcg32,
    bounds: Bounds,
    /// The number of choices of the schedule before.
    length: f64,
    made: u32,
    cost: Cost,
    /// The inverse of the probability of the choices so far.
    weight: f64,
    /// The weights of all schedules that ended.
    sum: f64,
    ended: u32,
}

impl Estimate {
    fn within(bounds: Bounds) -> Self {
        Self {
            rng: Pcg32::seed_from_u64(1),
            bounds,
            length: LENGTH,
            made: 0,
            cost: Cost::default(),
            weight: 1.0,
            sum: 0.0,
            ended: 0,
        }
    }

    /// Counts the schedule that ended, and begins another one.
    fn next(&mut self) {
        self.sum += self.weight;
        self.ended += 1;
        self.length = f64::from(self.made.max(1));
        (self.made, self.cost, self.weight) = (0, Cost::default(), 1.0);
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.ended)
    }

    /// Returns the probability of a choice that costs something, where another one costs nothing.
    fn likely(&self) -> f64 {
        let most = self.bounds.cost();
        let left = most.preemptions.saturating_add(most.events) as f64;
        (left / self.length).min(MOST_LIKELY)
    }
}

impl Choose for Estimate {
    fn may(&self, event: EventKind, events: usize) -> bool {
        self.bounds.may(event, events)
    }

    fn choose(&mut self, moment: &Moment) -> Result<Option<Choice>> {
        let most = self.bounds.cost();
        let choices = moment.possible.iter().map(|possible| possible.choice);
        let within = choices.filter(|choice| self.cost.with(moment, *choice).is_within(most));
        let (free, dear): (Vec<_>, Vec<_>) = within.partition(|choice| self.cost.with(moment, *choice) == self.cost);
        let likely = self.likely();
        let (from, probability) = match (free.is_empty(), dear.is_empty()) {
            (false, false) if self.rng.random_bool(likely) => (dear, likely),
            (false, false) => (free, 1.0 - likely),
            (true, _) => (dear, 1.0),
            (_, true) => (free, 1.0),
        };
        let chosen = from.choose(&mut self.rng).copied();
        if let Some(chosen) = chosen {
            self.weight *= from.len() as f64 / probability;
            self.cost = self.cost.with(moment, chosen);
            self.made += 1;
        }
        Ok(chosen)
    }
}

/// Estimates the number of schedules within bounds of a search without a reduction.
///
/// # Errors
/// When a store fails.
pub async fn estimate(player: &mut Player, bounds: &Bounds) -> Result<u64> {
    let mut estimate = Estimate::within(bounds.clone());
    for _ in 0..SCHEDULES {
        player.play(&mut estimate).await?;
        estimate.next();
    }
    Ok(two_digits(estimate.mean()))
}

/// Rounds to the two digits that such an estimate is worth.
fn two_digits(number: f64) -> u64 {
    let unit = 10_f64.powf((number.log10() - 1.0).floor().max(0.0));
    ((number / unit).round() * unit) as u64
}

#[cfg(test)]
mod tests {
    use app::probe::Effect;

    use super::*;
    use crate::choice::{Mover, Possible};

    /// Plays two purchases of so many steps each.
    fn play(estimate: &mut Estimate, steps: usize) {
        let (mut left, mut last) = ([steps; 2], None);
        loop {
            let mut ready: Vec<usize> = (0..2).filter(|number| left[*number] > 0).collect();
            ready.sort_by_key(|number| Some(*number) != last);
            if ready.is_empty() {
                return estimate.next();
            }
            let possible = ready.iter().map(|number| Possible {
                choice: Choice::Step(*number),
                effect: Effect::ANY,
            });
            let moment = Moment {
                possible: possible.collect(),
                going_on: last.filter(|last| ready.contains(last)).map(Mover::Purchase),
            };
            let Some(Choice::Step(purchase)) = estimate.choose(&moment).unwrap() else {
                panic!("a purchase can go on")
            };
            left[purchase] -= 1;
            last = Some(purchase);
        }
    }

    #[test]
    fn an_estimate_has_two_digits() {
        assert_eq!([7.4, 61_499.0, 7_260.0].map(two_digits), [7, 61_000, 7_300]);
    }

    #[test]
    fn the_mean_of_many_random_schedules_is_the_number_of_schedules() {
        // With three preemptions of two purchases with 20 steps there are 2 * (1 + 19 + 19 * 19 + 19 * 171).
        let (steps, all) = (20, 7_260.0);
        let mut estimate = Estimate::within(Bounds {
            preemptions: Some(3),
            events: 0,
            kinds: Vec::new(),
            is_reduced: false,
            are_alike: false,
            schedules: 0,
        });
        for _ in 0..20_000 {
            play(&mut estimate, steps);
        }
        let error = (estimate.mean() / all - 1.0).abs();
        assert!(error < 0.05, "{} of {all}", estimate.mean());
    }
}
