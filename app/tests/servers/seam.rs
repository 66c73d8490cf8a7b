//! Every command passes the seam, and every step at the seam is sent: the tests compare the steps with the commands that the
//! stores received.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use app::domain::Outcome;
use app::probe::Effect;
use app::strategies::Entry;
use app::timeouts::Timeouts;
use futures_util::future::join_all;

use crate::counters::is_counted;
use crate::harness::PATIENT;
use crate::observed::{Observed, Seeing};
use crate::received::{self, Command, joined};

/// The commands of Redis; then the statements of MariaDB, its pings, and the calls that other services only count.
type Commands = (Vec<String>, Vec<String>);

/// The names of commands.
fn names((redis, sql): &received::Commands) -> Commands {
    let named = |commands: &[Command]| commands.iter().map(|command| command.name.clone()).collect();
    (named(redis), named(sql))
}

/// The steps that touched more than they say. The commands are those of the steps, in the same order.
fn untrue_effects(called: &str, seen: &[Seeing], (redis, sql): &received::Commands) -> Vec<String> {
    let mut untrue = Vec::new();
    let (mut redis, mut sql) = (redis.iter(), sql.iter());
    for seeing in seen.iter().filter(|seeing| seeing.said.is_none()) {
        let logged = |command: &&&str| !is_counted(command);
        let commands = seeing.step.sends.iter().filter(logged).map(|command| {
            let of_redis = command.chars().all(char::is_uppercase);
            if of_redis { redis.next() } else { sql.next() }
        });
        let touched = commands
            .flatten()
            .map(|command| command.touched)
            .fold(Effect::NONE, joined);
        let (step, says) = (seeing.step.name, seeing.step.effect());
        if !says.covers(touched) {
            untrue.push(format!(
                "{called}: {step} says {says:?}, and the stores saw {touched:?}"
            ));
        }
    }
    untrue
}

/// The commands that the steps in `seen` declare, of purchases or of workers.
fn declared(seen: &[Seeing], by_purchase: bool) -> Commands {
    let sent = seen.iter().filter(|seeing| seeing.by_purchase == by_purchase);
    let sent = sent.flat_map(|seeing| match (seeing.said.as_deref(), &*seeing.key) {
        (None, _) => seeing.step.sends,
        (Some("tested"), "redis") => &["PING"],
        // A message that is no statement, and in no log.
        (Some("tested"), "postgres") => &[],
        (Some("tested"), _) => &["ping"],
        _ => &[],
    });
    // Among the reads that ZooKeeper counts are heartbeats, which the client sends by itself.
    let compared = sent.filter(|command| **command != "zookeeper/read");
    let sent = compared.map(|command| (*command).to_owned());
    let (redis, mut sql): (_, Vec<_>) = sent.partition(|command: &String| command.chars().all(char::is_uppercase));
    sql.sort_by_key(|command| (command == "ping", is_counted(command).then(|| command.clone())));
    (redis, sql)
}

/// By these a new connection introduces itself, a client checks one or asks for the nodes of a cluster, and a statement is made known
/// for the first time: they fall within the step that needed them. The PINGs of listeners for wake-ups are left out with those of the
/// cluster's client: nothing tells one from the other, and a PING touches no data.
const INTRODUCTIONS: [&str; 9] = [
    "AUTH", "CLIENT", "CLUSTER", "HELLO", "PING", "READONLY", "connect", "prepare", "set",
];

/// The commands but for introductions. A script that is loaded was asked for in vain before.
fn without_introductions(commands: Vec<String>) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for command in commands {
        if command == "SCRIPT" {
            let asked = known.iter().rposition(|known| known == "EVALSHA");
            asked.map(|asked| known.remove(asked));
        } else if !INTRODUCTIONS.contains(&command.as_str()) {
            known.push(command);
        }
    }
    known
}

/// Whether `received` are the commands of purchases and workers, those of purchases in their order. Several workers send at
/// one time: theirs may arrive in another order.
fn is_made_of(received: Commands, purchases: Commands, workers: Commands) -> bool {
    let is_made = |received: Vec<String>, purchases: Vec<String>, workers: Vec<String>| {
        // Some mechanisms send for themselves what also introduces a connection.
        let [received, purchases, workers] = [received, purchases, workers].map(without_introductions);
        // A ping is in no log, and has no place among the others.
        let mut statements = purchases.iter().filter(|command| *command != "ping");
        let mut arrived = received.iter();
        let is_in_order = statements.all(|own| arrived.any(|command| command == own));
        is_in_order && sorted(received) == sorted([purchases, workers].concat())
    };
    is_made(received.0, purchases.0, workers.0) && is_made(received.1, purchases.1, workers.1)
}

fn sorted(mut commands: Vec<String>) -> Vec<String> {
    commands.sort();
    commands
}

