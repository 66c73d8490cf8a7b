//! A visitor's request for a run.

use app::strategies::Entry;
use clap::Parser;
use loadtest::threats;
use serde::Deserialize;

use crate::options::{Command, Options, RunOptions};

/// The most units, items and buyers of a run on the page: it is watched, not measured.
const MOST_STOCK: i64 = 10_000;
const MOST_ITEMS: i64 = 100;
const MOST_BUYERS: u64 = 200;

/// Business time between read and write, in ms: long enough for an eye to follow.
const WORK_MS: u64 = 10;

/// A run of two strategies under one threat.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// The strategies of both sides.
    pub strategies: [String; 2],
    /// The threat.
    pub threat: String,
    /// The number of instances.
    pub instances: u8,
    /// Buyers at once.
    pub buyers: u64,
    /// Items that are sold at once.
    pub items: i64,
    /// Units for sale of each item.
    pub stock: i64,
    /// Whether the second side begins when the first one is over, so that their speeds can be compared.
    pub in_turn: bool,
}

impl RunRequest {
    /// Returns the command line of one side. `oversell run` with the same words plays the same.
    pub fn command(&self, place: usize) -> Vec<String> {
        let strategy = &self.strategies[place];
        let units = self.all_stock().unsigned_abs();
        let requests = units.saturating_mul(3).div_ceil(2).max(self.buyers);
        let words = format!(
            "oversell run --strategy {strategy} --threat {} --instances {} --buyers {} --requests {requests} --items {} \
             --stock {} --work-ms {WORK_MS} --repeat 1 --quiet",
            self.threat, self.instances, self.buyers, self.items, self.stock
        );
        words.split(' ').map(str::to_owned).collect()
    }

    /// Returns the units for sale of all items.
    pub fn all_stock(&self) -> i64 {
        self.stock.saturating_mul(self.items)
    }

    /// Returns the options of one side.
    ///
    /// # Errors
    /// In one sentence, when it cannot be played.
    pub fn options(&self, place: usize) -> Result<RunOptions, String> {
        let strategy = &self.strategies[place];
        if !Entry::all().iter().any(|entry| entry.name == *strategy) {
            return Err("there is no such strategy".to_owned());
        }
        let threat = threats::all().iter().find(|threat| threat.name == self.threat);
        let threat = threat.ok_or("there is no such threat")?;
        if threat.instances_of(&[self.instances.into()]).is_empty() {
            return Err(format!("{} is not played on {} instances", threat.name, self.instances));
        }
        let is_small = (1..=MOST_ITEMS).contains(&self.items)
            && (1..=MOST_STOCK).contains(&self.stock)
            && self.all_stock() <= MOST_STOCK;
        if !is_small || !(1..=MOST_BUYERS).contains(&self.buyers) {
            return Err(format!(
                "a run on this page has 1 to {MOST_BUYERS} buyers, 1 to {MOST_ITEMS} items, and 1 to {MOST_STOCK} units"
            ));
        }
        let parsed = Options::try_parse_from(self.command(place)).map_err(|error| error.to_string())?;
        match parsed.command() {
            Command::Run(options) => Ok(*options),
            _ => Err("it is no run".to_owned()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use super::*;

    fn request() -> RunRequest {
        RunRequest {
            strategies: ["none@redis".to_owned(), "token@redis".to_owned()],
            threat: "crowd".to_owned(),
            instances: 1,
            buyers: 8,
            items: 1,
            stock: 4,
            in_turn: false,
        }
    }

    #[test]
    fn a_request_becomes_the_options_of_a_run() {
        let options = request().options(1).unwrap();
        assert_eq!(options.strategy, ["token@redis"]);
        assert_eq!((options.stock, options.requests, options.buyers), (4, 8, Some(8)));
    }

    #[test]
    fn purchases_of_several_items_want_more_than_there_is_of_all() {
        let request = RunRequest { items: 16, ..request() };
        let options = request.options(0).unwrap();
        assert_eq!((options.items, options.stock, options.requests), (16, 4, 96));
    }

    #[test]
    fn what_cannot_be_played_is_refused_with_a_reason() {
        type Change = fn(&mut RunRequest);
        let wrong: [(Change, &str); 8] = [
            (
                |request| request.strategies[0] = "*@redis".to_owned(),
                "no such strategy",
            ),
            (
                |request| request.strategies[0] = "none@redis --all".to_owned(),
                "no such strategy",
            ),
            (
                |request| request.threat = "crowd,one-buyer".to_owned(),
                "no such threat",
            ),
            (|request| request.instances = 2, "not played on 2 instances"),
            (|request| request.stock = i64::MIN, "1 to 10000 units"),
            (|request| request.buyers = 0, "1 to 200 buyers"),
            (|request| request.buyers = u64::MAX, "1 to 200 buyers"),
            (
                |request| (request.items, request.stock) = (100, 101),
                "1 to 10000 units",
            ),
        ];
        for (change, why) in wrong {
            let mut request = request();
            change(&mut request);
            let refused = request.options(0).err().unwrap();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
