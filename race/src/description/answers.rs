//! What the answers to the raced request mean.

use std::collections::BTreeMap;
use std::fmt;

use loadtest::shop::response::ResponseKind;
use serde::Deserialize as Derived;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::json::Pointer;
use super::step::Statuses;

/// The answers of the shop to the raced request. An answer that is none of these says nothing.
#[derive(Debug, Derived)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// The buyer has the units.
    pub sold: Rules,
    /// Too few units are left.
    pub sold_out: Rules,
    /// Not now, and nothing was sold.
    pub busy: Option<Rules>,
}

/// One rule or several, of which one is to be met.
#[derive(Debug)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// Returns whether an answer meets one of them.
    pub fn are_met_by(&self, answer: &Answer) -> bool {
        self.0.iter().any(|rule| rule.is_met_by(answer))
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RulesVisitor)
    }
}

struct RulesVisitor;

impl<'de> Visitor<'de> for RulesVisitor {
    type Value = Rules;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what an answer has to be, or a list of that")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Rules, A::Error> {
        Ok(Rules(vec![Rule::deserialize(MapAccessDeserializer::new(fields))?]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Rules, A::Error> {
        let mut rules = Vec::new();
        while let Some(rule) = list.next_element()? {
            rules.push(rule);
        }
        Ok(Rules(rules))
    }
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
    /// The path to which it leads, or one above it.
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

impl Answer {
    /// Returns whether its `Location` is that path, with or without a host, or a path below it.
    fn leads_to(&self, path: &str) -> bool {
        let Some(location) = self.location.as_deref() else {
            return false;
        };
        let after_host = location
            .split_once("://")
            .map(|(_, rest)| rest.find('/').map_or("", |at| &rest[at..]));
        let Some(rest) = after_host.unwrap_or(location).strip_prefix(path) else {
            return false;
        };
        rest.is_empty() || path.ends_with('/') || rest.starts_with(['/', '?', '#'])
    }
}

impl Rule {
    fn is_met_by(&self, answer: &Answer) -> bool {
        let of_json = || {
            let body: Option<Value> = serde_json::from_str(&answer.body).ok();
            let at = |pointer: &Pointer| body.as_ref().and_then(|body| body.pointer(&pointer.to_string()));
            self.json.iter().all(|(pointer, value)| at(pointer) == Some(value))
        };
        self.status.as_ref().is_none_or(|status| status.contain(answer.status))
            && self
                .text
                .as_ref()
                .is_none_or(|part| answer.body.contains(part.as_str()))
            && self.location.as_ref().is_none_or(|path| answer.leads_to(path))
            && (self.json.is_empty() || of_json())
    }
}

impl Answers {
    /// Returns what an answer means.
    pub fn kind(&self, answer: &Answer) -> ResponseKind {
        if self.sold.are_met_by(answer) {
            ResponseKind::Sold
        } else if self.sold_out.are_met_by(answer) {
            ResponseKind::SoldOut
        } else if self.busy.as_ref().is_some_and(|busy| busy.are_met_by(answer)) {
            ResponseKind::Busy
        } else {
            ResponseKind::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_leads_to_a_path_and_to_what_lies_below_it() {
        let leads = |location: &str, path: &str| {
            let answer = Answer {
                status: 302,
                location: Some(location.to_owned()),
                body: String::new(),
            };
            answer.leads_to(path)
        };
        for location in [
            "/thanks",
            "/thanks/12",
            "/thanks?order=1",
            "http://127.0.0.1:80/thanks#x",
            "https://a/thanks",
        ] {
            assert!(leads(location, "/thanks"), "{location}");
        }
        for location in ["/thanks-not", "/no/thanks", "", "http://a", "/than"] {
            assert!(!leads(location, "/thanks"), "{location}");
        }
        assert!(leads("/orders/12", "/orders/") && leads("/", "/"));
    }
}
