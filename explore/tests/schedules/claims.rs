//! What a strategy says of two instances is what the explorer finds. Where that breaks it now and then, either may be.

use app::strategies::Entry;
use explore::{Bounds, Player, search};

use crate::stores;

/// The claim that is checked.
const TWO_INSTANCES: &str = "second-instance";

/// One preemption shows each of the known violations.
fn bounds() -> Bounds {
    Bounds {
        preemptions: Some(1),
        events: 0,
        kinds: Vec::new(),
        is_reduced: false,
        schedules: 2_000,
    }
}

/// It needs time to pass, which no schedule without events lets pass: its lease is too short by a factor of 1,000.
const NEEDS_TIME: &str = "expiry-value-mixed-units";

/// The services that are started here.
const STARTED: [&str; 3] = ["redis", "sql", "sql-2"];

#[tokio::test]
async fn a_strategy_is_violated_by_two_purchases_where_it_says_that_two_instances_break_it_and_not_where_it_survives_them()
 {
    let mut stores = stores();
    stores.start_service("sql-2", true).unwrap();
    let mut wrong = Vec::new();
    for entry in Entry::all() {
        if !entry.needs.iter().all(|need| STARTED.contains(need)) || entry.mechanism.name == NEEDS_TIME {
            continue;
        }
        let mut player = Player::open(&entry.name, 2, &stores).await.unwrap();
        let found = search(&mut player, &bounds()).await;
        let found = found.unwrap_or_else(|error| panic!("{}: {error:#}", entry.name));
        println!(
            "{}: {} of {} schedules are violated",
            entry.name, found.violated, found.schedules
        );
        assert!(found.is_exhausted, "{}", entry.name);
        let contradicting = if found.violated > 0 {
            entry.claims()
        } else {
            entry.broken_by()
        };
        if contradicting.contains(&TWO_INSTANCES) {
            wrong.push(format!(
                "{}: {} violated, {:?}",
                entry.name, found.violated, found.shortest
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
