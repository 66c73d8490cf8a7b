//! `lab check`: a strategy of the learner under the threat of a lab, and in every interleaving.

use std::fs;

use anyhow::{Context, Result};
use app::strategies::Entry;
use explore::Schedule;
use loadtest::audit::Verdict;
use workshop::{Lab, Play};

use super::Learner;
use super::again;
use super::mistake::Mistake;
use super::run::played;
use crate::console;
use crate::exit::{AS_DESIGNED, INCONCLUSIVE, NOT_AS_DESIGNED, Usage};
use crate::selection::strategy_called;

/// The control: buyers come one at a time, and every number has to be exact.
const CONTROL: &str = "one-buyer";

/// Checks a strategy. The status is 0 when it holds, 1 when it fails, and 2 when nothing follows.
pub(super) fn check(learner: &mut Learner, lab: &Lab, asked: &str) -> Result<u8> {
    let Some(play) = &lab.settings.play else {
        return Err(Usage(format!("lab {} is checked by hand: see its page", lab.nn())).into());
    };
    let entries = Entry::all();
    let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let strategy = strategy_called(asked, &names)?;
    let explored = explored(learner, lab, strategy)?;
    if explored != AS_DESIGNED {
        return Ok(explored);
    }
    let ran = ran(learner, play, lab, strategy)?;
    if ran == AS_DESIGNED {
        let mut state = learner.progress.of(lab.name);
        state.passed = Some(strategy.to_owned());
        learner.progress.keep(lab.name, state)?;
        learner.say(
            &format!("\n{strategy} passes lab {}.", lab.nn()),
            &format!("\n{strategy} 通过了实验 {}。", lab.nn()),
        )?;
    }
    Ok(ran)
}

/// Plays every interleaving of two purchases, with the event of the lab. Names the misconception that breaks a promise.
fn explored(learner: &Learner, lab: &Lab, strategy: &str) -> Result<u8> {
    let Some(schedule) = &lab.settings.schedule else {
        return Ok(AS_DESIGNED);
    };
    let mut asked = schedule.clone();
    strategy.clone_into(&mut asked.strategy);
    let file = learner.options.folder.join(lab.name).join("schedule.json");
    fs::create_dir_all(file.parent().context("a file has a folder")?)?;
    let kept = file.display().to_string();
    let command = learner.explore(asked.search(), &["--save", &kept]);
    let ran = again::read(command, learner.language)?;
    match ran.status {
        NOT_AS_DESIGNED => {
            let shortest = Schedule::parse(&fs::read(&file)?)?;
            learner.print_explored(&ran.stdout)?;
            console::print(&format!("\n✗ {}\n", Mistake::of(&shortest).words(learner.language)))?;
        }
        AS_DESIGNED => learner.say(
            "✓ no interleaving with at most one preemption breaks a promise",
            "✓ 在最多一次抢占的所有交错里都没有出错",
        )?,
        _ => learner.print_explored(&ran.stdout)?,
    }
    Ok(ran.status)
}

/// Plays the threat of the lab, and the control.
fn ran(learner: &Learner, play: &Play, lab: &Lab, strategy: &str) -> Result<u8> {
    let mut play = play.clone();
    play.threats.insert(0, CONTROL.to_owned());
    let results = learner.options.folder.join(lab.name);
    let run = match played(learner, &play, &[strategy], &results)? {
        Ok(run) => run,
        Err(status) => return Ok(status),
    };
    let mut worst = AS_DESIGNED;
    for round in &run.rounds {
        let is_control = round.threat == CONTROL;
        let (mark, words) = match round.verdict {
            Verdict::Holds => continue,
            Verdict::Violated => {
                let found = round
                    .findings
                    .found()
                    .map(|(finding, size)| format!("{} {size}", finding.name()));
                ("✗", learner.language.say(&found.collect::<Vec<_>>().join(", ")))
            }
            Verdict::Inconclusive => {
                let why = round.inconclusive.as_deref().or(round.why_unplayed());
                ("?", learner.language.say(why.unwrap_or_default()))
            }
        };
        console::print(&format!("{mark} {}: {words}\n", round.threat))?;
        if round.verdict == Verdict::Violated {
            worst = NOT_AS_DESIGNED;
            if is_control {
                learner.say(
                    "✗ It is wrong with one buyer at a time: that is no race. Look at the statement that takes the unit.",
                    "✗ 买家一个一个来也会出错：这不是竞争问题。请检查扣减库存的那条语句。",
                )?;
                break;
            }
        } else if worst == AS_DESIGNED {
            worst = INCONCLUSIVE;
        }
    }
    // Of a threat that does not concern a strategy there are no rounds.
    if worst == AS_DESIGNED && run.rounds.iter().all(|round| round.threat == CONTROL) {
        learner.say(
            "Inconclusive: the threat of this lab does not concern this strategy. Choose one that it concerns.",
            "无法判定：本实验的威胁与这个策略无关。请另选一个。",
        )?;
        return Ok(INCONCLUSIVE);
    }
    match worst {
        AS_DESIGNED => learner.say("✓ it holds under the threat of this lab", "✓ 在本实验的威胁之下可靠")?,
        INCONCLUSIVE => learner.say(
            "Inconclusive: nothing follows from it. Look at the reason above, and run it again.",
            "无法判定：得不出结论。看上面的原因，然后再运行一次。",
        )?,
        _ => {}
    }
    Ok(worst)
}
