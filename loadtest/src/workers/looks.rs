//! Looks at the ledgers while workers attack. Nobody else sees an order that is written late.
//!
//! The coordinator does not hear of single sales, so it looks again and again. The looks keep their distance in relation
//! to the time that has passed. So their number stays small however long the attack takes, and together they read only a
//! few times as many orders as the last one.

use std::convert::Infallible;
use std::ops::Range;
use std::time::{Duration, Instant};

use rand::seq::SliceRandom;
use tokio::time::sleep;

use crate::facts::Observation;
use crate::sale::SaleSet;

/// The shortest pause between two looks.
const SHORTEST_PAUSE: Duration = Duration::from_millis(25);

/// The part of the time so far that passes until the next look, before the first order is seen: workers need some time
/// to begin.
const BEFORE_ORDERS: f64 = 0.1;

/// The same after the first order was seen, drawn for each look.
const AFTER_ORDERS: Range<f64> = 0.3..0.6;

/// Two clocks drift apart by less than one part in so many.
const DRIFTS_BY: u32 = 1_000;

/// The looks of one attack, each with the place of its item.
#[derive(Default)]
pub(super) struct Looks {
    seen: Vec<(usize, Observation)>,
    /// The looks that failed, by their beginning.
    pub(super) failed: Vec<(usize, Instant)>,
}

impl Looks {
    /// Looks at the ledger of each item again and again, at one ledger at a time.
    pub(super) async fn go_on(&mut self, sale_set: &SaleSet) -> Infallible {
        let begun = Instant::now();
        let mut first_order: Option<Instant> = None;
        let mut places: Vec<usize> = (0..sale_set.sales.len()).collect();
        loop {
            let pause = match first_order {
                None => begun.elapsed().mul_f64(BEFORE_ORDERS),
                Some(seen) => seen.elapsed().mul_f64(rand::random_range(AFTER_ORDERS)),
            };
            sleep(pause.max(SHORTEST_PAUSE)).await;
            // The last looks may come to only some of the items.
            places.shuffle(&mut rand::rng());
            for place in &places {
                let looked = Instant::now();
                let Ok(observation) = sale_set.sales[*place].snapshot().await else {
                    self.failed.push((*place, looked));
                    continue;
                };
                if !observation.facts.orders.is_empty() {
                    first_order.get_or_insert_with(Instant::now);
                }
                self.keep(*place, observation);
            }
        }
    }

    /// Keeps a look. It replaces the one before if it sees the same: a promise that is lost in the earlier look is lost
    /// in the later one as well.
    fn keep(&mut self, place: usize, observation: Observation) {
        let before = self.seen.iter_mut().rfind(|(other, _)| *other == place);
        match before {
            Some((_, before)) if before.facts == observation.facts => *before = observation,
            Some(_) | None => self.seen.push((place, observation)),
        }
    }

    /// Returns the looks by the workers' clocks. Workers' times are those of the coordinator's clock, or up to `apart`
    /// earlier, and a little more the longer the attack at `begun` goes on: a response that seems to have come just
    /// before a look may have come after it. So each look counts as that much earlier. A look that then comes before the
    /// attack shows nothing.
    pub(super) fn by_clocks_apart(self, apart: Duration, begun: Instant) -> Vec<(usize, Observation)> {
        let looks = self.seen.into_iter();
        let earlier = looks.filter_map(|(place, observation)| {
            let drift = observation.begun.saturating_duration_since(begun) / DRIFTS_BY;
            let looked = observation.begun.checked_sub(apart + drift);
            let looked = looked.filter(|looked| *looked >= begun)?;
            Some((
                place,
                Observation {
                    begun: looked,
                    ..observation
                },
            ))
        });
        earlier.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Expectation, Finding, judge};
    use crate::facts::{Facts, Order};
    use crate::responses::Responses;
    use crate::shop::response::{Response, ResponseKind};

    const MS: Duration = Duration::from_millis(1);

    fn look(begun: Instant, orders: usize) -> (usize, Observation) {
        let orders = (0..orders).map(|number| Order {
            id: format!("o-{number}"),
            quantity: 1,
            buyer: Some(format!("b-{number}")),
            key: Some(format!("k-{number}")),
        });
        let facts = Facts {
            stock_left: Some(7),
            orders: orders.collect(),
            ..Facts::default()
        };
        let observation = Observation {
            begun,
            at_rest: false,
            facts,
        };
        (0, observation)
    }

    /// Returns the units that are lost if a worker says that purchase 0 was sold `after` the assignment came, and a look
    /// begins 100 ms after the assignment was sent and sees no order.
    fn lost(after: Duration, apart: Duration) -> i64 {
        let begun = Instant::now();
        let sold = Response {
            number: 0,
            key: "k-0".to_owned(),
            buyer: "b-0".to_owned(),
            quantity: 1,
            kind: ResponseKind::Sold,
            order: Some("o-0".to_owned()),
            instance: None,
            intended: begun,
            sent: begun,
            ended: begun + after,
            hung_up: false,
            sent_again: false,
        };
        let responses = Responses {
            attack: vec![sold],
            apart,
            ..Responses::default()
        };
        let expected = Expectation {
            stock: 8,
            quantity: 1,
            contended: true,
            instances: 1,
            fault: None,
            is_atomic: false,
            absent: Vec::new(),
            failed_looks: Vec::new(),
        };
        let seen = vec![look(begun + 100 * MS, 0)];
        let looks = Looks {
            seen,
            ..Looks::default()
        }
        .by_clocks_apart(apart, begun);
        let observations: Vec<_> = looks.into_iter().map(|(_, observation)| observation).collect();
        judge(&expected, &responses, &observations).findings.of(Finding::Lost)
    }

    #[test]
    fn a_promise_is_lost_only_if_it_came_before_the_look_by_every_clock() {
        assert_eq!(lost(60 * MS, 30 * MS), 1);
        assert_eq!(lost(69 * MS, 30 * MS), 1);
        assert_eq!(lost(80 * MS, 30 * MS), 0, "it may have come 10 ms after the look");
        assert_eq!(lost(100 * MS, Duration::ZERO), 0, "one clock may be slower");
        assert_eq!(lost(Duration::ZERO, 200 * MS), 0, "it may have come after the look");
    }

    #[test]
    fn of_looks_that_see_the_same_only_the_last_one_is_kept() {
        let begun = Instant::now();
        let mut looks = Looks::default();
        for (after, orders) in [(1, 0), (2, 0), (3, 2), (4, 2), (5, 3)] {
            let (place, observation) = look(begun + after * MS, orders);
            looks.keep(place, observation);
        }
        looks.keep(1, look(begun + 6 * MS, 3).1);
        let kept = looks.seen.iter().map(|(place, kept)| (*place, kept.begun - begun));
        let expected = [(0, 2 * MS), (0, 4 * MS), (0, 5 * MS), (1, 6 * MS)];
        assert_eq!(kept.collect::<Vec<_>>(), expected);
    }
}
