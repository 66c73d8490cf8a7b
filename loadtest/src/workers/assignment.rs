//! A worker's part of a round, as it goes over the wire.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::attack::end_of_numbers;
use crate::sale::sale_set::SaleSet;
use crate::sale::{Load, Names};
use crate::trust::Trust;

/// The purchases of one worker in one round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The id under which its responses are reported.
    pub id: Uuid,
    /// Base URL of the public listener.
    pub host: String,
    /// The certificates that are trusted, as by the run.
    pub trust: Trust,
    /// The strategy, `mechanism@store`.
    pub strategy: String,
    /// The items; purchases go to them in turn.
    pub items: Vec<String>,
    /// The names of the run, so that its repeats of a purchase have the key and the buyer of the worker.
    pub names: Names,
    /// The number of its first purchase.
    pub first: usize,
    /// Its part of the round's load.
    pub load: Load,
}

/// Splits a round among that many workers, or among fewer if there are fewer buyers. Together they send the purchases
/// of the round.
pub fn split(sale_set: &SaleSet, workers: usize) -> Vec<Assignment> {
    let Load { buyers, requests, .. } = sale_set.load;
    let workers = workers.min(buyers).max(1);
    // The first workers take the remainder.
    let part = |whole: usize, place: usize| whole / workers + usize::from(place < whole % workers);
    let largest = Load {
        buyers: part(buyers, 0),
        requests: part(requests, 0),
        ..sale_set.load
    };
    // Buyers that were all told busy return with further numbers.
    let stride = end_of_numbers(&largest);
    let assignment = |place| Assignment {
        id: Uuid::new_v4(),
        host: sale_set.client.at.host.clone(),
        trust: sale_set.client.at.trust.clone(),
        strategy: sale_set.strategy.name.clone(),
        items: sale_set.sales.iter().map(|sale| sale.item.clone()).collect(),
        names: sale_set.names,
        first: place * stride,
        load: Load {
            buyers: part(buyers, place),
            requests: part(requests, place),
            ..sale_set.load
        },
    };
    (0..workers).map(assignment).collect()
}
