//! Settings that are worth a look, in the order of a lecture.

use loadtest::report::Lesson;

/// The lessons. Each shows a strategy that fails beside one that holds.
pub const LESSONS: &[Lesson] = &[
    Lesson {
        title: "No lock, and a lock",
        strategies: ["none@redis", "token@redis"],
        threat: "crowd",
        instances: 1,
    },
    Lesson {
        title: "A mutex ends at its process",
        strategies: ["mutex@redis", "token@redis"],
        threat: "second-instance",
        instances: 2,
    },
    Lesson {
        title: "The holder dies",
        strategies: ["setnx@redis", "set-px@redis"],
        threat: "crashed-holder",
        instances: 2,
    },
    Lesson {
        title: "The holder is slower than its lease",
        strategies: ["set-px@redis", "watchdog@redis"],
        threat: "slow-holder",
        instances: 2,
    },
    Lesson {
        title: "The holder stands still",
        strategies: ["watchdog@redis", "fenced@redis"],
        threat: "paused-holder",
        instances: 2,
    },
    Lesson {
        title: "Redis forgets the lock",
        strategies: ["token@sql", "fenced@sql"],
        threat: "redis-restart",
        instances: 2,
    },
    Lesson {
        title: "An update is lost",
        strategies: ["lost-update@sql", "conditional@sql"],
        threat: "second-instance",
        instances: 2,
    },
    Lesson {
        title: "A crash between two stores",
        strategies: ["dual-write@redis+sql", "outbox@redis+sql"],
        threat: "crashed-between",
        instances: 2,
    },
];

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use app::strategies::Entry;
    use loadtest::threats;

    use super::*;

    #[test]
    fn every_lesson_shows_a_failure_beside_a_strategy_that_claims_to_hold() {
        let all = Entry::all();
        for lesson in LESSONS {
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
