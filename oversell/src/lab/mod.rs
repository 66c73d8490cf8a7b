//! `oversell lab`: the workshop. A lab calls the commands of this program, as a reader of its page does by hand.

mod again;
mod check;
mod columns;
mod judged;
mod mistake;
mod ready;
mod reveal;
mod run;
mod show;
mod step;

use std::io::{BufRead, IsTerminal, stdin};
use std::path::Path;

use anyhow::{Context, Error, Result};
use workshop::{Lab, Language, Progress, slides};

use self::columns::in_columns;
use crate::console;
use crate::exit::{AS_DESIGNED, Usage};
use crate::options::{FOLDER, LabCommand, LabOptions};

pub use self::ready::ready;
pub use self::show::plain;

/// What each command of a lab needs.
struct Learner {
    language: Language,
    progress: Progress,
    /// Further arguments of each command that starts servers.
    more: Vec<String>,
    options: LabOptions,
}

impl Learner {
    /// Prints the text in the learner's language.
    fn say(&self, english: &str, chinese: &str) -> Result<()> {
        console::print(&format!("{}\n", self.language.of(english, chinese)))
    }

    /// Prints what the explorer said, in the learner's language.
    fn print_explored(&self, said: &str) -> Result<()> {
        match self.language {
            Language::English => console::print(said),
            language => console::print(&in_columns(said, &|words| language.say(words))),
        }
    }

    /// Prints a command of a lab for the learner to type.
    fn next(&self, command: &str, lab: &Lab) -> Result<()> {
        let next = self.language.of("Next:", "下一步：");
        console::print(&format!("\n{next} {}\n", self.command(command, lab)))
    }

    /// Returns the command `explore` with these arguments and further ones.
    fn explore(&self, arguments: Vec<String>, more: &[&str]) -> Vec<String> {
        let mut command = vec!["explore".to_owned()];
        command.extend(arguments);
        command.extend(more.iter().map(|word| (*word).to_owned()));
        command.extend(self.more.iter().cloned());
        command
    }

    /// Returns a command of a lab as this learner has to type it.
    fn command(&self, command: &str, lab: &Lab) -> String {
        let mut typed = format!("{} lab {command} {}", console::program(), lab.nn());
        if self.language != Language::English {
            typed += &format!(" --lang {}", self.language.tag());
        }
        if self.options.folder != Path::new(FOLDER) {
            typed += &format!(" --folder {}", console::path(&self.options.folder));
        }
        typed
    }
}

/// Does what a learner asks for. An error is told in the learner's language.
pub fn lab(options: LabOptions) -> Result<u8> {
    let language = options.lang;
    done(options).map_err(|error| {
        let words = language.say(&format!("{error:#}"));
        match error.is::<Usage>() {
            true => Usage(words).into(),
            false => Error::msg(words),
        }
    })
}

fn done(mut options: LabOptions) -> Result<u8> {
    let labs = workshop::all()?;
    let command = options.command.take().unwrap_or(LabCommand::List);
    let mut learner = Learner {
        language: options.lang,
        progress: Progress::read(&options.folder)?,
        more: options.no_fetch.then(|| "--no-fetch".to_owned()).into_iter().collect(),
        options,
    };
    let of = |number: usize| {
        let lab = labs.iter().find(|lab| lab.number == number);
        lab.ok_or_else(|| Usage(format!("there is no lab {number}: they are 1 to {}", labs.len())))
    };
    match command {
        LabCommand::List => show::list(&learner, labs)?,
        LabCommand::Start { lab } => show::start(&learner, of(lab)?)?,
        LabCommand::Hint { lab } => show::hint(&mut learner, of(lab)?)?,
        LabCommand::Predict { lab, answer } => predict(&mut learner, of(lab)?, answer)?,
        LabCommand::Run { lab } => return run::run(&mut learner, of(lab)?),
        LabCommand::Reveal { lab } => return reveal::reveal(&mut learner, of(lab)?),
        LabCommand::Step { lab } => return step::step(&learner, of(lab)?),
        LabCommand::Check { lab, strategy } => return check::check(&mut learner, of(lab)?, &strategy),
        LabCommand::Reset { lab } => {
            let named = lab.map(of).transpose()?.map(|lab| lab.name);
            learner.progress.forget(named)?;
        }
        LabCommand::Slides { short } => {
            let chosen: Vec<Lab> = labs
                .iter()
                .filter(|lab| lab.settings.is_short || !short)
                .cloned()
                .collect();
            console::print(&slides(&chosen, learner.language))?;
        }
    }
    Ok(AS_DESIGNED)
}

/// Shows the question, and keeps the answer. The answer cannot be changed: a prediction comes before the run.
fn predict(learner: &mut Learner, lab: &Lab, answer: Option<char>) -> Result<()> {
    let mut state = learner.progress.of(lab.name);
    if let Some(before) = state.predicted {
        let reset = learner.command("reset", lab);
        return Err(Usage(format!(
            "you have chosen {before}, and a prediction stays: `{reset}` begins anew"
        ))
        .into());
    }
    let answer = match answer {
        Some(answer) => answer,
        None => {
            show::question(learner, lab)?;
            match asked()? {
                Some(answer) => answer,
                None => return learner.next("predict", lab),
            }
        }
    };
    let letters: Vec<_> = lab
        .page(learner.language)
        .answers
        .iter()
        .map(|answer| answer.letter.to_string())
        .collect();
    if lab.answer(answer, learner.language).is_none() {
        return Err(Usage(format!("the answers are {}", letters.join(", "))).into());
    }
    state.predicted = Some(answer);
    learner.progress.keep(lab.name, state)?;
    learner.next("run", lab)
}

/// Returns the letter that a learner types, if one sits at a terminal.
fn asked() -> Result<Option<char>> {
    if !stdin().is_terminal() {
        return Ok(None);
    }
    console::print("> ")?;
    let mut line = String::new();
    stdin().lock().read_line(&mut line).context("cannot read the answer")?;
    Ok(line.trim().chars().next())
}
