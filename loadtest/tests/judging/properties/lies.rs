//! Lies that are planted in an honest history. A finding must name each of them.

use std::time::Duration;

use loadtest::audit::{Absence, Finding};
use loadtest::facts::Order;
use loadtest::shop::response::ResponseKind;

use super::history::History;

/// A lie: its name, the finding that must name it, and how it is planted.
pub type Lie = (&'static str, Finding, fn(&mut History, usize));

pub const LIES: &[Lie] = &[
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
