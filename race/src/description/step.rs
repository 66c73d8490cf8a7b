//! A request of a shop file, and the values that are taken from its answer.

use std::collections::BTreeMap;
use std::fmt;

use regex::{Regex, RegexBuilder};
use reqwest::Method;
use serde::Deserialize as Derived;
use serde::de::{Deserialize, Deserializer, Error};

use super::answers::{Answer, Rules};
use super::json::{Json, Pointer};
use super::template::{Template, Values};

/// The largest compiled regular expression, in bytes.
const MAX_PATTERN: usize = 1024 * 1024;

/// A request to the shop.
#[derive(Debug, Derived)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Method and path, such as `POST /buy`; or method and URL, where it goes to another port.
    pub request: RequestLine,
    /// Headers.
    #[serde(default)]
    pub headers: BTreeMap<String, Template>,
    /// The body as JSON.
    pub json: Option<Json>,
    /// The body as fields of a form.
    pub form: Option<BTreeMap<String, Field>>,
    /// The body as text.
    pub body: Option<Template>,
    /// The statuses that are a success; 200 to 399 where none is named.
    pub expect: Option<Statuses>,
    /// The answers by which a buyer learns here already that too few units are left.
    pub sold_out: Option<Rules>,
    /// The values that are taken from the answer, by their names.
    #[serde(default)]
    pub take: BTreeMap<String, Source>,
}

impl Step {
    /// Returns whether a buyer learns from this answer that too few units are left.
    pub(crate) fn tells_sold_out(&self, answer: &Answer) -> bool {
        self.sold_out.as_ref().is_some_and(|rules| rules.are_met_by(answer))
    }

    /// Creates a request that changes nothing.
    pub(crate) fn reading(request: RequestLine, headers: BTreeMap<String, Template>) -> Self {
        Self {
            request,
            headers,
            json: None,
            form: None,
            body: None,
            expect: None,
            sold_out: None,
            take: BTreeMap::new(),
        }
    }
}

impl RequestLine {
    /// Returns it with these values, and without those of the environment.
    pub(crate) fn hidden(&self, values: &Values) -> String {
        format!("{} {}", self.method, self.path.hidden(values))
    }
}

/// Method and path of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    /// The method.
    pub method: Method,
    /// The path, with its query.
    pub path: Template,
}

impl<'de> Deserialize<'de> for RequestLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = serde_spanned::Spanned::<String>::deserialize(deserializer)?;
        let wrong = || D::Error::custom("a method and a path or a URL are expected, such as \"POST /buy\"");
        let (method, path) = text.get_ref().split_once(' ').ok_or_else(wrong)?;
        let is_method = method.chars().all(|letter| letter.is_ascii_uppercase());
        if !is_method
            || !(path.starts_with('/')
                || path.starts_with("http://")
                || path.starts_with("https://")
                || path.starts_with('$'))
        {
            return Err(wrong());
        }
        Ok(Self {
            method: method.parse().map_err(|_| wrong())?,
            path: Template::parse(path, text.span()).map_err(D::Error::custom)?,
        })
    }
}

/// The value of a field of a form: a text, a number or a truth value.
#[derive(Clone, Debug, PartialEq)]
pub struct Field(pub Template);

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Json::deserialize(deserializer)? {
            Json::Text(text) => Ok(Self(text)),
            Json::Other(value) => Template::parse(&value.to_string(), 0..0)
                .map(Self)
                .map_err(D::Error::custom),
            Json::List(_) | Json::Object(_) => Err(D::Error::custom("a field of a form is a text or a number")),
        }
    }
}

/// Statuses of HTTP: one or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statuses(Vec<u16>);

impl Statuses {
    /// Returns whether this status is among them.
    pub fn contain(&self, status: u16) -> bool {
        self.0.contains(&status)
    }
}

impl fmt::Display for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<_> = self.0.iter().map(u16::to_string).collect();
        f.write_str(&all.join(" or "))
    }
}

impl<'de> Deserialize<'de> for Statuses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Derived)]
        #[serde(untagged, expecting = "a status such as 201, or a list of them")]
        enum OneOrSeveral {
            One(u16),
            Several(Vec<u16>),
        }
        let all = match OneOrSeveral::deserialize(deserializer)? {
            OneOrSeveral::One(status) => vec![status],
            OneOrSeveral::Several(all) => all,
        };
        if all.is_empty() || all.iter().any(|status| !(100..600).contains(status)) {
            return Err(D::Error::custom("a status is a number from 100 to 599"));
        }
        Ok(Self(all))
    }
}

/// The place of a value in an answer.
#[derive(Clone, Debug, Derived)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A JSON Pointer into the body.
    Json(Pointer),
    /// The name of a header.
    Header(String),
    /// The name of a cookie that the answer sets.
    Cookie(String),
    /// A regular expression for the body. Its first group is the value, or all of it where it has none.
    Regex(Pattern),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(pointer) => write!(f, "in its JSON at \"{pointer}\""),
            Self::Header(name) => write!(f, "its header {name}"),
            Self::Cookie(name) => write!(f, "its cookie {name}"),
            Self::Regex(Pattern(pattern)) => write!(f, "what {pattern} finds in it"),
        }
    }
}

/// A regular expression.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Returns what the first group finds in a text.
    pub fn find(&self, text: &str) -> Option<String> {
        let found = self.0.captures(text)?;
        let group = found.get(1).or_else(|| found.get(0))?;
        Some(group.as_str().to_owned())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let pattern = RegexBuilder::new(&text).size_limit(MAX_PATTERN).build();
        pattern.map(Self).map_err(|error| {
            let why = error.to_string();
            let last = why.lines().last().unwrap_or_default();
            D::Error::custom(format!("this is no regular expression: {last}"))
        })
    }
}
