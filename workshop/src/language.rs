//! The languages of the labs.

use crate::sentences::in_chinese;

/// The language of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// Both languages.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Returns the tag of the language, as in `lang="zh-CN"`.
    pub fn tag(self) -> &'static str {
        self.of("en", "zh-CN")
    }

    /// Returns a fixed English sentence of a report in this language. Names in it stay.
    pub fn say(self, english: &str) -> String {
        match self {
            Self::English => english.to_owned(),
            Self::Chinese => in_chinese(english),
        }
    }

    /// Returns the text in this language.
    pub fn of<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}
