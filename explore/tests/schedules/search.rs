//! Strategies whose schedules are known are explored on real stores.

use explore::{
    Arrivals, Bounds, Choice, EventKind, Found, Given, Player, Random, Schedule, Violation, columns, sample, search,
};
use loadtest::shop::response::ResponseKind;
use stack::Stores;

use crate::{TWO, stores};

/// Returns the bounds of a search without reduction.
pub(crate) fn at_most(preemptions: usize, events: usize) -> Bounds {
    Bounds {
        preemptions: Some(preemptions),
        events,
        kinds: EventKind::ALL.to_vec(),
        is_reduced: false,
        are_alike: false,
        schedules: 5_000,
    }
}

/// Returns the bounds of a search in which a process is killed once, and nothing is interrupted.
pub fn one_crash() -> Bounds {
    Bounds {
        kinds: vec![EventKind::Crash],
        ..at_most(0, 1)
    }
}

pub(crate) async fn explored(strategy: &str, stores: &Stores, bounds: &Bounds) -> (Player, Found) {
    let mut player = Player::open(strategy, TWO, bounds.possible_kinds(), stores)
        .await
        .unwrap();
    let found = search(&mut player, bounds).await.unwrap();
    println!(
        "{strategy}: {} of {} schedules violated, {} ended early",
        found.violated, found.schedules, found.ended_early
    );
    (player, found)
}

/// Explores, and returns the shortest schedule that oversells, after it was played again.
async fn oversold(strategy: &str, stores: &Stores, bounds: &Bounds) -> Schedule {
    let (mut player, found) = explored(strategy, stores, bounds).await;
    let Violation { play, .. } = found.shortest.unwrap();
    assert_eq!(play.told, [ResponseKind::Sold; 2], "{strategy}");
    let again = player.play(&mut Given::new(&play.choices)).await.unwrap();
    assert_eq!(again.as_ref(), Some(&play), "{strategy}");
    Schedule::of(strategy, &play)
}

#[tokio::test]
async fn the_schedule_that_oversells_is_found_without_a_hint_and_replayed() {
    let stores = stores();
    for strategy in [
        "unlock-before-write@redis",
        "lost-update@sql",
        "ignored-result@sql",
        "none@redis",
    ] {
        let schedule = oversold(strategy, &stores, &at_most(1, 0)).await;
        assert_eq!(
            Schedule::parse(schedule.to_json().unwrap().as_bytes()).unwrap(),
            schedule
        );
        if strategy == "none@redis" {
            assert_eq!(
                columns(&schedule),
                "A at app-1                              B at app-2
read: left 1
work: done
                                        read: left 1
                                        work: done
                                        write: wrote 0
write: wrote 0
told sold                               told sold
"
            );
        }
    }
}

#[tokio::test]
async fn a_lock_with_a_lease_oversells_when_the_lease_ends_and_a_fence_prevents_that() {
    let stores = stores();
    let ends = Bounds {
        kinds: vec![EventKind::LeaseEnds],
        ..at_most(1, 1)
    };
    let schedule = oversold("token@redis", &stores, &ends).await;
    assert!(schedule.choices.contains(&Choice::LeaseEnds), "{schedule:?}");
    let (_, found) = explored("fenced@redis", &stores, &at_most(1, 1)).await;
    assert!(found.is_exhausted);
    assert_eq!(found.shortest, None);
}

#[tokio::test]
async fn a_strategy_that_holds_holds_in_every_schedule_within_the_bound() {
    let stores = stores();
    for strategy in [
        "lua@redis",
        "token@redis",
        "watch-multi@redis",
        "conditional@sql",
        "for-update@sql",
        "compare-num@sql",
    ] {
        let (_, found) = explored(strategy, &stores, &at_most(2, 0)).await;
        assert!(found.is_exhausted, "{strategy}: {} schedules", found.schedules);
        assert_eq!(found.violated, 0, "{strategy}: {:?}", found.shortest);
    }
}

#[tokio::test]
async fn a_reduced_search_finds_every_kind_of_end_that_the_full_search_finds_with_fewer_schedules() {
    let stores = stores();
    for strategy in [
        "none@redis",
        "setnx@redis",
        "token@redis",
        "unlock-before-write@redis",
        "decr-undo@redis",
        "watch-multi@redis",
        "lost-update@sql",
        "conditional@sql",
    ] {
        let full = Bounds {
            preemptions: None,
            ..at_most(0, 0)
        };
        let reduced = Bounds {
            is_reduced: true,
            ..full.clone()
        };
        let mut player = Player::open(strategy, TWO, &[], &stores).await.unwrap();
        let all = search(&mut player, &full).await.unwrap();
        let fewer = search(&mut player, &reduced).await.unwrap();
        println!(
            "{strategy}: {} schedules, {} after the reduction ({} ended early)",
            all.schedules, fewer.schedules, fewer.ended_early
        );
        assert!(all.is_exhausted && fewer.is_exhausted, "{strategy}");
        let is_found = |end| fewer.ends.contains(end);
        assert!(
            all.ends.iter().all(is_found),
            "{strategy}: {:?}, not {:?}",
            fewer.ends,
            all.ends
        );
        assert!(fewer.schedules < all.schedules, "{strategy}");
    }
}

