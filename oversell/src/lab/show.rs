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
            "{}{} {:>2} min  {}{}",
            lab.nn(),
            if settings.is_short { "*" } else { " " },
            settings.minutes,
            lab.page(language).title,
            so_far(learner, lab, &state),
        );
    }
    let [all, short] = minutes;
    let program = console::program();
    let _ = match language.of(true, false) {
        true => writeln!(
            text,
            "\nAll labs take {all} minutes, those with * {short}. Begin: {program} lab start 1"
        ),
        false => writeln!(
            text,
            "\n全部实验共 {all} 分钟，带 * 的共 {short} 分钟。开始：{program} lab start 1"
        ),
    };
    console::print(&text)
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
        page.situation,
        page.code
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