#[tokio::test]
async fn the_commands_of_a_sale_a_repeat_a_refusal_and_an_unknown_item_are_the_steps_at_the_seam_in_the_same_order() {
    let mut observed = Observed::start(PATIENT).await;
    let mut untrue = Vec::new();
    for listed in observed.usable() {
        let called = &listed.entry.name;
        // The first purchases make the connections, prepared statements and scripts.
        for measured in [false, true] {
            let item = observed.sale(1).await;
            observed.since(true).await;
            for (item, key, sold) in [
                (&*item, "k-1", true),
                (&*item, "k-1", false),
                (&*item, "k-2", false),
                ("none", "k", false),
            ] {
                let outcome = observed.buy(&listed, item, key, Duration::ZERO).await;
                assert_eq!(matches!(outcome, Outcome::Sold { .. }), sold, "{called}: {outcome:?}");
                let seen = if measured {
                    // A call that no step sends is noticed after the last purchase.
                    let (seen, in_full) = observed.since(item == "none").await;
                    let received = names(&in_full);
                    assert!(received != (vec![], vec![]), "{called}: the stores' logs are silent");
                    let (purchases, workers) = (declared(&seen, true), declared(&seen, false));
                    if workers == Commands::default() {
                        assert_eq!(purchases, received, "{called}, {outcome:?}");
                        untrue.extend(untrue_effects(called, &seen, &in_full));
                    } else {
                        let what = format!("{called}, {outcome:?}: {received:?}, {purchases:?}, {workers:?}");
                        assert!(is_made_of(received, purchases, workers), "{what}");
                    }
                    seen
                } else {
                    observed.steps().await
                };
                assert_declared(&listed.entry, &seen);
            }
        }
    }
    assert!(untrue.is_empty(), "{}", untrue.join("\n"));
}

/// Each step is one that the strategy lists, it came back before the next one began, and it said something.
fn assert_declared(entry: &Entry, seen: &[Seeing]) {
    let called = &entry.name;
    let by_purchase: Vec<_> = seen.iter().filter(|seeing| seeing.by_purchase).collect();
    for pair in by_purchase.chunks(2) {
        let [before, after] = pair else {
            panic!("{called}: {pair:?} never came back")
        };
        assert!(entry.steps.contains(&before.step), "{called} does not list {before:?}");
        assert_eq!((before.step, &before.said), (after.step, &None), "{called}");
        assert!(
            after.said.as_ref().is_some_and(|said| !said.is_empty()),
            "{called}: {after:?}"
        );
    }
}

/// A renewal that was aborted at the release of its lock may still be on its way: a store receives it a little later, or never.
const LATE_COMMANDS_WITHIN: Duration = Duration::from_secs(30);

/// The number of waits, lost attempts, rollbacks, renewals and wake-ups differs each time, but both sides count the same.
#[tokio::test(flavor = "multi_thread")]
async fn under_a_crowd_the_stores_receive_as_many_commands_as_pass_the_seam() {
    // Leases have to be renewed, and a purchase that tries again as long as it may gives up soon.
    let timeouts = Timeouts {
        wait: Duration::from_secs(1),
        lease: Duration::from_millis(60),
    };
    let mut observed = Observed::start(timeouts).await;
    for listed in observed.usable() {
        let called = &listed.entry.name;
        for measured in [false, true] {
            let item = observed.sale(4).await;
            observed.since(true).await;
            let keys: Vec<_> = (0..8).map(|n| format!("k-{}", n % 6)).collect();
            let work = Duration::from_millis(30);
            join_all(keys.iter().map(|key| observed.buy(&listed, &item, key, work))).await;
            if !measured {
                continue;
            }
            let (mut seen, received) = observed.since(true).await;
            let mut received = vec![names(&received)];
            let deadline = Instant::now() + LATE_COMMANDS_WITHIN;
            loop {
                let both = counted([without_refused_transactions(&seen), declared(&seen, false)]);
                let arrived = counted(received.clone());
                if both == arrived {
                    break;
                }
                if Instant::now() >= deadline {
                    let missing = missing(&both, &arrived);
                    let is_explained = missing.is_some_and(|missing| is_aborted(&missing, &seen));
                    assert!(is_explained, "{called}: {both:?} passed the seam, {arrived:?} arrived");
                    break;
                }
                let (late, received_late) = observed.since(true).await;
                seen.extend(late);
                received.push(names(&received_late));
            }
        }
    }
}

/// Returns how often each command of `steps` was not received, or `None` where more was received.
fn missing(steps: &BTreeMap<String, usize>, received: &BTreeMap<String, usize>) -> Option<BTreeMap<String, usize>> {
    let times = |commands: &BTreeMap<String, usize>, command| commands.get(command).copied().unwrap_or(0);
    let all = steps.keys().chain(received.keys());
    let missing = all.map(|command| {
        let missing = times(steps, command).checked_sub(times(received, command))?;
        Some((command.clone(), missing))
    });
    missing.collect()
}

/// Whether steps that never came back explain the missing commands.
fn is_aborted(missing: &BTreeMap<String, usize>, seen: &[Seeing]) -> bool {
    missing.iter().all(|(command, missing)| {
        let sends = |seeing: &&Seeing| seeing.step.sends.contains(&&**command);
        let (ended, begun): (Vec<_>, Vec<_>) = seen.iter().filter(sends).partition(|seeing| seeing.said.is_some());
        ended.len() + missing <= begun.len()
    })
}

/// MONITOR shows the commands that MULTI has queued when EXEC carries them out, and never when EXEC refuses.
fn without_refused_transactions(seen: &[Seeing]) -> Commands {
    let (mut redis, sql) = declared(seen, true);
    let refused = seen
        .iter()
        .filter(|seeing| seeing.said.as_deref().is_some_and(|said| said.starts_with("nil: ")));
    let queued = refused
        .flat_map(|seeing| seeing.step.sends)
        .filter(|command| !["MULTI", "EXEC"].contains(command));
    for queued in queued {
        let at = redis.iter().position(|command| command == queued);
        redis.remove(at.unwrap());
    }
    (redis, sql)
}

/// How often each command came, but for introductions.
fn counted(commands: impl IntoIterator<Item = Commands>) -> BTreeMap<String, usize> {
    let commands = commands.into_iter().flat_map(|(redis, sql)| [redis, sql]);
    let mut counted = BTreeMap::new();
    for command in commands.flat_map(without_introductions) {
        *counted.entry(command).or_default() += 1;
    }
    counted
}
