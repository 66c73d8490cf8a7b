//! The labs as lessons of the live page: two strategies side by side, or the commands to type where a lab is no run of two.

use anyhow::Result;
use loadtest::report::{Lesson, LessonRun};
use workshop::{Lab, Language, Page, Play};

use crate::lab::plain;

/// Buyers at once where a lab does not say it.
const BUYERS: u32 = 32;

/// The units of a lesson with one item, and of each item where there are several: a slow strategy sells one after the other.
const STOCK: u32 = 48;
const STOCK_OF_EACH: u32 = 12;

/// Returns a lesson for each lab.
///
/// # Errors
/// When a page of a lab cannot be read.
pub fn lessons() -> Result<Vec<Lesson>> {
    Ok(workshop::all()?.iter().map(lesson).collect())
}

fn lesson(lab: &'static Lab) -> Lesson {
    let page = lab.page(Language::English);
    Lesson {
        number: lab.number,
        title: &page.title,
        situation: plain(&page.situation),
        commands: commands(page),
        run: lab.settings.play.as_ref().and_then(run),
    }
}

/// Returns the commands by hand: those of the run, and those of the task after it.
fn commands(page: &Page) -> String {
    let blocks = [&page.run, &page.check]
        .into_iter()
        .flat_map(|part| part.split("```").skip(1).step_by(2));
    blocks.map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Returns the first strategy that fails beside the first that holds, the slow one beside the fast one, or two of which nothing
/// follows. Returns `None` where the lab has no two.
fn run(play: &'static Play) -> Option<LessonRun> {
    let slower = play.slower.as_ref();
    let left = play.breaks.first().or(slower.map(|slower| &slower.strategy));
    let right = play.holds.first().or(slower.map(|slower| &slower.than));
    let items = play.items.unwrap_or(1);
    Some(LessonRun {
        strategies: [left.or(play.undecided.first())?, right.or(play.undecided.get(1))?],
        threat: play.threats.first()?,
        instances: play.instances,
        buyers: play.buyers.unwrap_or(BUYERS),
        items,
        stock: if items > 1 { STOCK_OF_EACH } else { STOCK },
        // Beside each other they would share the processors, and the slow one would have them alone in the end.
        in_turn: play.breaks.is_empty() && slower.is_some(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use app::strategies::Entry;
    use loadtest::report::live;

    use super::*;
    use crate::live::request::RunRequest;

    fn play(lesson: &Lesson) -> Option<&'static Play> {
        let labs = workshop::all().unwrap();
        labs.iter()
            .find(|lab| lab.number == lesson.number)
            .unwrap()
            .settings
            .play
            .as_ref()
    }

    #[test]
    fn every_lab_is_on_the_page_with_its_situation_and_a_run_that_starts_or_a_command() {
        let lessons = lessons().unwrap();
        let page = live(&[], &lessons, &[]);
        for (lab, lesson) in workshop::all().unwrap().iter().zip(&lessons) {
            let english = lab.page(Language::English);
            assert_eq!((lesson.number, lesson.title), (lab.number, english.title.as_str()));
            assert!(page.contains(&format!(">{}. ", lab.number)), "{}", lab.name);
            assert!(!lesson.situation.is_empty(), "{}", lab.name);
            assert!(lesson.commands.contains("cargo run --release -- "), "{}", lab.name);
            let Some(run) = &lesson.run else {
                assert!(lab.settings.play.is_none(), "{} could be started", lab.name);
                continue;
            };
            let request = RunRequest {
                strategies: run.strategies.map(str::to_owned),
                threat: run.threat.to_owned(),
                instances: run.instances,
                buyers: run.buyers.into(),
                items: run.items.into(),
                stock: run.stock.into(),
                in_turn: run.in_turn,
            };
            for place in 0..request.strategies.len() {
                request
                    .options(place)
                    .unwrap_or_else(|wrong| panic!("{}: {wrong}", lab.name));
            }
        }
        assert_eq!(lessons.len(), workshop::all().unwrap().len());
    }

    #[test]
    fn a_lesson_shows_a_failure_beside_a_strategy_that_claims_to_hold_or_compares_two_that_do() {
        let all = Entry::all();
        let claims = |name: &str, threat: &str| {
            let entry = all.iter().find(|entry| entry.name == name);
            entry.unwrap_or_else(|| panic!("{name}")).claims().contains(&threat)
        };
        for lesson in lessons().unwrap() {
            let Some((play, run)) = play(&lesson).zip(lesson.run.as_ref()) else {
                continue;
            };
            let [left, right] = run.strategies;
            assert_ne!(left, right, "{}", lesson.title);
            assert_eq!(
                claims(left, run.threat),
                play.breaks.is_empty() && play.undecided.is_empty(),
                "{}",
                lesson.title
            );
            assert!(claims(right, run.threat), "{}", lesson.title);
        }
    }

    #[test]
    fn labs_that_compare_speeds_play_one_side_after_the_other_on_several_items() {
        for lesson in lessons().unwrap() {
            let is_compared = play(&lesson).is_some_and(|play| play.items.is_some());
            let in_turn = lesson.run.as_ref().is_some_and(|run| run.in_turn && run.items > 1);
            assert_eq!(in_turn, is_compared, "{}", lesson.title);
        }
    }
}
