//! Random histories of an honest shop.

use std::time::{Duration, Instant};

use loadtest::audit::{Expectation, Judgement, judge};
use loadtest::facts::{Facts, Observation, Order};
use loadtest::responses::Responses;
use loadtest::shop::response::{Response, ResponseKind};
use proptest::prelude::*;
use proptest::sample::Index;

/// An honest round, as left by a shop that serves one purchase after the other in some order.
#[derive(Clone, Debug)]
pub struct History {
    pub expected: Expectation,
    pub responses: Responses,
    pub snapshot: Observation,
    pub rest: Observation,
    pub last: Observation,
}

impl History {
    pub fn judge(&self) -> Judgement {
        let observations = [self.snapshot.clone(), self.rest.clone(), self.last.clone()];
        judge(&self.expected, &self.responses, &observations)
    }

    /// Returns the place of a sale of the attack.
    pub fn sale(&self, index: Index) -> usize {
        let sold = |place: &usize| self.responses.attack[*place].kind == ResponseKind::Sold;
        let sales: Vec<usize> = (0..self.responses.attack.len()).filter(sold).collect();
        sales[index.index(sales.len())]
    }

    /// Changes the order of that sale, in both observations at rest.
    pub fn change(&mut self, sale: usize, change: fn(&mut Order)) {
        let id = self.responses.attack[sale].order.clone().unwrap();
        for look in [&mut self.rest, &mut self.last] {
            look.facts
                .orders
                .iter_mut()
                .filter(|order| order.id == id)
                .for_each(change);
        }
    }
}

fn at(start: Instant, us: u64) -> Instant {
    start + Duration::from_micros(us)
}

prop_compose! {
    /// Purchases with random times of sending, of being served and of being answered; the first two overlap.
    pub fn honest()(
        quantity in 1_i64..4,
        wanted in 2_usize..7,
        remainder in 0_i64..4,
        spans in prop::collection::vec((0_u64..5_000, 1_u64..5_000, 1_u64..5_000, any::<bool>()), 8..24),
        snapshot in 0_u64..15_000,
        repeats in any::<Index>(),
        busy_at_first in any::<bool>(),
    ) -> History {
        let start = Instant::now();
        let stock = wanted as i64 * quantity + remainder.min(quantity - 1);
        let mut left = stock;
        let mut served: Vec<(u64, usize)> = spans.iter().enumerate().map(|(n, (sent, wait, ..))| (sent + wait, n)).collect();
        served.sort_unstable();
        let mut responses = Responses::default();
        let mut orders: Vec<(u64, Order)> = Vec::new();
        for (moment, number) in served {
            let (sent, _, back, is_twice) = spans[number];
            let sold = left >= quantity;
            let response = Response {
                number,
                key: format!("k-{number}"),
                buyer: format!("b-{number}"),
                quantity,
                kind: if sold { ResponseKind::Sold } else { ResponseKind::SoldOut },
                order: sold.then(|| format!("o-{number}")),
                instance: Some(["a", "b"][number % 2].to_owned()),
                intended: at(start, sent),
                sent: at(start, sent),
                ended: at(start, moment + back),
                hung_up: false,
                sent_again: false,
            };
            if sold {
                left -= quantity;
                orders.push((moment, Order {
                    id: format!("o-{number}"),
                    quantity,
                    buyer: Some(format!("b-{number}")),
                    key: Some(format!("k-{number}")),
                }));
            }
            if is_twice {
                responses.repeats.push(Response { ended: response.ended + Duration::from_micros(back), ..response.clone() });
            }
            responses.attack.push(response);
        }
        let sold: Vec<Response> = responses.attack.iter().filter(|response| response.kind == ResponseKind::Sold).cloned().collect();
        let again = &sold[repeats.index(sold.len())];
        responses.repeats.push(Response { sent: at(start, 50_000), ended: at(start, 51_000), ..again.clone() });
        let refused = Response {
            quantity: quantity + 1,
            kind: ResponseKind::Rejected,
            order: None,
            sent: again.ended,
            ended: again.ended + Duration::from_micros(10),
            ..again.clone()
        };
        if busy_at_first {
            let ended = again.ended + Duration::from_micros(5);
            responses.altered.push(Response { kind: ResponseKind::Busy, ended, ..refused.clone() });
        }
        responses.altered.push(refused);
        responses.follow_up.push(Response {
            number: 99,
            key: "k-99".to_owned(),
            buyer: "b-99".to_owned(),
            kind: ResponseKind::SoldOut,
            order: None,
            intended: at(start, 40_000),
            sent: at(start, 40_000),
            ended: at(start, 41_000),
            ..again.clone()
        });
        let look = |us: u64, at_rest: bool| {
            let seen: Vec<Order> = orders.iter().filter(|(when, _)| *when <= us).map(|(_, order)| order.clone()).collect();
            let taken: i64 = seen.iter().map(|order| order.quantity).sum();
            Observation {
                begun: at(start, us),
                at_rest,
                facts: Facts { stock_left: Some(stock - taken), orders: seen, ..Facts::default() },
            }
        };
        History {
            expected: Expectation { stock, quantity, contended: false, instances: 1, fault: None, absent: Vec::new(), is_atomic: true, failed_looks: Vec::new() },
            snapshot: look(snapshot, false),
            rest: look(60_000, true),
            last: look(9_000_000, true),
            responses,
        }
    }
}
