//! A worker's share of a round, as it goes over the wire.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::attack::most_purchases;
use crate::sale::Load;
use crate::sale::sale_set::SaleSet;

/// What one worker buys in one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// By what its answers are known.
    pub id: Uuid,
    /// Base URL of the public listener.
    pub host: String,
    /// By which strategy, `mechanism@store`.
    pub strategy: String,
    /// What: its purchases go to the items in turn.
    pub items: Vec<String>,
    /// The number of its first purchase.
    pub first: usize,
    /// How much of the round's load is its own.
    pub load: Load,
}

/// The shares of so many workers, at most as many as there are buyers. Together they ask for what the round asks for.
pub fn shares(sale_set: &SaleSet, workers: usize) -> Vec<Assignment> {
    let Load { buyers, requests, .. } = sale_set.load;
    let workers = workers.min(buyers).max(1);
    // The first ones take what cannot be divided.
    let part = |whole: usize, place: usize| whole / workers + usize::from(place < whole % workers);
    let largest = Load {
        buyers: part(buyers, 0),
        requests: part(requests, 0),
        ..sale_set.load
    };
    // Buyers who were all told to wait come back, with numbers of their own.
    let stride = most_purchases(&largest);
    let assignment = |place| Assignment {
        id: Uuid::new_v4(),
        host: sale_set.client.at.host.clone(),
        strategy: sale_set.strategy.name.clone(),
        items: sale_set.sales.iter().map(|sale| sale.item.clone()).collect(),
        first: place * stride,
        load: Load {
            buyers: part(buyers, place),
            requests: part(requests, place),
            ..sale_set.load
        },
    };
    (0..workers).map(assignment).collect()
}
