//! The order in which schedules are played: depth first, each from its beginning.
//!
//! Without a bound on preemptions, schedules that differ only in the order of steps that commute are played once: the
//! reduction by sleep sets (Godefroid, 1996). A choice that was played at a moment sleeps in all later schedules from that
//! moment, until a choice comes that does not commute with it. A moment at which all choices sleep was met before.
//! With a bound there is no reduction, because the schedule that is played may be one outside the bound.

use anyhow::{Context, Result, ensure};

use crate::bounds::Bounds;
use crate::choice::{Choice, Choose, Cost, EventKind, Moment, Possible};

/// A search that is in progress.
#[derive(Debug)]
pub struct DepthFirst {
    bounds: Bounds,
    nodes: Vec<Node>,
    /// The moments of the schedule that is played now.
    depth: usize,
}

/// A moment of the schedule that is played now, or was played last.
#[derive(Debug)]
struct Node {
    moment: Moment,
    /// The choice that is made, by its place.
    chosen: usize,
    /// The cost of the choices before.
    before: Cost,
    /// The choices that sleep here.
    asleep: Vec<Possible>,
    /// Whether the first purchase has to come before the others, and has not come.
    waits_for_first: bool,
}

impl Node {
    fn possible(&self) -> &Possible {
        &self.moment.possible[self.chosen]
    }

    /// Returns the place of the first choice from `place` on that is within the bounds and does not sleep.
    fn awake_from(&self, place: usize, bounds: Cost) -> Option<usize> {
        (place..self.moment.possible.len()).find(|place| {
            let choice = self.moment.possible[*place].choice;
            let is_asleep = self.asleep.iter().any(|asleep| asleep.choice == choice);
            let is_too_early = self.waits_for_first && choice.purchase().is_some_and(|purchase| purchase > 0);
            !is_asleep && !is_too_early && self.before.with(&self.moment, choice).is_within(bounds)
        })
    }

    /// Returns the choices that sleep after the one that is made here.
    fn asleep_after(&self) -> Vec<Possible> {
        let played = self.moment.possible[..self.chosen].iter();
        let still = self.asleep.iter().chain(played);
        still
            .filter(|other| other.commutes_with(self.possible()))
            .copied()
            .collect()
    }
}

impl DepthFirst {
    /// Begins a search.
    ///
    /// # Errors
    /// When a search with a bound on preemptions is to be reduced.
    pub fn within(bounds: Bounds) -> Result<Self> {
        ensure!(
            !bounds.is_reduced || bounds.preemptions.is_none(),
            "a search with a bound on preemptions cannot be reduced"
        );
        Ok(Self {
            bounds,
            nodes: Vec::new(),
            depth: 0,
        })
    }

    /// Goes on to the next schedule. Returns whether there is one.
    ///
    /// # Errors
    /// When the schedule that was played last ended before its choices were made.
    pub fn next(&mut self) -> Result<bool> {
        ensure!(
            self.depth == self.nodes.len(),
            "the same choices ended after {} of them, not {}",
            self.depth,
            self.nodes.len()
        );
        self.depth = 0;
        while let Some(node) = self.nodes.last_mut() {
            if let Some(chosen) = node.awake_from(node.chosen + 1, self.bounds.cost()) {
                node.chosen = chosen;
                return Ok(true);
            }
            self.nodes.pop();
        }
        Ok(false)
    }

    /// Returns the cost of the schedule that was played last.
    pub fn cost(&self) -> Cost {
        let last = self.nodes.last();
        last.map_or_else(Cost::default, |node| {
            node.before.with(&node.moment, node.possible().choice)
        })
    }

    fn deeper(&self, moment: &Moment) -> Node {
        let above = self.nodes.last();
        Node {
            moment: moment.clone(),
            chosen: 0,
            before: self.cost(),
            asleep: match above {
                Some(above) if self.bounds.is_reduced => above.asleep_after(),
                Some(_) | None => Vec::new(),
            },
            waits_for_first: above.map_or(self.bounds.are_alike, |above| {
                above.waits_for_first && above.possible().choice.purchase().is_none()
            }),
        }
    }
}

impl Choose for DepthFirst {
    fn may(&self, event: EventKind, events: usize) -> bool {
        self.bounds.may(event, events)
    }

    fn choose(&mut self, moment: &Moment) -> Result<Option<Choice>> {
        if self.depth == self.nodes.len() {
            let mut node = self.deeper(moment);
            let Some(chosen) = node.awake_from(0, self.bounds.cost()) else {
                return Ok(None);
            };
            node.chosen = chosen;
            self.nodes.push(node);
        }
        let node = self.nodes.get(self.depth).context("a moment that was not reached")?;
        ensure!(
            node.moment == *moment,
            "the same choices led to another moment after {} of them: {:?}, not {:?}",
            self.depth,
            moment.possible,
            node.moment.possible
        );
        self.depth += 1;
        Ok(Some(node.possible().choice))
    }
}

#[cfg(test)]
mod tests {
    use app::probe::{Data, Effect};

    use super::*;
    use crate::choice::Mover;

