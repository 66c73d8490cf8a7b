//! `lab step`: the learner is the scheduler.

use std::fs;

use anyhow::{Context, Result};
use workshop::Lab;

use super::Learner;
use super::again;
use super::reveal::shortest;
use crate::exit::{AS_DESIGNED, INTERRUPTED, NOT_AS_DESIGNED, Usage};

/// Lets the learner choose which purchase moves next. The status is 0 when a promise was broken, which is the aim.
pub(super) fn step(learner: &Learner, lab: &Lab) -> Result<u8> {
    let schedule = lab.settings.schedule.as_ref();
    let schedule = schedule.ok_or_else(|| Usage(format!("lab {} has no steps to choose from", lab.nn())))?;
    learner.say(
        "Choose which purchase moves next, by number, until a unit is sold twice or nobody can buy any more.\n",
        "用数字选择下一步由哪个购买来走，直到同一件商品卖出两次，或者再也没有人买得到。\n",
    )?;
    let file = learner.options.folder.join(lab.name).join("step.json");
    fs::create_dir_all(file.parent().context("a file has a folder")?)?;
    // That of the last time says nothing of this one.
    let _ = fs::remove_file(&file);
    let kept = file.display().to_string();
    let command = learner.explore(schedule.arguments(), &["--step", "--save", &kept]);
    match again::talk(&command, learner.language)? {
        NOT_AS_DESIGNED => {
            learner.say("\nYou did it. The shortest way:\n", "\n成功了。最短的走法：\n")?;
            shortest(learner, schedule)?;
            Ok(AS_DESIGNED)
        }
        AS_DESIGNED if !file.exists() => {
            learner.say(
                "\nEnded before all purchases were over.",
                "\n购买还没有全部结束就停下了。",
            )?;
            Ok(NOT_AS_DESIGNED)
        }
        AS_DESIGNED => {
            learner.say(
                "\nNo promise is broken this time. Try another sequence, or another moment for the event.",
                "\n这一次没有出错。换一种顺序，或者换一个时刻让事件发生，再试一次。",
            )?;
            Ok(NOT_AS_DESIGNED)
        }
        status if status == INTERRUPTED => Ok(INTERRUPTED),
        status => Ok(status),
    }
}
