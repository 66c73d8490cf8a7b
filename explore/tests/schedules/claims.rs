//! What a strategy says of a threat is what the explorer finds of schedules that stand for it. Where the threat breaks it now
//! and then, either may be.

use app::strategies::Entry;
use explore::{Arrivals, Bounds, End, EventKind, Player, Schedule, columns, search_until};
use loadtest::shop::response::ResponseKind;
use stack::Stores;

use crate::{STARTED, TWO, WITH_SESSIONS, started, strategies};

/// A threat, and the schedules that stand for it.
struct Question {
    threat: &'static str,
    instances: usize,
    preemptions: usize,
    event: Option<EventKind>,
    /// The stores of the strategies that are asked; all where there is none. A guard is the same on each.
    stores: &'static [&'static str],
    /// Mechanisms of which such schedules say less than a load does, each with the reason.
    except: &'static [(&'static str, &'static str)],
}

const ONE_INSTANCE: Question = Question {
    threat: "crowd",
    instances: 1,
    preemptions: 1,
    event: None,
    stores: &[],
    except: &[OWN_CLOCK, MIXED_UNITS],
};

const TWO_INSTANCES: Question = Question {
    threat: "second-instance",
    instances: 2,
    preemptions: 1,
    event: None,
    stores: &[],
    except: &[
        OWN_CLOCK,
        MIXED_UNITS,
        ("etcd-same-session", "two purchases have to meet in one process"),
    ],
};

/// Its buyers wait for a time by the clock of the machine, which the explorer does not move.
const OWN_CLOCK: (&str, &str) = ("interval", "an interval has to pass by the machine's clock");

/// Without an event no time passes.
const MIXED_UNITS: (&str, &str) = (
    "expiry-value-mixed-units",
    "its lease is too short by a factor of 1,000",
);

/// After a fault it may go into a sale with a count that another sale left.
const OWN_COUNT: (&str, &str) = ("token-count", "the count in its process outlives a schedule");

const CRASH: Question = Question {
    threat: "crashed-holder",
    instances: 2,
    preemptions: 0,
    event: Some(EventKind::Crash),
    stores: &[],
    except: &[OWN_CLOCK],
};

const PAUSE: Question = Question {
    threat: "paused-holder",
    instances: 2,
    preemptions: 1,
    event: Some(EventKind::LeaseEnds),
    stores: &["redis", "redis+sql"],
    except: &[
        OWN_CLOCK,
        ("expiry-value", "its lease ends by the machine's clock"),
        OWN_COUNT,
    ],
};

const SLOW_HOLDER: Question = Question {
    threat: "slow-holder",
    instances: 2,
    preemptions: 1,
    event: Some(EventKind::SlowHolder),
    stores: &["redis"],
    except: &[
        OWN_CLOCK,
        ("expiry-value", "its lease ends by the machine's clock"),
        OWN_COUNT,
    ],
};

const SECOND_CLICK: Question = Question {
    threat: "second-click",
    instances: 2,
    preemptions: 1,
    event: Some(EventKind::Repeat),
    stores: &["redis", "redis+sql"],
    except: &[OWN_CLOCK],
};

const LOST_REPLY: Question = Question {
    threat: "lost-reply",
    instances: 2,
    preemptions: 0,
    event: Some(EventKind::LostReply),
    stores: &[],
    except: &[
        OWN_CLOCK,
        ("expiry-value", "two of three purchases take its lock over at one time"),
    ],
};

/// A store that is silent for a while gets the messages late that were sent to it.
const LATE_REQUEST: Question = Question {
    threat: "store-silent",
    instances: 2,
    preemptions: 0,
    event: Some(EventKind::LateRequest),
    stores: &["redis", "redis+sql", "sql+sql"],
    except: &[
        OWN_CLOCK,
        (
            "baton",
            "a message wakes its next holder, and the relay makes messages late",
        ),
    ],
};

/// A purchase that is paused for longer than a lease, while workers look for what is overdue.
const WORKER_WAKES: Question = Question {
    threat: "paused-holder",
    instances: 2,
    preemptions: 0,
    event: Some(EventKind::WorkerWakes),
    stores: &[],
    except: &[],
};

const FAILOVER: Question = Question {
    threat: "redis-failover",
    instances: 2,
    preemptions: 1,
    event: Some(EventKind::RedisFailsOver),
    stores: &["sql"],
    except: &[OWN_CLOCK, OWN_COUNT],
};

/// Returns whether `.ci/mutations` asks, of one mechanism with an edit: then schedules may have more preemptions.
fn is_one_edit() -> bool {
    std::env::var_os("OVERSELL_TEST_MECHANISM").is_some()
}

impl Question {
    fn bounds(&self) -> Bounds {
        // A worker that acts on what it saw is interrupted once, and so is the purchase that went on meanwhile.
        let (more, schedules) = match (is_one_edit(), self.event) {
            (false, _) => (0, 2_000),
            (true, Some(EventKind::WorkerWakes)) => (2, 5_000),
            (true, _) => (1, 2_000),
        };
        Bounds {
            preemptions: Some(self.preemptions + more),
            events: usize::from(self.event.is_some()),
            kinds: self.event.into_iter().collect(),
            is_reduced: false,
            // Workers wake at the first instance, which is not that of each purchase.
            are_alike: !is_one_edit() && self.event.is_some_and(|event| event != EventKind::WorkerWakes),
            schedules,
        }
    }

