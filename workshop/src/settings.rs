//! What is played in a lab: the TOML in the comment at the top of its English page.

use serde::Deserialize;

/// The settings of a lab.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How long a learner needs, in minutes.
    pub minutes: u32,
    /// Whether the lab belongs to the short path of 90 minutes as well.
    #[serde(default)]
    pub is_short: bool,
    /// The letter of the right answer.
    pub right: char,
    /// The run; `None` where the page is followed by hand.
    pub play: Option<Play>,
    /// The schedule that a learner looks for, step by step.
    pub schedule: Option<Schedule>,
}

/// A run: which strategies fail, and which hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Play {
    /// The threats.
    pub threats: Vec<String>,
    /// The number of instances.
    pub instances: u8,
    /// Further threats, under which all of the strategies hold.
    #[serde(default)]
    pub survived: Vec<String>,
    /// The strategies that fail under each of the threats.
    #[serde(default)]
    pub breaks: Vec<String>,
    /// What is found then, such as `oversold` or `stuck`.
    pub finds: Option<String>,
    /// The strategies that hold under each of the threats.
    #[serde(default)]
    pub holds: Vec<String>,
    /// The strategies of whose rounds nothing follows.
    #[serde(default)]
    pub undecided: Vec<String>,
    /// The strategy that is much slower than another one.
    pub slower: Option<Slower>,
    /// The number of items, if it is not one.
    pub items: Option<u32>,
    /// The number of buyers at once, if it is not the usual one.
    pub buyers: Option<u32>,
}

/// Two strategies that hold, one of which sells far less in a second.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slower {
    /// The slow one.
    pub strategy: String,
    /// The fast one.
    pub than: String,
    /// How many times as many units the fast one sells in a second, at least.
    pub times: f64,
}

/// A search among the interleavings of a few purchases.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The strategy.
    pub strategy: String,
    /// The kind of event that may happen once; `None` for none.
    pub event: Option<String>,
    /// The number of purchases among which a learner chooses.
    #[serde(default = "two")]
    pub purchases: u8,
    /// The number of instances.
    #[serde(default = "two")]
    pub instances: u8,
}

fn two() -> u8 {
    2
}

impl Play {
    /// Returns all strategies, in the order in which a run names them.
    pub fn strategies(&self) -> Vec<&str> {
        let all = self.breaks.iter().chain(&self.undecided).chain(&self.holds);
        let slower = self.slower.iter().flat_map(|slower| [&slower.strategy, &slower.than]);
        let mut strategies: Vec<&str> = Vec::new();
        for strategy in all.chain(slower) {
            if !strategies.contains(&strategy.as_str()) {
                strategies.push(strategy);
            }
        }
        strategies
    }

    /// Returns all threats, in the order in which a run names them.
    pub fn all_threats(&self) -> Vec<&str> {
        self.threats.iter().chain(&self.survived).map(String::as_str).collect()
    }

    /// Returns the options of `oversell run` for these strategies.
    pub fn options(&self, strategies: &[&str]) -> Vec<String> {
        let mut options = vec!["--strategy".to_owned(), strategies.join(",")];
        options.extend(["--threat".to_owned(), self.all_threats().join(",")]);
        options.extend(["--instances".to_owned(), self.instances.to_string()]);
        for (name, number) in [("--items", self.items), ("--buyers", self.buyers)] {
            options.extend(
                number
                    .into_iter()
                    .flat_map(|number| [name.to_owned(), number.to_string()]),
            );
        }
        options
    }
}

impl Schedule {
    /// The most preemptions of a search: the shortest schedule of no lab has more.
    pub const PREEMPTIONS: usize = 1;

    /// Returns the arguments of `oversell explore`.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![self.strategy.clone()];
        match &self.event {
            Some(event) => arguments.extend(["--event".to_owned(), event.clone()]),
            None => arguments.extend(["--events".to_owned(), "0".to_owned()]),
        }
        for (name, number) in [("--purchases", self.purchases), ("--instances", self.instances)] {
            if number != two() {
                arguments.extend([name.to_owned(), number.to_string()]);
            }
        }
        arguments
    }

    /// Returns the same with two purchases, for a search: they are enough to break a promise, and three have so many schedules that
    /// it would take minutes.
    #[must_use]
    pub fn of_two(&self) -> Self {
        Self {
            purchases: two(),
            ..self.clone()
        }
    }

    /// Returns the arguments of `oversell explore` that search for the shortest schedule that breaks a promise.
    pub fn search(&self) -> Vec<String> {
        let mut arguments = self.of_two().arguments();
        arguments.extend(["--preemptions".to_owned(), Self::PREEMPTIONS.to_string()]);
        arguments
    }
}
