//! The languages of the labs.

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

    /// Returns the text in this language.
    pub fn of<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::English => english,
            Self::Chinese => chinese,
        }
    }
}