#[tokio::test]
async fn a_lock_that_is_deleted_for_its_next_holder_oversells_to_a_third_purchase() {
    let stores = stores();
    let three = Arrivals { purchases: 3, ..TWO };
    let mut player = Player::open("token-get-del@redis", three, &[], &stores).await.unwrap();
    let mut random = Random::new(1, three, 3, 1, vec![EventKind::LeaseEnds]);
    let found = sample(&mut player, &mut random, 1_000).await.unwrap();
    let Violation { play, .. } = found.shortest.unwrap();
    assert_eq!(play.told, [ResponseKind::Sold; 3], "{play:?}");
    assert_eq!(play.findings.first(), Some(&("oversold", 1)), "{play:?}");
}

#[tokio::test]
async fn a_lock_without_a_lease_is_stuck_when_its_holder_is_killed_and_one_with_a_lease_is_not() {
    let stores = stores();
    let (_, found) = explored("setnx@redis", &stores, &one_crash()).await;
    let Violation { play, .. } = found.shortest.unwrap();
    assert_eq!(play.findings, [("stuck", 1)], "{play:?}");
    assert_eq!(play.told_later, Some(ResponseKind::Busy), "{play:?}");
    let (_, found) = explored("token@redis", &stores, &one_crash()).await;
    assert_eq!(found.shortest, None);
}

#[tokio::test]
async fn a_purchase_that_waits_for_a_killed_one_goes_on_in_every_schedule() {
    let stores = stores();
    let crashes = Bounds {
        kinds: vec![EventKind::Crash],
        ..at_most(1, 2)
    };
    // A search is an error when the same choices lead to another end.
    let (_, found) = explored("conditional@sql", &stores, &crashes).await;
    assert!(found.is_exhausted);
    assert_eq!(found.shortest, None);
}

#[tokio::test]
async fn a_schedule_is_replayed_in_another_world() {
    let stores = stores();
    let (_, found) = explored("lost-update@sql", &stores, &at_most(1, 0)).await;
    let Violation { play, .. } = found.shortest.unwrap();
    let mut other = Player::open("lost-update@sql", TWO, &[], &stores).await.unwrap();
    let again = other.play(&mut Given::new(&play.choices)).await.unwrap();
    assert_eq!(again, Some(play));
}

#[tokio::test]
async fn a_purchase_that_arrives_twice_buys_once_and_is_told_so_at_both_instances() {
    let stores = stores();
    let bounds = Bounds {
        kinds: vec![EventKind::Repeat],
        ..at_most(1, 1)
    };
    let (mut player, found) = explored("conditional@sql", &stores, &bounds).await;
    assert_eq!(found.shortest, None);
    let told = [ResponseKind::Sold, ResponseKind::SoldOut, ResponseKind::Sold];
    assert!(found.ends.contains(&(told.to_vec(), Vec::new())), "{:?}", found.ends);
    // A second arrival that goes first buys, and the first one is told its order.
    let choices = [Choice::Step(0), Choice::Repeat(0), Choice::Step(2)];
    let play = player.play(&mut Given::new(&choices)).await.unwrap().unwrap();
    assert_eq!(play.told_again, [(0, ResponseKind::Sold)], "{play:?}");
    let schedule = Schedule::of("conditional@sql", &play);
    assert!(columns(&schedule).starts_with("A at app-1                              B at app-2"));
    assert!(
        columns(&schedule).contains("A again at app-2"),
        "{}",
        columns(&schedule)
    );
    assert_eq!(schedule.told.len(), 2);
}

#[tokio::test]
async fn a_lock_of_one_process_holds_at_one_instance_and_not_at_two() {
    let stores = stores();
    for (instances, violated) in [(1, false), (2, true)] {
        let arrivals = Arrivals { instances, ..TWO };
        let mut player = Player::open("mutex@redis", arrivals, &[], &stores).await.unwrap();
        let found = search(&mut player, &at_most(1, 0)).await.unwrap();
        assert!(found.is_exhausted);
        assert_eq!(found.violated > 0, violated, "{:?}", found.shortest);
    }
}
