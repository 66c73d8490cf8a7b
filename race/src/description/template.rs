//! Texts of a shop file in which values stand: `{buyer}`, and `$NAME` from the environment.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error};
use serde_spanned::Spanned;

/// The values of a buyer, by their names.
pub type Values = BTreeMap<String, String>;

/// A text with places for values.
#[derive(Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
    /// The place in the shop file, in bytes.
    pub(crate) span: Range<usize>,
}

#[derive(Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(String),
    /// A value from the environment.
    Secret(String),
}

/// It does not show what comes from the environment.
impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hidden(&Values::new()))
    }
}

impl Template {
    /// Parses a text. A name in braces that is written in small letters is a value, and a name in capital letters after a
    /// dollar sign is a variable of the environment.
    ///
    /// # Errors
    /// When the environment has no such variable.
    pub(crate) fn parse(text: &str, span: Range<usize>) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '$']) {
            plain.push_str(&rest[..at]);
            let found = &rest[at..];
            let (part, length) = match found.strip_prefix('{') {
                Some(inside) => match name(inside, |letter| letter.is_ascii_lowercase()) {
                    Some(name) if inside[name.len()..].starts_with('}') => {
                        (Some(Part::Value(name.to_owned())), name.len() + 2)
                    }
                    _ => (None, 1),
                },
                None => match name(&found[1..], |letter| letter.is_ascii_uppercase()) {
                    Some(name) => (Some(Part::Secret(variable(name)?)), name.len() + 1),
                    None => (None, 1),
                },
            };
            match part {
                Some(part) => {
                    parts.extend((!plain.is_empty()).then(|| Part::Text(std::mem::take(&mut plain))));
                    parts.push(part);
                }
                None => plain.push_str(&found[..length]),
            }
            rest = &found[length..];
        }
        plain.push_str(rest);
        parts.extend((!plain.is_empty()).then_some(Part::Text(plain)));
        Ok(Self { parts, span })
    }

    /// Returns the text with these values. A value that is not there is empty.
    pub(crate) fn filled(&self, values: &Values) -> String {
        self.text(|part| match part {
            Part::Text(text) | Part::Secret(text) => text,
            Part::Value(name) => values.get(name).map_or("", String::as_str),
        })
    }

    /// Returns the text with these values, and without those of the environment.
    pub(crate) fn hidden(&self, values: &Values) -> String {
        self.text(|part| match part {
            Part::Text(text) => text,
            Part::Secret(_) => "***",
            Part::Value(name) => values.get(name).map_or("", String::as_str),
        })
    }

    /// Returns whether nothing stands there.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns whether another text is the same, wherever it stands.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.parts == other.parts
    }

    /// Returns the names of its values.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(name) => Some(name.as_str()),
            Part::Text(_) | Part::Secret(_) => None,
        })
    }

    /// Returns its values from the environment.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Secret(secret) => Some(secret.as_str()),
            Part::Text(_) | Part::Value(_) => None,
        })
    }

    fn text<'a>(&'a self, of: impl Fn(&'a Part) -> &'a str) -> String {
        self.parts.iter().map(of).collect()
    }
}

/// Returns the name at the begin of a text: letters of that kind, digits and `_`.
fn name(text: &str, is_letter: impl Fn(char) -> bool) -> Option<&str> {
    let is_part = |letter: char| is_letter(letter) || letter == '_' || letter.is_ascii_digit();
    let length = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    let name = &text[..length];
    name.starts_with(is_letter).then_some(name)
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("the environment has no variable {name}"))
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Spanned::<String>::deserialize(deserializer)?;
        let span = text.span();
        Self::parse(text.get_ref(), span).map_err(Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        let values = Values::from([("buyer".to_owned(), "b-1".to_owned())]);
        Template::parse(text, 0..0).unwrap().filled(&values)
    }

    #[test]
    fn values_stand_in_braces_and_other_braces_stay() {
        assert_eq!(filled("/buy/{buyer}?x={"), "/buy/b-1?x={");
        assert_eq!(filled(r#"{"buyer":"{buyer}","n":{}}"#), r#"{"buyer":"b-1","n":{}}"#);
        assert_eq!(filled("{Buyer} {buyer"), "{Buyer} {buyer");
    }

    #[test]
    fn a_variable_of_the_environment_is_used_and_not_shown() {
        let home = std::env::var("HOME").unwrap();
        let template = Template::parse("at $HOME, 5 $ and $1", 0..0).unwrap();
        assert_eq!(template.filled(&Values::new()), format!("at {home}, 5 $ and $1"));
        assert_eq!(format!("{template:?}"), "at ***, 5 $ and $1");
        let missing = Template::parse("$OVERSELL_NO_SUCH_VARIABLE", 0..0).unwrap_err();
        assert_eq!(missing, "the environment has no variable OVERSELL_NO_SUCH_VARIABLE");
    }
}