    /// Returns whether a strategy can be asked.
    fn is_for(&self, entry: &Entry) -> bool {
        let is_excepted = self.except.iter().any(|(except, _)| *except == entry.mechanism.name);
        let is_here = self.stores.is_empty() || self.stores.contains(&entry.store);
        let has_workers = entry.steps.iter().any(|step| step.looks_for_work);
        is_here && !is_excepted && (has_workers || self.event != Some(EventKind::WorkerWakes))
    }

    /// Returns what is wrong: a violation of what a strategy survives, or none of what breaks it alone.
    async fn ask(&self, entry: &Entry, stores: &Stores) -> Option<String> {
        let arrivals = Arrivals {
            instances: self.instances,
            ..TWO
        };
        let mut player = Player::open(&entry.name, arrivals, self.event.as_slice(), stores)
            .await
            .unwrap();
        let found = search_until(&mut player, &self.bounds(), |found| found.violated > 0).await;
        let found = match found {
            Ok(found) => found,
            Err(error) => return Some(format!("{}: {error:#}", entry.name)),
        };
        let (violated, schedules) = (found.violated, found.schedules);
        println!("{}: {violated} of {schedules} schedules are violated", entry.name);
        assert!(found.is_exhausted || violated > 0 || is_one_edit(), "{}", entry.name);
        let gives_up = entry.mechanism.claims.gives_up;
        if found.in_vain > 0 && !gives_up {
            return Some(format!("{} tries in vain in {} schedules", entry.name, found.in_vain));
        }
        let is_unclear = |(told, _): &End| told.contains(&ResponseKind::Unknown);
        if self.event.is_none() && found.ends.iter().any(is_unclear) {
            return Some(format!("{} fails although nothing is broken", entry.name));
        }
        // Where two instances alone break it, an event breaks nothing more.
        let is_alone = self.event.is_none() || entry.claims().contains(&TWO_INSTANCES.threat);
        let is_wrong = match violated {
            0 => found.is_exhausted && is_alone && entry.broken_by().contains(&self.threat),
            _ => entry.claims().contains(&self.threat),
        };
        let shortest = found.shortest.map(|shortest| {
            let findings = &shortest.play.findings;
            let schedule = columns(&Schedule::of(&entry.name, &shortest.play));
            format!(", {findings:?}\n```\n{schedule}```")
        });
        let shortest = shortest.unwrap_or_default();
        is_wrong.then(|| format!("{}: {violated} of {schedules} violated{shortest}", entry.name))
    }
}

async fn compare(question: Question) {
    // The ensembles of these take most of a small machine beside other tests.
    let services = if is_one_edit() && question.event.is_none() {
        WITH_SESSIONS
    } else {
        STARTED
    };
    let stores = started(services);
    let mut wrong = Vec::new();
    for entry in strategies(services).iter().filter(|entry| question.is_for(entry)) {
        wrong.extend(question.ask(entry, &stores).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_strategy_is_violated_by_two_purchases_where_it_says_that_two_instances_break_it_and_not_where_it_survives_them()
 {
    compare(TWO_INSTANCES).await;
}

#[tokio::test]
async fn a_mechanism_of_postgresql_is_violated_by_two_purchases_where_it_says_so_and_not_where_it_survives_them() {
    let services = ["redis", "sql", "pg"];
    let stores = started(&services);
    let mut wrong = Vec::new();
    // The guards are asked on the other stores.
    let is_native = |entry: &&Entry| entry.store == "pg" && !entry.is_guarded();
    for entry in strategies(&services).iter().filter(is_native) {
        wrong.extend(TWO_INSTANCES.ask(entry, &stores).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_strategy_is_violated_by_two_purchases_at_one_instance_where_it_says_so_and_not_where_it_survives_them() {
    compare(ONE_INSTANCE).await;
}

#[tokio::test]
async fn a_strategy_is_violated_by_work_that_is_longer_than_a_lease_where_it_says_so_and_not_where_it_survives_it() {
    compare(SLOW_HOLDER).await;
}

#[tokio::test]
async fn a_strategy_is_violated_by_a_killed_process_where_it_says_so_and_not_where_it_survives_it() {
    compare(CRASH).await;
}

#[tokio::test]
async fn a_strategy_is_violated_by_a_purchase_that_arrives_twice_where_it_says_so_and_not_where_it_survives_it() {
    compare(SECOND_CLICK).await;
}

#[tokio::test]
async fn a_strategy_is_violated_by_a_lost_reply_where_it_says_so_and_not_where_it_survives_it() {
    compare(LOST_REPLY).await;
}

#[tokio::test]
async fn a_strategy_is_violated_by_a_request_that_arrives_after_its_purchase_where_it_says_so_and_not_where_it_survives_it()
 {
    compare(LATE_REQUEST).await;
}

#[tokio::test]
async fn a_strategy_is_violated_by_a_worker_that_wakes_beside_a_purchase_where_it_says_so_and_not_where_it_survives_it()
{
    compare(WORKER_WAKES).await;
}

#[tokio::test]
async fn a_strategy_is_violated_by_a_failover_of_redis_where_it_says_so_and_not_where_it_survives_it() {
    compare(FAILOVER).await;
}

#[tokio::test]
async fn a_strategy_is_violated_by_the_end_of_a_lease_where_it_says_so_and_not_where_it_survives_it() {
    compare(PAUSE).await;
}
