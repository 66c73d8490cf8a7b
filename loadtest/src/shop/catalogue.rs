//! What is on trial: the strategies that a shop names, checked before anything else is asked of it.

use anyhow::{Result, anyhow, ensure};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::facts::StorePair;
use crate::text::{MAX_NAME, is_name, one_line};

/// The most strategies a shop may name: each of them is played in every trial.
pub const MAX_STRATEGIES: usize = 500;

/// The most that is shown of why a strategy cannot be used, in characters.
const MAX_REASON: usize = 200;

/// A strategy as the shop's catalogue describes it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Strategy {
    /// `mechanism@store`.
    pub name: String,
    /// Where its stock and orders are: `redis`, `sql`, or two with a `+` between them.
    pub store: StorePair,
    /// Names of the threats it promises to survive.
    pub claims: Vec<String>,
    /// Names of the threats that break it. A threat in none of the three lists is undeclared: nothing is expected of it.
    #[serde(default)]
    pub broken_by: Vec<String>,
    /// Names of the threats that break it now and then: neither outcome is against what it says.
    #[serde(default)]
    pub sometimes_broken_by: Vec<String>,
    /// The step at which a fault strikes it, where the shop names a weaker one than the write.
    #[serde(default = "write")]
    pub weak_at: String,
    /// The step at which a pause strikes it, where the shop names a weaker one than the write.
    #[serde(default = "write")]
    pub pause_at: String,
    /// The step before which stock was taken and the order is not entered yet, where these are two.
    #[serde(default)]
    pub record_at: Option<String>,
    /// The steps that it can take, where the shop lists them.
    #[serde(default, deserialize_with = "names")]
    pub steps: Vec<String>,
    /// The services that it uses, where the shop says so by their names. Some shops may mean something else by it.
    #[serde(default, deserialize_with = "names")]
    pub needs: Vec<String>,
    /// By what kind of mechanism it decides, where the shop says so.
    #[serde(default)]
    pub family: Option<String>,
    /// Why the shop cannot use it as it runs now, if it cannot.
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

impl Strategy {
    /// The first half of its name.
    pub fn mechanism(&self) -> &str {
        self.name.split('@').next().unwrap_or(&self.name)
    }

    /// Its family, or its mechanism where the shop names no families.
    pub fn family(&self) -> &str {
        self.family.as_deref().unwrap_or(self.mechanism())
    }
}

/// Reads a catalogue.
///
/// # Errors
/// When it is no catalogue, is empty or too long, or names a strategy twice or with characters that no name has.
pub fn parse(json: &[u8]) -> Result<Vec<Strategy>> {
    // What cannot be read is quoted in the error.
    let no_catalogue = |error: serde_json::Error| anyhow!("it is no catalogue: {}", one_line(&error.to_string(), 200));
    let mut strategies: Vec<Strategy> = serde_json::from_slice(json).map_err(no_catalogue)?;
    ensure!(!strategies.is_empty(), "it names no strategy");
    ensure!(
        strategies.len() <= MAX_STRATEGIES,
        "it names {} strategies; at most {MAX_STRATEGIES} can be tried",
        strategies.len()
    );
    for (place, strategy) in strategies.iter().enumerate() {
        let name = &strategy.name;
        ensure!(
            is_name(name),
            "\"{}\" is no name: 1 to {MAX_NAME} characters of A-Z a-z 0-9 . _ + @ -",
            one_line(name, MAX_NAME)
        );
        let steps = [&strategy.weak_at, &strategy.pause_at].into_iter();
        for step in steps.chain(&strategy.record_at).chain(&strategy.steps) {
            ensure!(
                is_step(step),
                "\"{}\" is no step of {name}: a to z and -, and perhaps a + behind",
                one_line(step, MAX_NAME)
            );
        }
        ensure!(
            strategies[..place].iter().all(|other| other.name != *name),
            "it names {name} twice"
        );
    }
    for strategy in &mut strategies {
        strategy.family = strategy.family.as_deref().map(|family| one_line(family, MAX_NAME));
        strategy.missing = strategy.missing.as_deref().map(|why| one_line(why, MAX_REASON));
    }
    Ok(strategies)
}

/// A step's name, as a fault takes it: with a `+` the fault comes after it.
fn is_step(text: &str) -> bool {
    let name = text.strip_suffix('+').unwrap_or(text);
    let plain = |c: u8| c.is_ascii_lowercase() || c == b'-';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain)
}
