//! The labs as lessons of the live page: a strategy that fails beside one that holds.

use anyhow::Result;
use loadtest::report::Lesson;
use workshop::{Lab, Language};

/// Returns a lesson for each lab that shows a failure beside a strategy that holds, with one item.
///
/// # Errors
/// When a page of a lab cannot be read.
pub fn lessons() -> Result<Vec<Lesson>> {
    Ok(workshop::all()?.iter().filter_map(lesson).collect())
}

fn lesson(lab: &'static Lab) -> Option<Lesson> {
    let play = lab.settings.play.as_ref().filter(|play| play.items.is_none())?;
    Some(Lesson {
        number: lab.number,
        title: &lab.page(Language::English).title,
        strategies: [play.breaks.first()?, play.holds.first()?],
        threat: play.threats.first()?,
        instances: play.instances,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use app::strategies::Entry;
    use loadtest::threats;

    use super::*;

    #[test]
    fn every_lesson_shows_a_failure_beside_a_strategy_that_claims_to_hold() {
        let all = Entry::all();
        let lessons = lessons().unwrap();
        assert!(lessons.len() > 10);
        for lesson in lessons {
            let [fails, holds] = lesson.strategies.map(|name| {
                let entry = all.iter().find(|entry| entry.name == name);
                entry.unwrap_or_else(|| panic!("{name}"))
            });
            let threat = threats::all()
                .iter()
                .find(|threat| threat.name == lesson.threat)
                .unwrap();
            assert!(!fails.claims().contains(&threat.name), "{}", lesson.title);
            assert!(holds.claims().contains(&threat.name), "{}", lesson.title);
            assert!(
                !threat.instances_of(&[lesson.instances.into()]).is_empty(),
                "{}",
                lesson.title
            );
        }
    }
}
