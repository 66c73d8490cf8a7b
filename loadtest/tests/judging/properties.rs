//! Random histories: an honest one always holds, and every kind of planted lie is always found.

use std::time::{Duration, Instant};

use loadtest::audit::{Absence, Expectation, Finding, Judgement, Verdict, judge};
use loadtest::facts::{Facts, Observation, Order};
use loadtest::responses::Responses;
use loadtest::shop::response::{Response, ResponseKind};
use proptest::prelude::*;
use proptest::sample::Index;

/// An honest round, as left by a shop that serves one purchase after the other in some order.
#[derive(Clone, Debug)]
struct History {
    expected: Expectation,
    responses: Responses,
    snapshot: Observation,
    rest: Observation,
    last: Observation,
}

impl History {
    fn judge(&self) -> Judgement {
        let observations = [self.snapshot.clone(), self.rest.clone(), self.last.clone()];
        judge(&self.expected, &self.responses, &observations)
    }

    /// Returns the place of a sale of the attack.
    fn sale(&self, index: Index) -> usize {
        let sold = |place: &usize| self.responses.attack[*place].kind == ResponseKind::Sold;
        let sales: Vec<usize> = (0..self.responses.attack.len()).filter(sold).collect();
        sales[index.index(sales.len())]
    }

    /// Changes the order of that sale, in both observations at rest.
    fn change(&mut self, sale: usize, change: fn(&mut Order)) {
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
    fn honest()(
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

/// A lie: its name, the finding that must name it, and how it is planted.
type Lie = (&'static str, Finding, fn(&mut History, usize));

const LIES: &[Lie] = &[
    ("an order is gone in the end", Finding::Lost, |h, sale| {
        let id = h.responses.attack[sale].order.clone();
        h.last.facts.orders.retain(|order| Some(&order.id) != id.as_ref());
    }),
    ("an order is written after it was told", Finding::Lost, |h, sale| {
        let response = &h.responses.attack[sale];
        h.snapshot.begun = response.ended;
        let id = response.order.clone();
        h.snapshot.facts.orders.retain(|order| Some(&order.id) != id.as_ref());
    }),
    ("another buyer", Finding::Lost, |h, sale| {
        h.change(sale, |order| order.buyer = Some("b-98".to_owned()));
    }),
    ("another key", Finding::Lost, |h, sale| {
        h.change(sale, |order| order.key = Some("k-98".to_owned()));
    }),
    ("no key", Finding::Lost, |h, sale| {
        h.change(sale, |order| order.key = None);
    }),
    ("another id", Finding::Lost, |h, sale| {
        h.change(sale, |order| order.id = "o-98".to_owned());
    }),
    ("more units", Finding::Ghost, |h, sale| {
        h.change(sale, |order| order.quantity += 1);
    }),
    ("no units", Finding::Ghost, |h, sale| {
        h.change(sale, |order| order.quantity = 0);
    }),
    ("fewer than none", Finding::Ghost, |h, sale| {
        h.change(sale, |order| order.quantity = -order.quantity);
    }),
    ("told no id", Finding::Lost, |h, sale| {
        let id = h.responses.attack[sale].order.take();
        let same = h.responses.repeats.iter_mut().filter(|response| response.order == id);
        same.for_each(|response| response.order = None);
    }),
    ("an order of nobody", Finding::Ghost, |h, _| {
        plant(h, "o-98", 1, None);
    }),
    ("two orders of nobody that add up to nothing", Finding::Ghost, |h, _| {
        plant(h, "o-98", 3, None);
        plant(h, "o-98", -3, None);
    }),
    ("an order of nothing", Finding::Ghost, |h, _| plant(h, "o-98", 0, None)),
    ("orders whose sum wraps", Finding::Oversold, |h, _| {
        for id in ["o-96", "o-97", "o-98"] {
            plant(h, id, i64::MAX, None);
        }
    }),
    ("a second order for one key", Finding::Duplicate, |h, sale| {
        let key = h.responses.attack[sale].key.clone();
        plant(h, "o-98", 1, Some(key));
    }),
    ("a unit taken in the end", Finding::Drift, |h, _| {
        h.last.facts.stock_left = h.last.facts.stock_left.map(|left| left - 1);
    }),
    ("a counter that is none", Finding::Unreadable, |h, _| {
        h.last.facts.stock_left = None
    }),
    ("an entry that is none", Finding::Unreadable, |h, _| {
        h.rest.facts.unreadable = 1
    }),
    ("a ledger without end", Finding::Ghost, |h, _| {
        h.last.facts.cut_short = true
    }),
    ("sold to one more", Finding::Oversold, |h, sale| {
        let mut response = h.responses.attack[sale].clone();
        (response.number, response.key, response.buyer) = (98, "k-98".to_owned(), "b-98".to_owned());
        response.order = Some("o-98".to_owned());
        h.responses.attack.push(response);
    }),
    ("sold out told too early", Finding::FalseRefusal, |h, sale| {
        let (sent, mut early) = (h.responses.attack[sale].sent, h.responses.follow_up[0].clone());
        (early.number, early.key, early.buyer) = (97, "k-97".to_owned(), "b-97".to_owned());
        early.sent = sent - Duration::from_micros(20);
        early.ended = sent - Duration::from_micros(10);
        h.responses.attack.push(early);
    }),
    ("units kept back", Finding::Undersold, |h, _| {
        h.expected.stock += h.expected.quantity;
        for look in [&mut h.rest, &mut h.last] {
            look.facts.stock_left = look.facts.stock_left.map(|left| left + h.expected.quantity);
        }
    }),
    ("units seen without their order", Finding::Drift, |h, _| {
        h.snapshot.facts.stock_left = h.snapshot.facts.stock_left.map(|left| left - 1);
    }),
    ("an order seen without its units", Finding::Drift, |h, _| {
        h.snapshot.facts.stock_left = h.snapshot.facts.stock_left.map(|left| left + 1);
    }),
    ("nobody served while one was dead", Finding::Unavailable, |h, sale| {
        let sent = h.responses.attack[sale].sent;
        h.expected.instances = 2;
        h.expected.absent.push(Absence {
            instance: Some("c".to_owned()),
            from: sent + Duration::from_secs(2),
            to: sent + Duration::from_secs(4),
            is_back: true,
            is_death: true,
        });
        for number in 200..204 {
            let mut unserved = h.responses.attack[sale].clone();
            (unserved.number, unserved.key, unserved.buyer) = (number, format!("k-{number}"), format!("b-{number}"));
            (unserved.kind, unserved.order, unserved.instance) = (ResponseKind::Unknown, None, None);
            (unserved.sent, unserved.ended) = (sent + Duration::from_secs(3), sent + Duration::from_millis(3_100));
            h.responses.attack.push(unserved);
        }
    }),
    ("stuck", Finding::Stuck, |h, _| {
        h.expected.stock += h.expected.quantity;
        for look in [&mut h.rest, &mut h.last] {
            look.facts.stock_left = look.facts.stock_left.map(|left| left + h.expected.quantity);
        }
        h.responses.follow_up[0].kind = ResponseKind::Busy;
    }),
];

/// A doubt: its name, words of the reason, and how it is planted. No finding shows it.
type Doubt = (&'static str, &'static str, fn(&mut History, usize));

const DOUBTS: &[Doubt] = &[
    ("an altered key told busy", "was not refused", |h, _| {
        h.responses
            .altered
            .retain(|response| response.kind == ResponseKind::Rejected);
        h.responses.altered[0].kind = ResponseKind::Busy;
    }),
    ("an altered key told busy in the end", "was not refused", |h, _| {
        let last = h.responses.altered.last().unwrap().clone();
        let ended = last.ended + Duration::from_micros(1);
        h.responses.altered.push(Response {
            kind: ResponseKind::Busy,
            ended,
            ..last
        });
    }),
    ("a reading that failed", "of the ledger failed", |h, sale| {
        h.expected.failed_looks.push(h.responses.attack[sale].sent);
    }),
    ("an answer without a name", "without a name", |h, sale| {
        is_absent(h, sale, Some("c".to_owned()), true);
        h.responses.attack[sale].instance = None;
    }),
    ("an answer of the dead", "that was dead answered", |h, sale| {
        let instance = h.responses.attack[sale].instance.clone();
        is_absent(h, sale, instance, true);
    }),
    (
        "an answer of a process that stood still",
        "that stood still answered",
        |h, sale| {
            let instance = h.responses.attack[sale].instance.clone();
            is_absent(h, sale, instance, false);
        },
    ),
    (
        "nobody had to wait for one that stood still",
        "was answered at once",
        |h, sale| {
            h.expected.instances = 2;
            is_absent(h, sale, Some("c".to_owned()), false);
            let Absence { from, to, .. } = h.expected.absent[0];
            for number in 200..204 {
                let mut busy = h.responses.attack[sale].clone();
                (busy.number, busy.key, busy.buyer) = (number, format!("k-{number}"), format!("b-{number}"));
                (busy.kind, busy.order) = (ResponseKind::Busy, None);
                (busy.sent, busy.ended) = (from + (to - from) / 4, from + (to - from) / 2);
                h.responses.attack.push(busy);
            }
        },
    ),
    (
        "answers of all while a nameless one was dead",
        "all instances answered",
        |h, sale| {
            is_absent(h, sale, None, true);
        },
    ),
];

/// Says that the instance could not answer for a second in whose middle that sale was answered.
fn is_absent(history: &mut History, sale: usize, instance: Option<String>, is_death: bool) {
    let half = Duration::from_millis(500);
    let ended = &mut history.responses.attack[sale].ended;
    *ended += half * 2;
    let (from, to) = (*ended - half, *ended + half);
    history.expected.absent.push(Absence {
        instance,
        from,
        to,
        is_back: true,
        is_death,
    });
}

fn plant(history: &mut History, id: &str, quantity: i64, key: Option<String>) {
    let order = Order {
        id: id.to_owned(),
        quantity,
        buyer: Some("nobody".to_owned()),
        key,
    };
    history.rest.facts.orders.push(order.clone());
    history.last.facts.orders.push(order);
}

proptest! {
    #[test]
    fn an_honest_history_holds(history in honest()) {
        let judged = history.judge();
        prop_assert_eq!(judged.verdict, Verdict::Holds, "{:?}", judged);
    }

    #[test]
    fn every_planted_doubt_makes_a_round_inconclusive(history in honest(), sale in any::<Index>()) {
        for (name, words, plant) in DOUBTS {
            let mut history = history.clone();
            let sale = history.sale(sale);
            plant(&mut history, sale);
            let judged = history.judge();
            prop_assert_eq!(judged.verdict, Verdict::Inconclusive, "{}: {:?}", name, judged);
            let why = judged.inconclusive.unwrap_or_default();
            prop_assert!(why.contains(words), "{}: {}", name, why);
        }
    }

    #[test]
    fn every_planted_lie_is_found_by_its_name(history in honest(), sale in any::<Index>()) {
        for (name, finding, tell) in LIES {
            let mut history = history.clone();
            let sale = history.sale(sale);
            tell(&mut history, sale);
            let judged = history.judge();
            prop_assert_eq!(judged.verdict, Verdict::Violated, "{}: {:?}", name, judged);
            prop_assert_ne!(judged.findings.of(*finding), 0, "{}: {:?}", name, judged);
        }
    }
}
