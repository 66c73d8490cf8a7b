//! JSON in a shop file: a body whose texts have values, and pointers into an answer.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::template::{Template, Values};

/// JSON whose texts have places for values.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// A text.
    Text(Template),
    /// A number or a truth value.
    Other(Value),
    /// A list.
    List(Vec<Self>),
    /// An object.
    Object(BTreeMap<String, Self>),
}

impl Json {
    /// Returns it with these values in its texts.
    pub(crate) fn filled(&self, values: &Values) -> Value {
        match self {
            Self::Text(text) => Value::String(text.filled(values)),
            Self::Other(value) => value.clone(),
            Self::List(list) => list.iter().map(|inner| inner.filled(values)).collect(),
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, inner)| (name.clone(), inner.filled(values)));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns its texts.
    pub(crate) fn texts(&self) -> Vec<&Template> {
        match self {
            Self::Text(text) => vec![text],
            Self::Other(_) => Vec::new(),
            Self::List(list) => list.iter().flat_map(Self::texts).collect(),
            Self::Object(fields) => fields.values().flat_map(Self::texts).collect(),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, a truth value, a list or a table")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Other(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Other(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Other(value.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        // A text inside a body has no place of its own: the request has.
        Template::parse(text, 0..0).map(Json::Text).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(inner) = list.next_element()? {
            all.push(inner);
        }
        Ok(Json::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let mut all = BTreeMap::new();
        while let Some((name, inner)) = fields.next_entry()? {
            all.insert(name, inner);
        }
        Ok(Json::Object(all))
    }
}

/// A JSON Pointer (RFC 6901): empty, or beginning with `/`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pointer(String);

impl Pointer {
    /// Returns the value at which it points, as a text without quotation marks. Returns `None` where nothing is there, or a
    /// list or an object.
    pub(crate) fn text(&self, value: &Value) -> Option<String> {
        match value.pointer(&self.0)? {
            Value::String(text) => Some(text.clone()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
            other => Some(other.to_string()),
        }
    }

    /// Returns the list at which it points.
    pub(crate) fn list<'a>(&self, value: &'a Value) -> Option<&'a Vec<Value>> {
        value.pointer(&self.0)?.as_array()
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() || text.starts_with('/') {
            Ok(Self(text))
        } else {
            Err(D::Error::custom("a JSON Pointer begins with /, such as \"/order/id\""))
        }
    }
}