    /// The steps of two purchases, each with what it writes.
    type Steps<'a> = [&'a [Data]; 2];

    /// The schedules that a search plays, and the number of those that it ends early.
    fn played(steps: Steps<'_>, preemptions: Option<usize>, is_reduced: bool) -> (Vec<Vec<usize>>, usize) {
        played_within(steps, bounds(preemptions, is_reduced))
    }

    fn bounds(preemptions: Option<usize>, is_reduced: bool) -> Bounds {
        Bounds {
            preemptions,
            events: 0,
            kinds: Vec::new(),
            is_reduced,
            are_alike: false,
            schedules: u64::MAX,
        }
    }

    fn played_within(steps: Steps<'_>, bounds: Bounds) -> (Vec<Vec<usize>>, usize) {
        let mut search = DepthFirst::within(bounds).unwrap();
        let (mut played, mut ended_early) = (Vec::new(), 0);
        loop {
            let (mut taken, mut order, mut last) = ([0, 0], Vec::new(), None);
            loop {
                let mut ready: Vec<usize> = (0..2).filter(|number| taken[*number] < steps[*number].len()).collect();
                ready.sort_by_key(|number| Some(*number) != last);
                if ready.is_empty() {
                    played.push(order);
                    break;
                }
                let possible = ready.iter().map(|number| Possible {
                    choice: Choice::Step(*number),
                    effect: Effect {
                        reads: Data::NONE,
                        writes: steps[*number][taken[*number]],
                    },
                });
                let moment = Moment {
                    possible: possible.collect(),
                    going_on: last.filter(|last| ready.contains(last)).map(Mover::Purchase),
                };
                match search.choose(&moment).unwrap() {
                    Some(Choice::Step(purchase)) => {
                        taken[purchase] += 1;
                        order.push(purchase);
                        last = Some(purchase);
                    }
                    None => {
                        ended_early += 1;
                        break;
                    }
                    Some(event) => unreachable!("{event:?} is not possible"),
                }
            }
            if !search.next().unwrap() {
                return (played, ended_early);
            }
        }
    }

    #[test]
    fn every_schedule_within_the_bound_is_played_once() {
        let two: &[Data] = &[Data::STOCK; 2];
        for (bound, expected) in [(Some(0), 2), (Some(1), 4), (Some(2), 6), (None, 6)] {
            let (mut played, _) = played([two, two], bound, false);
            played.sort();
            let length = played.len();
            played.dedup();
            assert_eq!((played.len(), length), (expected, expected), "bound {bound:?}");
        }
    }

    /// Returns the final states that schedules reach: which purchase wrote each of the data last, after each write.
    fn outcomes(steps: Steps<'_>, schedules: &[Vec<usize>]) -> std::collections::BTreeSet<Vec<Vec<usize>>> {
        let of = |schedule: &Vec<usize>| {
            let (mut taken, mut writers) = ([0, 0], vec![Vec::new(); 3]);
            for purchase in schedule {
                let writes = steps[*purchase][taken[*purchase]];
                taken[*purchase] += 1;
                for (place, data) in [Data::STOCK, Data::ORDERS, Data::LOCK].into_iter().enumerate() {
                    if writes.meets(data) {
                        writers[place].push(*purchase);
                    }
                }
            }
            writers
        };
        schedules.iter().map(of).collect()
    }

    #[test]
    fn a_reduced_search_reaches_every_state_that_the_full_search_reaches_with_fewer_schedules() {
        let (stock, orders, lock, none) = (Data::STOCK, Data::ORDERS, Data::LOCK, Data::NONE);
        let cases: [Steps<'_>; 4] = [
            [&[stock, stock], &[orders, orders]],
            [&[lock, stock, none, lock], &[lock, stock, none, lock]],
            [&[stock, orders], &[orders, stock, lock]],
            [&[none, none, stock], &[stock.and(orders), none]],
        ];
        for steps in cases {
            let (full, _) = played(steps, None, false);
            let (reduced, _) = played(steps, None, true);
            assert_eq!(outcomes(steps, &reduced), outcomes(steps, &full), "{steps:?}");
            assert!(
                reduced.len() < full.len(),
                "{steps:?}: {} of {}",
                reduced.len(),
                full.len()
            );
        }
    }

    #[test]
    fn steps_that_all_conflict_are_not_reduced() {
        let two: &[Data] = &[Data::STOCK; 2];
        let (reduced, ended_early) = played([two, two], None, true);
        assert_eq!((reduced.len(), ended_early), (6, 0));
    }

    #[test]
    fn of_purchases_that_are_alike_the_first_one_begins() {
        let three: &[Data] = &[Data::STOCK; 3];
        let (mut all, _) = played([three, three], Some(2), false);
        let alike = Bounds {
            are_alike: true,
            ..bounds(Some(2), false)
        };
        all.retain(|order| order[0] == 0);
        assert_eq!(played_within([three, three], alike), (all, 0));
    }

    #[test]
    fn a_bound_and_a_reduction_exclude_each_other() {
        DepthFirst::within(bounds(Some(1), true)).unwrap_err();
    }
}
