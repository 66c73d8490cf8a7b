//! The strategies of a shop, checked before anything else is asked of it.

use anyhow::{Result, anyhow, ensure};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::facts::StorePair;
use crate::text::{MAX_NAME, is_name, one_line, why_unreadable};

/// The most strategies of a shop: each of them is played in every trial.
pub const MAX_STRATEGIES: usize = 500;

/// The most characters of a reason why a strategy cannot be used.
const MAX_REASON: usize = 200;

/// A strategy as the shop's catalogue describes it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Strategy {
    /// `mechanism@store`.
    pub name: String,
    /// The stores of its stock and orders: `redis`, `sql`, or two with a `+` between them.
    pub store: StorePair,
    /// Names of the threats that it promises to survive.
    pub claims: Vec<String>,
    /// Names of the threats that break it. A threat in none of the three lists is undeclared: nothing is expected of it.
    #[serde(default)]
    pub broken_by: Vec<String>,
    /// Names of the threats that break it now and then. Both outcomes agree with that.
    #[serde(default)]
    pub sometimes_broken_by: Vec<String>,
    /// The step at which a fault strikes it; the write, unless the shop names a weaker step.
    #[serde(default = "write")]
    pub weak_at: String,
    /// The step at which a pause strikes it; the write, unless the shop names a weaker step.
    #[serde(default = "write")]
    pub pause_at: String,
    /// The step before which stock is taken and the order is not entered yet, if these are two steps.
    #[serde(default)]
    pub record_at: Option<String>,
    /// The steps that it can take, if the shop lists them.
    #[serde(default, deserialize_with = "names")]
    pub steps: Vec<String>,
    /// The steps by which a background worker looks for what purchases have left, if the shop names them.
    #[serde(default, deserialize_with = "names")]
    pub worker_steps: Vec<String>,
    /// The services that it uses, if the shop names them. Some shops may use this field for something else.
    #[serde(default, deserialize_with = "names")]
    pub needs: Vec<String>,
    /// The kind of its mechanism, if the shop names it.
    #[serde(default)]
    pub family: Option<String>,
    /// How long its lock lasts without renewal, in milliseconds, if the shop says so.
    #[serde(default, deserialize_with = "number")]
    pub lease_ms: Option<u64>,
    /// The reason why the shop cannot use it now, if there is one.
    #[serde(default)]
    pub missing: Option<String>,
}

fn write() -> String {
    "write".to_owned()
}

fn names<'de, D: Deserializer<'de>>(read: D) -> Result<Vec<String>, D::Error> {
    let value = Value::deserialize(read)?;
    let names = value.as_array().into_iter().flatten();
    Ok(names.filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Reads a number. Some shops may use the field for something else.
fn number<'de, D: Deserializer<'de>>(read: D) -> Result<Option<u64>, D::Error> {
    Ok(Value::deserialize(read)?.as_u64())
}

impl Strategy {
    /// Returns the first half of its name.
    pub fn mechanism(&self) -> &str {
        self.name.split('@').next().unwrap_or(&self.name)
    }

    /// Returns its family, or its mechanism if the shop names no families.
    pub fn family(&self) -> &str {
        self.family.as_deref().unwrap_or(self.mechanism())
    }
}

/// Reads a catalogue.
///
/// # Errors
/// When it is not a catalogue, is empty or too long, or names a strategy twice or with invalid characters.
pub fn parse(json: &[u8]) -> Result<Vec<Strategy>> {
    let not_a_catalogue = |error: serde_json::Error| anyhow!("it is not a catalogue: {}", why_unreadable(&error));
    let mut strategies: Vec<Strategy> = serde_json::from_slice(json).map_err(not_a_catalogue)?;
    ensure!(!strategies.is_empty(), "it names no strategy");
    ensure!(
        strategies.len() <= MAX_STRATEGIES,
        "it names {} strategies; at most {MAX_STRATEGIES} can be tried",
        strategies.len()
    );
    for (nth, strategy) in strategies.iter().enumerate() {
        let name = &strategy.name;
        ensure!(
            is_name(name),
            "\"{}\" is not a valid name: 1 to {MAX_NAME} characters of A-Z a-z 0-9 . _ + @ -",
            one_line(name, MAX_NAME)
        );
        let steps = [&strategy.weak_at, &strategy.pause_at].into_iter();
        for step in steps.chain(&strategy.record_at).chain(&strategy.steps) {
            ensure!(
                is_step(step),
                "\"{}\" is not a valid step of {name}: a to z and -, with an optional + at the end",
                one_line(step, MAX_NAME)
            );
        }
        ensure!(
            strategies[..nth].iter().all(|other| other.name != *name),
            "it names {name} twice"
        );
    }
    for strategy in &mut strategies {
        strategy.family = strategy.family.as_deref().map(|family| one_line(family, MAX_NAME));
        strategy.missing = strategy.missing.as_deref().map(|why| match one_line(why, MAX_REASON) {
            why if why.trim().is_empty() => "it gives no reason".to_owned(),
            why => why,
        });
    }
    Ok(strategies)
}

/// Returns whether a text is a step's name, as a fault takes it. With a `+` the fault comes after the step.
fn is_step(text: &str) -> bool {
    let name = text.strip_suffix('+').unwrap_or(text);
    let plain = |c: u8| c.is_ascii_lowercase() || c == b'-';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain)
}
