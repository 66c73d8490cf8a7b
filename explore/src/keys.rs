//! The objects of steps, and the purchase to which each of them belongs.

use std::collections::HashMap;

use app::probe::Attempt;

/// The objects that the steps of purchases were about.
#[derive(Default)]
pub struct Keys(HashMap<String, Owner>);

struct Owner {
    order: String,
    /// The arrival; `None` where purchases of several orders used the object.
    arrival: Option<usize>,
}

impl Keys {
    /// Notes that an arrival takes a step about this object.
    pub fn note(&mut self, arrival: usize, attempt: &Attempt, key: String) {
        for key in [attempt.order.to_string(), key] {
            let order = attempt.order.to_string();
            let owner = self.0.entry(key).or_insert_with(|| Owner {
                order: order.clone(),
                arrival: Some(arrival),
            });
            // A second arrival has the same order.
            if owner.order != order {
                owner.arrival = None;
            }
        }
    }

    /// Returns the arrival that a step about this object concerns; `None` where it may be any.
    pub fn owner(&self, key: &str) -> Option<usize> {
        self.0.get(key)?.arrival
    }

    /// Forgets all objects.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
