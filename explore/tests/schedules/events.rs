//! Events whose schedules are known are explored on real stores.

use explore::{Bounds, Choice, EventKind, Given, Player, Schedule, Violation, columns, search_until};
use loadtest::shop::response::ResponseKind;

use crate::search::{at_most, explored};
use crate::{TWO, stores};

#[tokio::test]
async fn a_reply_that_is_lost_leaves_a_lock_behind_where_it_has_no_lease() {
    let stores = stores();
    let bounds = Bounds {
        kinds: vec![EventKind::LostReply],
        ..at_most(0, 1)
    };
    let (mut player, found) = explored("setnx@redis", &stores, &bounds).await;
    let Violation { play, .. } = found.shortest.unwrap();
    assert_eq!(play.findings, [("stuck", 1)], "{play:?}");
    let lost = play.taken.iter().find(|taken| taken.has_no_reply).unwrap();
    assert_eq!(lost.step.name, "setnx", "{play:?}");
    let again = player.play(&mut Given::new(&play.choices)).await.unwrap();
    assert_eq!(again, Some(play));
    let (_, found) = explored("token@redis", &stores, &bounds).await;
    assert_eq!(found.shortest, None);
}

#[tokio::test]
async fn a_write_that_arrives_late_oversells_and_a_fence_or_a_condition_refuses_it() {
    let stores = stores();
    let bounds = Bounds {
        kinds: vec![EventKind::LateRequest],
        ..at_most(1, 1)
    };
    let (mut player, found) = explored("token@redis", &stores, &bounds).await;
    let Violation { play, .. } = found.shortest.unwrap();
    assert_eq!(play.findings.first(), Some(&("oversold", 1)), "{play:?}");
    assert_eq!(play.told, [ResponseKind::Unknown, ResponseKind::Sold], "{play:?}");
    assert_eq!(play.choices.last(), Some(&Choice::Arrival(0)), "{play:?}");
    let shown = columns(&Schedule::of("token@redis", &play));
    assert!(shown.contains("\nwrite: no reply, the request is late\n"), "{shown}");
    assert!(shown.contains("\n-- its late request arrives: write --\n"), "{shown}");
    let again = player.play(&mut Given::new(&play.choices)).await.unwrap();
    assert_eq!(again, Some(play));
    for strategy in ["fenced@redis", "tcc@redis+sql"] {
        let (_, found) = explored(strategy, &stores, &bounds).await;
        assert!(found.is_exhausted && found.has_event, "{strategy}");
        assert_eq!(found.shortest, None, "{strategy}");
    }
}

#[tokio::test]
async fn a_purchase_waits_for_the_locks_of_a_late_commit_until_it_arrives() {
    let stores = stores();
    let bounds = Bounds {
        kinds: vec![EventKind::LateRequest],
        ..at_most(1, 1)
    };
    let (mut player, found) = explored("conditional@sql", &stores, &bounds).await;
    assert!(found.is_exhausted);
    assert_eq!(found.shortest, None);
    let mut choices = Vec::new();
    for _ in 0..20 {
        let play = player.play(&mut Given::new(&choices)).await.unwrap().unwrap();
        let next = &play.taken[choices.len()];
        if next.step.name == "commit" {
            choices.push(Choice::LateRequest(0));
            break;
        }
        choices.push(Choice::Step(0));
    }
    let play = player.play(&mut Given::new(&choices)).await.unwrap().unwrap();
    let waited: Vec<_> = play.taken.iter().filter(|taken| taken.purchase == 1).collect();
    let write = waited.iter().find(|taken| taken.step.name == "take").unwrap();
    let arrived = play
        .choices
        .iter()
        .position(|choice| *choice == Choice::Arrival(0))
        .unwrap();
    assert_eq!(write.ended_after, Some(arrived + 1), "{play:?}");
    assert_eq!(play.told, [ResponseKind::Unknown, ResponseKind::SoldOut], "{play:?}");
    assert_eq!(play.findings, [], "{play:?}");
}

