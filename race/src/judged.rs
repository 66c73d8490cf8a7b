//! The verdict on a round: that of the load test's audit. A buyer is known by what an order has of it.

use std::collections::HashMap;
use std::time::Instant;

use loadtest::audit::{Expectation, FaultSeen, Judgement, judge};
use loadtest::facts::{Facts, Observation, Order};
use loadtest::responses::Responses;
use loadtest::shop::response::{Response, ResponseKind};

/// One buyer with the answer to the raced request. Each asks for one unit.
#[derive(Clone, Debug)]
pub struct Told {
    /// What stands in an order for this buyer.
    pub buyer: String,
    /// What the answer means.
    pub kind: ResponseKind,
    /// When the request was sent.
    pub sent: Instant,
    /// When the answer was there.
    pub ended: Instant,
}

/// The orders of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Orders {
    /// The buyer and the units of each.
    Tied(Vec<(String, i64)>),
    /// The units of all. Which buyer has which order is not known.
    Counted(i64),
    /// They are not read: what buyers were told stands for them.
    NotRead,
}

impl Orders {
    /// Returns those that were not there before.
    pub fn since(self, before: &Self) -> Self {
        match (before, self) {
            (Self::Tied(before), Self::Tied(mut after)) => {
                let mut old: HashMap<_, usize> = HashMap::new();
                for order in before {
                    *old.entry(order).or_default() += 1;
                }
                after.retain(|order| match old.get_mut(order) {
                    Some(times) if *times > 0 => {
                        *times -= 1;
                        false
                    }
                    _ => true,
                });
                Self::Tied(after)
            }
            (Self::Counted(before), Self::Counted(after)) => Self::Counted(after - before),
            (_, after) => after,
        }
    }
}

/// The facts of one item of a round.
#[derive(Clone, Debug)]
pub struct ItemSold {
    /// Its name; empty where there is one item.
    pub name: String,
    /// The units that are left.
    pub left: i64,
    /// The orders.
    pub orders: Orders,
}

/// The facts of a round.
#[derive(Clone, Debug)]
pub struct Sold {
    /// The units of each item that were for sale.
    pub stock: i64,
    /// Whether the raced buyers were released at one moment.
    pub is_race: bool,
    /// The raced buyers.
    pub raced: Vec<Told>,
    /// The buyers that came one at a time afterwards.
    pub later: Vec<Told>,
    /// The items of which each purchase takes one unit.
    pub items: Vec<ItemSold>,
    /// The fault, if one was done to the shop.
    pub fault: Option<FaultSeen>,
}

impl Sold {
    /// Returns the verdict of the audit on one of the items.
    pub fn judged(&self, item: &ItemSold) -> Judgement {
        let expected = Expectation {
            stock: self.stock,
            quantity: 1,
            contended: self.is_race,
            instances: 0,
            fault: self.fault,
            absent: Vec::new(),
            is_atomic: false,
            failed_looks: Vec::new(),
        };
        let responses = Responses {
            attack: self.raced.iter().map(response).collect(),
            follow_up: self.later.iter().map(response).collect(),
            ..Responses::default()
        };
        let observation = Observation {
            begun: Instant::now(),
            at_rest: true,
            facts: Facts {
                stock_left: Some(item.left),
                orders: self.ledger(&item.orders),
                ..Facts::default()
            },
        };
        judge(&expected, &responses, &[observation])
    }

    /// Returns the orders as the audit compares them. Those that no one is tied to belong first to the buyers that were told
    /// sold, then to those that were told nothing.
    fn ledger(&self, orders: &Orders) -> Vec<Order> {
        let told = |kind| {
            let all = self.raced.iter().chain(&self.later);
            all.filter(move |told| told.kind == kind).map(|told| told.buyer.clone())
        };
        let sold = told(ResponseKind::Sold);
        match orders {
            Orders::Tied(rows) => rows.iter().map(|(buyer, units)| order(buyer.clone(), *units)).collect(),
            Orders::NotRead => sold.map(|buyer| order(buyer, 1)).collect(),
            Orders::Counted(units) => {
                let units = usize::try_from(*units).unwrap_or_default();
                let others = (1..).map(|number| format!("order {number}"));
                let owners = sold.chain(told(ResponseKind::Unknown)).chain(others);
                owners.take(units).map(|buyer| order(buyer, 1)).collect()
            }
        }
    }
}

