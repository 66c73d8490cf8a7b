//! `lab run`: the strategies of a lab, on real servers.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loadtest::result::RunResult;
use workshop::{Lab, Play};

use super::Learner;
use super::again;
use super::judged::judged;
use crate::console;
use crate::exit::{AS_DESIGNED, INCONCLUSIVE, NOT_AS_DESIGNED, Usage};

/// How often each round is played.
const REPEAT: &str = "2";

/// Plays the lab. The status says whether all went as the lab says.
pub(super) fn run(learner: &mut Learner, lab: &Lab) -> Result<u8> {
    let mut state = learner.progress.of(lab.name);
    if state.predicted.is_none() {
        let predict = learner.command("predict", lab);
        return Err(Usage(format!("say first what you expect: {predict}")).into());
    }
    let Some(play) = &lab.settings.play else {
        console::print(&format!("{}\n", lab.page(learner.language).run))?;
        state.ran = Some(PathBuf::new());
        learner.progress.keep(lab.name, state)?;
        learner.next("reveal", lab)?;
        return Ok(AS_DESIGNED);
    };
    let results = learner.options.folder.join(lab.name);
    if play.finds.as_deref() == Some("stuck") {
        learner.say(
            "This takes about a minute: the run waits until it is certain that nobody can buy any more.",
            "大约需要一分钟：要等到可以确定再也没有人买得到。",
        )?;
    }
    let run = match played(learner, play, &play.strategies(), &results)? {
        Ok(run) => run,
        Err(status) => return Ok(status),
    };
    let lines = judged(play, &run, learner.language);
    for line in &lines {
        let mark = match line.is_as_said {
            true => learner.language.of("✓ as expected:", "✓ 符合预期："),
            false => learner.language.of("✗ not as expected:", "✗ 不符合预期："),
        };
        console::print(&format!("{mark} {}\n", line.words))?;
    }
    let is_as_said = lines.iter().all(|line| line.is_as_said);
    if let Some(why) = lines
        .iter()
        .filter(|line| !line.is_as_said)
        .find_map(|line| line.undecided.as_ref())
    {
        learner.say(
            &format!("\nInconclusive, so nothing follows from it: {why}. Run it again, with nothing else at work on this machine."),
            &format!("\n无法判定，所以得不出任何结论：{why}。请在机器空闲时再运行一次。"),
        )?;
        return Ok(INCONCLUSIVE);
    }
    state.ran = Some(newest(&results)?);
    learner.progress.keep(lab.name, state)?;
    learner.next("reveal", lab)?;
    Ok(if is_as_said { AS_DESIGNED } else { NOT_AS_DESIGNED })
}

/// Plays these strategies as a lab does. Returns the result, or the status of a run that did not come to its end.
pub(super) fn played(
    learner: &Learner,
    play: &Play,
    strategies: &[&str],
    results: &Path,
) -> Result<std::result::Result<RunResult, u8>> {
    let mut command = vec!["run".to_owned()];
    command.extend(play.options(strategies));
    command.extend(["--repeat", REPEAT, "--json", "--results"].map(str::to_owned));
    command.push(results.display().to_string());
    command.extend(learner.more.iter().cloned());
    let ran = again::read(command, learner.language)?;
    match ran.status {
        AS_DESIGNED | NOT_AS_DESIGNED | INCONCLUSIVE => Ok(Ok(RunResult::parse(ran.stdout.as_bytes())?)),
        status => Ok(Err(status)),
    }
}

/// Returns the folder of the last run: their names are their times.
fn newest(results: &Path) -> Result<PathBuf> {
    let folders = std::fs::read_dir(results).with_context(|| format!("cannot read {}", results.display()))?;
    let folders = folders
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir());
    folders.max().context("the run left no result")
}
