//! What the answers to the raced request mean.

use std::collections::BTreeMap;

use loadtest::shop::response::ResponseKind;
use serde::Deserialize as Derived;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;

use super::json::Pointer;
use super::step::Statuses;

/// The answers of the shop to the raced request. An answer that is none of these says nothing.
#[derive(Debug, Derived)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// The buyer has the units.
    pub sold: Rule,
    /// Too few units are left.
    pub sold_out: Rule,
    /// Not now, and nothing was sold.
    pub busy: Option<Rule>,
}

/// What an answer has to be, all of it.
#[derive(Debug, Derived)]
#[serde(deny_unknown_fields)]
struct Fields {
    status: Option<Statuses>,
    /// Values in the body, by their JSON Pointers.
    #[serde(default)]
    json: BTreeMap<String, Value>,
    /// A part of the body.
    text: Option<String>,
    /// A part of the header `Location`.
    location: Option<String>,
}

/// What an answer has to be, all of it. At least one thing is named.
#[derive(Debug)]
pub struct Rule {
    status: Option<Statuses>,
    json: Vec<(Pointer, Value)>,
    text: Option<String>,
    location: Option<String>,
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        let json = fields.json.into_iter().map(|(pointer, value)| {
            let pointer = Pointer::deserialize(serde::de::value::StringDeserializer::<D::Error>::new(pointer))?;
            Ok((pointer, value))
        });
        let rule = Self {
            status: fields.status,
            json: json.collect::<Result<_, D::Error>>()?,
            text: fields.text,
            location: fields.location,
        };
        let is_empty = rule.status.is_none() && rule.json.is_empty() && rule.text.is_none() && rule.location.is_none();
        if is_empty {
            return Err(D::Error::custom(
                "an answer is known by its status, json, text or location",
            ));
        }
        Ok(rule)
    }
}

/// An answer of the shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The header `Location`.
    pub location: Option<String>,
    /// The body.
    pub body: String,
}

impl Rule {
    fn is_met_by(&self, answer: &Answer) -> bool {
        let has = |part: &Option<String>, text: &str| part.as_ref().is_none_or(|part| text.contains(part.as_str()));
        let of_json = || {
            let body: Option<Value> = serde_json::from_str(&answer.body).ok();
            let at = |pointer: &Pointer| body.as_ref().and_then(|body| body.pointer(&pointer.to_string()));
            self.json.iter().all(|(pointer, value)| at(pointer) == Some(value))
        };
        self.status.as_ref().is_none_or(|status| status.contain(answer.status))
            && has(&self.text, &answer.body)
            && has(&self.location, answer.location.as_deref().unwrap_or_default())
            && (self.json.is_empty() || of_json())
    }
}

impl Answers {
    /// Returns what an answer means.
    pub fn kind(&self, answer: &Answer) -> ResponseKind {
        if self.sold.is_met_by(answer) {
            ResponseKind::Sold
        } else if self.sold_out.is_met_by(answer) {
            ResponseKind::SoldOut
        } else if self.busy.as_ref().is_some_and(|busy| busy.is_met_by(answer)) {
            ResponseKind::Busy
        } else {
            ResponseKind::Unknown
        }
    }
}
