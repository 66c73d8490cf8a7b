//! `lab reveal`: what the learner said, what happened, and why.

use std::fs;

use anyhow::{Context, Result};
use loadtest::report;
use loadtest::result::RunResult;
use workshop::{Lab, Schedule};

use super::Learner;
use super::again;
use super::judged::judged;
use super::show::plain;
use crate::console;
use crate::exit::{AS_DESIGNED, NOT_AS_DESIGNED, Usage};

/// Shows the answers, the run, the steps of what went wrong, and the explanation. A search that was interrupted, or could not begin,
/// reveals nothing: its status is returned.
pub(super) fn reveal(learner: &mut Learner, lab: &Lab) -> Result<u8> {
    let language = learner.language;
    let mut state = learner.progress.of(lab.name);
    let (Some(predicted), Some(ran)) = (state.predicted, state.ran.clone()) else {
        let run = learner.command("run", lab);
        return Err(Usage(format!("run it first: {run}")).into());
    };
    let right = lab.settings.right;
    for (words, letter) in [
        (language.of("You said", "你的预测"), predicted),
        (language.of("Right is", "正确答案"), right),
    ] {
        if let Some(answer) = lab.answer(letter, language) {
            console::print(&format!("{words} {letter}) {}\n  {}\n\n", answer.text, answer.why))?;
        }
        if predicted == right {
            break;
        }
    }
    if let Some(play) = &lab.settings.play {
        let file = ran.join("result.json");
        let json =
            fs::read(&file).with_context(|| format!("cannot read {}: run the lab again", console::path(&file)))?;
        let run = RunResult::parse(&json)?;
        for line in judged(play, &run, language) {
            console::print(&format!("{}\n", line.words))?;
        }
        if !play.breaks.is_empty() {
            console::print(&format!(
                "\n{}\n",
                report::stories_in(&run, &|words| language.say(words))
            ))?;
        }
        let page = ran.join("result.html");
        console::print(&format!(
            "{} {}\n",
            language.of("With pictures:", "图："),
            console::path(&page)
        ))?;
    }
    if let Some(schedule) = &lab.settings.schedule {
        let status = shortest(learner, schedule)?;
        if status != NOT_AS_DESIGNED {
            return Ok(status);
        }
    }
    console::print(&format!("\n{}\n", plain(&lab.page(language).reveal)))?;
    state.is_revealed = true;
    learner.progress.keep(lab.name, state)?;
    console::print(&format!("\n{}\n", plain(&lab.page(language).check)))?;
    Ok(AS_DESIGNED)
}

/// Prints the shortest schedule that breaks a promise. Returns the status of the search.
pub(super) fn shortest(learner: &Learner, schedule: &Schedule) -> Result<u8> {
    let ran = again::read(learner.explore(schedule.search(), &[]), learner.language)?;
    learner.print_explored(&ran.stdout)?;
    Ok(ran.status)
}
