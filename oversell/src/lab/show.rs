//! What is only shown: the list, the situation, the question and the hints.

use std::fmt::Write;

use anyhow::Result;
use workshop::{Lab, State};

use super::Learner;
use crate::console;

/// Lists the labs, and how far the learner is.
pub(super) fn list(learner: &Learner, labs: &[Lab]) -> Result<()> {
    let language = learner.language;
    let mut text = String::new();
    let mut minutes = [0, 0];
    for lab in labs {
        let Lab { settings, name, .. } = lab;
        minutes[0] += settings.minutes;
        minutes[1] += if settings.is_short { settings.minutes } else { 0 };
        let state = learner.progress.of(name);
        let _ = writeln!(
            text,
            "{}{} {:>2} {}  {}{}",
            lab.nn(),
            if settings.is_short { "*" } else { " " },
            settings.minutes,
            language.of("min", "分钟"),
            lab.page(language).title,
            so_far(learner, lab, &state),
        );
    }
    let [all, short] = minutes;
    let _ = match language.of(true, false) {
        true => writeln!(text, "\nAll labs take {all} minutes, those with * {short}."),
        false => writeln!(text, "\n全部实验共 {all} 分钟，带 * 的共 {short} 分钟。"),
    };
    console::print(&text)?;
    let open = labs.iter().find(|lab| !learner.progress.of(lab.name).is_revealed);
    open.map_or(Ok(()), |lab| learner.next("start", lab))
}

/// Returns how far a learner is, in a few words.
fn so_far(learner: &Learner, lab: &Lab, state: &State) -> String {
    let language = learner.language;
    let mut done = Vec::new();
    if let Some(predicted) = state.predicted {
        done.push(match (state.is_revealed, predicted == lab.settings.right) {
            (false, _) => format!("{} {predicted}", language.of("predicted", "已预测")),
            (true, true) => language.of("predicted rightly", "预测正确").to_owned(),
            (true, false) => language.of("predicted wrongly", "预测错误").to_owned(),
        });
    }
    if state.ran.is_some() {
        done.push(language.of("run", "已运行").to_owned());
    }
    if let Some(passed) = &state.passed {
        done.push(format!("{} {passed}", language.of("checked:", "已检验：")));
    }
    if done.is_empty() {
        String::new()
    } else {
        format!("  [{}]", done.join(", "))
    }
}

/// Shows the situation and the code.
pub(super) fn start(learner: &Learner, lab: &Lab) -> Result<()> {
    let page = lab.page(learner.language);
    console::print(&format!(
        "{} {}\n\n{}\n\n{}\n",
        lab.nn(),
        page.title,
        plain(&page.situation),
        plain(&page.code)
    ))?;
    learner.next("predict", lab)
}

/// Shows the question and its answers.
pub(super) fn question(learner: &Learner, lab: &Lab) -> Result<()> {
    let page = lab.page(learner.language);
    let answers = page
        .answers
        .iter()
        .map(|answer| format!("  {}) {}\n", answer.letter, answer.text));
    console::print(&format!("{}\n\n{}\n", page.question, answers.collect::<String>()))
}

/// Shows the next hint. After the last one the first one comes again.
pub(super) fn hint(learner: &mut Learner, lab: &Lab) -> Result<()> {
    let hints = &lab.page(learner.language).hints;
    let mut state = learner.progress.of(lab.name);
    let place = state.hints % hints.len().max(1);
    if let Some(hint) = hints.get(place) {
        console::print(&format!("{} / {}  {hint}\n", place + 1, hints.len()))?;
    }
    state.hints = place + 1;
    learner.progress.keep(lab.name, state)
}

/// Returns Markdown for a terminal: a link is its text, or the file that it leads to, and pictures are left out.
pub fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (Some(begin), Some((to, tail))) = (before.rfind('['), after.split_once(')')) else {
            break;
        };
        let (head, words) = (&before[..begin], &before[begin + 1..]);
        match head.strip_suffix('!') {
            Some(head) => plain += head,
            None => {
                plain += head;
                plain += if to.ends_with(words) {
                    to.trim_start_matches("../")
                } else {
                    words
                };
            }
        }
        rest = tail;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_shows_the_file_of_a_link_and_no_picture() {
        let text = "[a.rs](../../app/a.rs): see [Any shop](../any-shop.md).\n\n![A chart](../a.svg)\nThen.";
        assert_eq!(plain(text), "app/a.rs: see Any shop.\n\n\nThen.");
    }
}
