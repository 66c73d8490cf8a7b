//! One lab.

use anyhow::{Context, Result, ensure};

use crate::language::Language;
use crate::page::{Answer, Page};
use crate::settings::Settings;

/// A lab: what is played, and its text.
#[derive(Clone, Debug)]
pub struct Lab {
    /// Its number, from 1.
    pub number: usize,
    /// The name of its pages, such as `01-no-lock`.
    pub name: &'static str,
    /// What is played.
    pub settings: Settings,
    english: Page,
    chinese: Page,
}

impl Lab {
    /// Reads a lab from its pages.
    ///
    /// # Errors
    /// When a page is not as the others are.
    pub(crate) fn parse(name: &'static str, english: &str, chinese: &str) -> Result<Self> {
        let (number, _) = name.split_once('-').context("the name begins with a number")?;
        let (settings, text) = comment(english)?;
        let settings: Settings = toml::from_str(settings).context("the comment at the top")?;
        let (_, chinese) = comment(chinese)?;
        let lab = Self {
            number: number.parse()?,
            name,
            settings,
            english: Page::parse(text, Language::English)?,
            chinese: Page::parse(chinese, Language::Chinese).context("the Chinese page")?,
        };
        for language in Language::ALL {
            let page = lab.page(language);
            ensure!(
                page.answers.iter().any(|answer| answer.letter == lab.settings.right),
                "no answer is right"
            );
            ensure!(
                page.hints.len() == lab.english.hints.len(),
                "the languages have other hints"
            );
            ensure!(
                page.answers.len() == lab.english.answers.len(),
                "the languages have other answers"
            );
        }
        Ok(lab)
    }

    /// Returns its text.
    pub fn page(&self, language: Language) -> &Page {
        language.of(&self.english, &self.chinese)
    }

    /// Returns the answer with this letter.
    pub fn answer(&self, letter: char, language: Language) -> Option<&Answer> {
        self.page(language)
            .answers
            .iter()
            .find(|answer| answer.letter == letter)
    }

    /// Returns its number with two digits, as its pages have it.
    pub fn nn(&self) -> String {
        format!("{:02}", self.number)
    }
}

/// Splits a page into the comment at its top and the rest.
fn comment(page: &str) -> Result<(&str, &str)> {
    let page = page.strip_prefix("<!--\n").context("the page begins with a comment")?;
    page.split_once("-->\n").context("the comment at the top ends nowhere")
}
