//! The numbers under which purchases arrive, each at its instance.

use app::domain::{BadName, Name};

/// The most instances.
pub const INSTANCES: usize = 2;

/// The arrivals of a schedule of so many purchases. First come the purchases, numbered from 0, then the second arrival of
/// each, and then a later buyer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// The number of purchases.
    pub purchases: usize,
    /// The number of instances: one or two. Purchases are spread over them in turn.
    pub instances: usize,
}

impl Arrivals {
    /// Returns the units of the sale: one less than there are purchases.
    pub fn units(self) -> i64 {
        self.purchases as i64 - 1
    }

    /// Returns the number of the second arrival of a purchase.
    pub fn again(self, purchase: usize) -> usize {
        self.purchases + purchase
    }

    /// Returns whether a purchase arrives a second time under this number.
    pub fn is_second(self, number: usize) -> bool {
        (self.again(0)..self.later()).contains(&number)
    }

    /// Returns the number of the later buyer.
    pub fn later(self) -> usize {
        self.again(self.purchases)
    }

    /// Returns how many numbers there are.
    pub fn count(self) -> usize {
        self.later() + 1
    }

    /// Returns the purchase that arrives under this number. That of the later buyer comes after all others.
    pub fn purchase(self, number: usize) -> usize {
        if number < self.purchases {
            number
        } else {
            number - self.purchases
        }
    }

    /// Returns the instance, from 0. A second arrival is at the other instance, so that there is none where only one instance
    /// is.
    pub fn instance(self, number: usize) -> usize {
        (self.purchase(number) + usize::from(self.is_second(number))) % self.instances
    }

    /// Returns the buyer.
    ///
    /// # Errors
    /// None that is known.
    pub fn buyer(self, number: usize) -> Result<Name, BadName> {
        Name::parse(&format!("buyer-{}", self.purchase(number)))
    }

    /// Returns the words for it in a schedule: A is the first purchase.
    pub fn called(self, number: usize) -> String {
        let purchase = ["A", "B", "C"].get(self.purchase(number)).unwrap_or(&"?");
        let again = if self.is_second(number) { " again" } else { "" };
        format!("{purchase}{again}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn buyer_and_instance_tell_all_arrivals_apart() {
        for purchases in [2, 3] {
            let arrivals = Arrivals {
                purchases,
                instances: INSTANCES,
            };
            let numbers = 0..arrivals.count();
            let known = numbers.map(|number| (arrivals.purchase(number), arrivals.instance(number)));
            assert_eq!(known.collect::<BTreeSet<_>>().len(), arrivals.count());
        }
    }
}
