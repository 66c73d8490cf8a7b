//! Decides which purchases of a batch are served.

use std::collections::HashMap;

use uuid::Uuid;

use crate::domain::{Order, Outcome, Purchase};

pub(in crate::strategies) struct Served<'a> {
    /// The outcome of each purchase, in the order of the batch.
    pub(in crate::strategies) outcomes: Vec<Outcome>,
    pub(super) sold: Vec<&'a Purchase>,
}

impl<'a> Served<'a> {
    /// Serves the purchases in order from `left` units, where the ledger holds `orders`. A purchase of more units than
    /// are left is refused, and a later, smaller one may still be served.
    pub(in crate::strategies) fn of(
        purchases: impl Iterator<Item = &'a Purchase>,
        mut left: i64,
        mut orders: HashMap<Uuid, Order>,
    ) -> Self {
        let (mut outcomes, mut sold) = (Vec::new(), Vec::new());
        for purchase in purchases {
            let quantity = i64::from(purchase.quantity);
            outcomes.push(if let Some(order) = orders.get(&purchase.order) {
                Outcome::Repeated(order.clone())
            } else if left < quantity {
                Outcome::SoldOut
            } else {
                left -= quantity;
                sold.push(purchase);
                orders.insert(purchase.order, order_of(purchase));
                Outcome::Sold { remaining: left }
            });
        }
        Self { outcomes, sold }
    }

    pub(super) fn units(&self) -> i64 {
        self.sold.iter().map(|purchase| i64::from(purchase.quantity)).sum()
    }
}

fn order_of(purchase: &Purchase) -> Order {
    Order {
        quantity: purchase.quantity,
        buyer: purchase.buyer.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Name;

    fn purchase(quantity: u32, key: &str) -> Purchase {
        let name = |text| Name::parse(text).unwrap();
        Purchase::new(name("sku"), quantity, name("b-1"), Some(name(key)))
    }

    #[test]
    fn as_many_as_can_be_are_served_in_order_and_each_order_is_made_once() {
        let batch = [(2, "a"), (9, "b"), (2, "a"), (4, "before"), (3, "c"), (1, "d")];
        let batch = batch.map(|(quantity, key)| purchase(quantity, key));
        let before = HashMap::from([(batch[3].order, order_of(&batch[3]))]);
        let served = Served::of(batch.iter(), 5, before);
        let expected = [
            Outcome::Sold { remaining: 3 },
            Outcome::SoldOut,
            Outcome::Repeated(order_of(&batch[0])),
            Outcome::Repeated(order_of(&batch[3])),
            Outcome::Sold { remaining: 0 },
            Outcome::SoldOut,
        ];
        assert_eq!((served.outcomes.as_slice(), served.units()), (&expected[..], 5));
        let sold: Vec<_> = served.sold.iter().map(|purchase| purchase.order).collect();
        assert_eq!(sold, [batch[0].order, batch[4].order]);
    }
}
