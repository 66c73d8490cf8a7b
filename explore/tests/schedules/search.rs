//! Strategies whose schedules are known are explored on real stores.

use explore::{Bounds, Choice, Cost, Found, Player, Schedule, columns, search};
use loadtest::shop::response::ResponseKind;
use stack::Stores;

use crate::stores;

async fn explored(strategy: &str, stores: &Stores, cost: Cost) -> (Player, Found) {
    let bounds = Bounds { cost, schedules: 5_000 };
    let mut player = Player::open(strategy, stores).await.unwrap();
    let found = search(&mut player, bounds).await.unwrap();
    println!(
        "{strategy}: {} of {} schedules violated",
        found.violated, found.schedules
    );
    (player, found)
}

/// Explores, and returns the shortest schedule that oversells, after it was played again.
async fn oversold(strategy: &str, stores: &Stores, cost: Cost) -> Schedule {
    let (mut player, found) = explored(strategy, stores, cost).await;
    let shortest = found.shortest.unwrap();
    assert_eq!(shortest.told, [ResponseKind::Sold; 2], "{strategy}");
    let again = player.play(&shortest.choices(), cost).await.unwrap();
    assert_eq!(again, shortest, "{strategy}");
    Schedule::of(strategy, &shortest)
}

#[tokio::test]
async fn the_schedule_that_oversells_is_found_without_a_hint_and_replayed() {
    let stores = stores();
    let cost = Cost {
        preemptions: 1,
        events: 0,
    };
    for strategy in [
        "unlock-before-write@redis",
        "lost-update@sql",
        "ignored-result@sql",
        "none@redis",
    ] {
        let schedule = oversold(strategy, &stores, cost).await;
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
    let cost = Cost {
        preemptions: 1,
        events: 1,
    };
    let schedule = oversold("token@redis", &stores, cost).await;
    assert!(schedule.choices.contains(&Choice::LeaseEnds), "{schedule:?}");
    let (_, found) = explored("fenced@redis", &stores, cost).await;
    assert!(found.is_exhausted);
    assert_eq!(found.shortest, None);
}

#[tokio::test]
async fn a_strategy_that_holds_holds_in_every_schedule_within_the_bound() {
    let stores = stores();
    let cost = Cost {
        preemptions: 2,
        events: 0,
    };
    for strategy in [
        "lua@redis",
        "token@redis",
        "watch-multi@redis",
        "conditional@sql",
        "for-update@sql",
        "compare-num@sql",
    ] {
        let (_, found) = explored(strategy, &stores, cost).await;
        assert!(found.is_exhausted, "{strategy}: {} schedules", found.schedules);
        assert_eq!(found.violated, 0, "{strategy}: {:?}", found.shortest);
    }
}