#[tokio::test]
async fn the_steps_of_a_worker_come_between_those_of_a_purchase() {
    let stores = stores();
    let bounds = Bounds {
        kinds: vec![EventKind::WorkerWakes],
        ..at_most(1, 1)
    };
    let (mut player, found) = explored("tcc@redis+sql", &stores, &bounds).await;
    assert!(found.is_exhausted && found.has_event);
    assert_eq!(found.shortest, None);
    // The reconciler looks, the purchase confirms, and the reconciler comes too late to cancel.
    let [step, work] = [Choice::Step(0), Choice::Work(0)];
    let choices = [step, step, step, Choice::WorkerWakes(0), work, work, step, work];
    let play = player.play(&mut Given::new(&choices)).await.unwrap().unwrap();
    let steps = play
        .work
        .iter()
        .filter(|work| work.is_chosen)
        .map(|work| work.step.name);
    let steps: Vec<_> = steps.collect();
    assert_eq!(steps[..3], ["overdue", "look", "cancel"], "{play:?}");
    assert_eq!(play.taken[3].step.name, "confirm", "{play:?}");
    assert_eq!(play.told, [ResponseKind::Sold, ResponseKind::SoldOut], "{play:?}");
    assert_eq!(play.findings, [], "{play:?}");
    let shown = columns(&Schedule::of("tcc@redis+sql", &play));
    let takes = |line: &str, step: &str| line.starts_with("-- reconciler of app-1") && line.contains(step);
    let mut lines = shown.lines().skip_while(|line| !takes(line, ": look"));
    lines.next();
    assert_eq!(lines.next(), Some("confirm: confirmed"), "{shown}");
    assert!(lines.next().is_some_and(|line| takes(line, ": cancel")), "{shown}");
}

#[tokio::test]
async fn a_named_lock_oversells_when_its_session_ends_while_the_holder_works() {
    let stores = stores();
    let bounds = Bounds {
        kinds: vec![EventKind::SessionEnds],
        ..at_most(1, 1)
    };
    let (mut player, found) = explored("named-lock@redis", &stores, &bounds).await;
    assert!(found.is_exhausted);
    let Violation { play, .. } = found.shortest.unwrap();
    assert!(play.choices.contains(&Choice::SessionEnds), "{play:?}");
    assert_eq!(play.told, [ResponseKind::Sold; 2], "{play:?}");
    assert_eq!(play.findings.first(), Some(&("oversold", 1)), "{play:?}");
    let again = player.play(&mut Given::new(&play.choices)).await.unwrap();
    assert_eq!(again, Some(play));
}

#[tokio::test]
async fn a_lock_of_etcd_oversells_when_its_session_ends_and_one_that_is_checked_when_it_ends_after_the_check() {
    let mut stores = stores();
    stores.start_service("etcd", true).unwrap();
    let bounds = Bounds {
        kinds: vec![EventKind::SessionEnds],
        ..at_most(1, 1)
    };
    for (strategy, last) in [("etcd@redis", "put"), ("etcd-checked@redis", "is-owner")] {
        let mut player = Player::open(strategy, TWO, bounds.possible_kinds(), &stores)
            .await
            .unwrap();
        let found = search_until(&mut player, &bounds, |found| found.violated > 0)
            .await
            .unwrap();
        let Violation { play, .. } = found.shortest.unwrap();
        assert_eq!(play.told, [ResponseKind::Sold; 2], "{play:?}");
        let ended = play.choices.iter().position(|choice| *choice == Choice::SessionEnds);
        let before = &play.taken[..ended.unwrap()];
        assert!(before.iter().any(|taken| taken.step.name == last), "{play:?}");
        let again = player.play(&mut Given::new(&play.choices)).await.unwrap();
        assert_eq!(again, Some(play), "{strategy}");
    }
}

#[tokio::test]
async fn renewals_keep_the_lock_of_a_slow_holder_and_not_that_of_a_paused_one() {
    let stores = stores();
    for (strategy, kind, is_violated) in [
        ("watchdog@redis", EventKind::SlowHolder, false),
        ("watchdog@redis", EventKind::LeaseEnds, true),
        ("token@redis", EventKind::SlowHolder, true),
    ] {
        let bounds = Bounds {
            kinds: vec![kind],
            ..at_most(1, 1)
        };
        let (_, found) = explored(strategy, &stores, &bounds).await;
        assert!(found.is_exhausted && found.has_event, "{strategy}");
        assert_eq!(
            found.shortest.is_some(),
            is_violated,
            "{strategy}: {:?}",
            found.shortest
        );
    }
}
