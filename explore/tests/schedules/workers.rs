//! What background workers do in a schedule.

use explore::{Choice, Given, Schedule, Violation, story};
use loadtest::shop::response::ResponseKind;

use crate::search::{explored, one_crash};
use crate::stores;

#[tokio::test]
async fn background_workers_end_what_a_killed_process_has_left() {
    let stores = stores();
    let (mut player, found) = explored("tcc@redis+sql", &stores, &one_crash()).await;
    assert!(found.is_exhausted);
    assert_eq!(found.shortest, None);
    // The first purchase has reserved the unit when its process is killed.
    let [step, killed] = [Choice::Step(0), Choice::Crash(0)];
    let choices = [step, step, step, killed];
    let play = player.play(&mut Given::new(&choices)).await.unwrap().unwrap();
    let cancelled = play.work.iter().filter(|work| work.step.name == "cancel").count();
    assert_eq!(cancelled, 1, "{play:?}");
    assert_eq!(play.told, [ResponseKind::Unknown, ResponseKind::Sold], "{play:?}");
}

#[tokio::test]
async fn three_phases_end_apart_when_the_process_is_killed_between_two_pre_commits() {
    let mut stores = stores();
    stores.start_service("sql-2", true).unwrap();
    let (_, found) = explored("three-phase@sql+sql", &stores, &one_crash()).await;
    let Violation { play, .. } = found.shortest.unwrap();
    assert!(play.choices.contains(&Choice::Crash(0)), "{play:?}");
    let mut work = play.work.iter().filter(|work| work.worker == "reconciler");
    assert!(work.any(|work| work.arrival == Some(0)), "{play:?}");
    let schedule = Schedule::of("three-phase@sql+sql", &play);
    let story = story(&schedule).unwrap();
    let sale = story.steps.iter().find(|step| step.worker.is_some()).unwrap();
    assert_eq!(
        (sale.purchase, sale.said.as_deref()),
        (0, Some("committed")),
        "{sale:?}"
    );
}