fn order(buyer: String, quantity: i64) -> Order {
    Order {
        id: buyer.clone(),
        quantity,
        key: Some(buyer.clone()),
        buyer: Some(buyer),
    }
}

fn response(told: &Told) -> Response {
    let Told {
        buyer,
        kind,
        sent,
        ended,
    } = told.clone();
    Response {
        number: 0,
        key: buyer.clone(),
        quantity: 1,
        kind,
        order: (kind == ResponseKind::Sold).then(|| buyer.clone()),
        buyer,
        instance: None,
        intended: sent,
        sent,
        ended,
        hung_up: false,
        sent_again: false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use loadtest::audit::Verdict;

    use super::*;

    fn told(kinds: &[ResponseKind]) -> Vec<Told> {
        let sent = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
        let told = kinds.iter().zip(1..).map(|(kind, number)| Told {
            buyer: format!("b-{number}"),
            kind: *kind,
            sent,
            ended: sent + Duration::from_millis(1),
        });
        told.collect()
    }

    fn tied(buyers: &[usize]) -> Orders {
        Orders::Tied(buyers.iter().map(|number| (format!("b-{number}"), 1)).collect())
    }

    fn found(kinds: &[ResponseKind], left: i64, orders: Orders) -> (Verdict, Vec<(&'static str, i64)>) {
        let sold = Sold {
            stock: 2,
            is_race: kinds.len() > 1,
            raced: told(kinds),
            later: Vec::new(),
            items: Vec::new(),
            fault: None,
        };
        let name = String::new();
        let judgement = sold.judged(&ItemSold { name, left, orders });
        (judgement.verdict, judgement.findings.named())
    }

    #[test]
    fn a_round_is_judged_by_what_buyers_were_told_and_by_stock_and_orders() {
        use ResponseKind::{Sold, SoldOut, Unknown};
        let three = [Sold, Sold, SoldOut];
        assert_eq!(found(&three, 0, tied(&[1, 2])), (Verdict::Holds, vec![]));
        assert_eq!(found(&three, 0, Orders::Counted(2)), (Verdict::Holds, vec![]));
        assert_eq!(found(&three, 0, Orders::NotRead), (Verdict::Holds, vec![]));
        for (kinds, left, orders, expected) in [
            ([Sold; 3], 0, tied(&[1, 2, 3]), vec![("oversold", 1), ("drift", -1)]),
            ([Sold; 3], 0, Orders::Counted(3), vec![("oversold", 1), ("drift", -1)]),
            ([Sold; 3], -1, Orders::NotRead, vec![("oversold", 1)]),
            (three, 0, tied(&[1, 3]), vec![("lost", 1), ("ghost", 1)]),
            (
                three,
                0,
                tied(&[1, 2, 2]),
                vec![("oversold", 1), ("duplicate", 1), ("drift", -1)],
            ),
            (three, 0, Orders::Counted(1), vec![("lost", 1), ("drift", 1)]),
            ([Sold, SoldOut, SoldOut], 1, tied(&[1]), vec![("undersold", 1)]),
        ] {
            assert_eq!(found(&kinds, left, orders), (Verdict::Violated, expected), "{kinds:?}");
        }
        let silent = [Sold, Unknown, SoldOut];
        assert_eq!(found(&silent, 0, tied(&[1, 2])).0, Verdict::Inconclusive);
        assert_eq!(found(&silent, 0, Orders::Counted(2)).0, Verdict::Inconclusive);
    }
}
