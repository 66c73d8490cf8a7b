//! The page of a lab in one language: parts under headings, in a fixed order.

use anyhow::{Context, Result, ensure};

use crate::language::Language;

/// The headings of the parts after the situation.
const HEADINGS: [[&str; 2]; 6] = [
    ["The code", "代码"],
    ["Predict", "预测"],
    ["Run", "运行"],
    ["Reveal", "揭晓"],
    ["Hints", "提示"],
    ["Check", "检验"],
];

/// The text of a lab in one language, as Markdown.
#[derive(Clone, Debug)]
pub struct Page {
    /// The title, without the number.
    pub title: String,
    /// The situation.
    pub situation: String,
    /// The lines of code that matter.
    pub code: String,
    /// The question.
    pub question: String,
    /// The answers to choose from.
    pub answers: Vec<Answer>,
    /// The commands by hand.
    pub run: String,
    /// What happened, and why.
    pub reveal: String,
    /// The hints, from a nudge to nearly the solution.
    pub hints: Vec<String>,
    /// The task after it.
    pub check: String,
}

/// One answer to choose from.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its letter.
    pub letter: char,
    /// The answer.
    pub text: String,
    /// What is right or wrong with it.
    pub why: String,
}

impl Page {
    /// Parses a page without its comment.
    ///
    /// # Errors
    /// When a part is missing, or an answer is not explained.
    pub fn parse(text: &str, language: Language) -> Result<Self> {
        let text = shown(text);
        let (head, mut rest) = text.trim_start().split_once('\n').context("the page has one line")?;
        let title = head.strip_prefix("# ").context("the page begins with `# NN Title`")?;
        let (_, title) = title.split_once(' ').context("a number stands before the title")?;
        let mut parts = Vec::new();
        for heading in HEADINGS {
            let heading = format!("\n## {}\n", language.of(heading[0], heading[1]));
            let (part, after) = rest
                .split_once(heading.as_str())
                .with_context(|| format!("{heading:?} is missing"))?;
            parts.push(part.trim());
            rest = after;
        }
        parts.push(rest.trim());
        let [situation, code, predict, run, reveal, hints, check] =
            <[&str; 7]>::try_from(parts).ok().context("seven parts")?;
        let (question, letters) = listed(predict);
        let (reveal, whys) = listed(reveal);
        ensure!(letters.len() >= 3, "there are fewer than three answers");
        let mut answers = Vec::new();
        for (letter, text) in letters {
            let why = whys.iter().find(|(explained, _)| *explained == letter);
            let (_, why) = why.with_context(|| format!("answer {letter} is not explained"))?;
            answers.push(Answer {
                letter,
                text,
                why: why.clone(),
            });
        }
        Ok(Self {
            title: title.to_owned(),
            situation: situation.to_owned(),
            code: code.to_owned(),
            question,
            answers,
            run: run.to_owned(),
            reveal,
            hints: numbered(hints),
            check: check.to_owned(),
        })
    }
}

/// Returns a page without the lines that fold a part of it in a browser.
fn shown(text: &str) -> String {
    let is_fold = |line: &str| {
        ["<details>", "</details>", "<summary>"]
            .iter()
            .any(|tag| line.starts_with(tag))
    };
    let kept = text.lines().filter(|line| !is_fold(line));
    kept.map(|line| format!("{line}\n")).collect()
}

/// Splits a part into its text and the items of its list, `- a) text`, each in one line.
fn listed(part: &str) -> (String, Vec<(char, String)>) {
    let mut text = String::new();
    let mut items: Vec<(char, String)> = Vec::new();
    let mut is_in_list = false;
    for line in part.lines() {
        let item = line.strip_prefix("- ").and_then(|rest| rest.split_once(") "));
        let letter = item.and_then(|(letter, _)| letter.parse::<char>().ok());
        if let (Some(letter), Some((_, rest))) = (letter, item) {
            items.push((letter, rest.to_owned()));
            is_in_list = true;
        } else if let (true, Some(more), Some((_, item))) = (is_in_list, line.strip_prefix("  "), items.last_mut()) {
            item.push(' ');
            item.push_str(more);
        } else {
            is_in_list = false;
            text.push_str(line);
            text.push('\n');
        }
    }
    (text.trim().to_owned(), items)
}

/// Returns the items of a numbered list, each in one line.
fn numbered(part: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in part.lines() {
        let item = line.split_once(". ").filter(|(number, _)| number.parse::<u8>().is_ok());
        match (item, items.last_mut()) {
            (Some((_, text)), _) => items.push(text.to_owned()),
            (None, Some(last)) if !line.is_empty() => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => {}
        }
    }
    items
}
