//! A worker's share of a round, as it goes over the wire.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::attack::most_purchases;
use crate::load::Load;
use crate::market::Market;

/// What one worker buys in one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
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
pub fn shares(market: &Market, workers: usize) -> Vec<Share> {
    let Load { buyers, requests, .. } = market.load;
    let workers = workers.min(buyers).max(1);
    // The first ones take what cannot be divided.
    let part = |whole: usize, place: usize| whole / workers + usize::from(place < whole % workers);
    let largest = Load {
        buyers: part(buyers, 0),
        requests: part(requests, 0),
        ..market.load
    };
    // Buyers who were all told to wait come back, with numbers of their own.
    let stride = most_purchases(&largest);
    let share = |place| Share {
        id: Uuid::new_v4(),
        host: market.client.at.host.clone(),
        strategy: market.strategy.name.clone(),
        items: market.sales.iter().map(|sale| sale.item.clone()).collect(),
        first: place * stride,
        load: Load {
            buyers: part(buyers, place),
            requests: part(requests, place),
            ..market.load
        },
    };
    (0..workers).map(share).collect()
}
