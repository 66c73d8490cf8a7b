//! Real stores: those that tests share, and those that one test has for itself.

use std::sync::{Arc, Mutex, PoisonError};

use app::services::Services;
use app::strategies::Entry;
use stack::{Parts, Stores};

/// The services that are started before a strategy asks for them.
const ALWAYS_THERE: [&str; 2] = ["redis", "sql"];

/// The stores that tests share, from the first test that needs them to the end of all tests: an ensemble takes seconds to start.
static STORES: Mutex<Option<Arc<Stores>>> = Mutex::new(None);

pub fn stores() -> Arc<Stores> {
    let mut shared = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let start = || {
        // SAFETY: the function may run at any time after this, in any thread: it takes a lock, and panics never cross it.
        unsafe { libc::atexit(stop) };
        services_of_its_own()
    };
    shared.get_or_insert_with(start).clone()
}

/// Stops the shared stores. Nothing drops a static, and a server that the kernel kills leaves its folder behind.
extern "C" fn stop() {
    let stopped = STORES.lock().map(|mut shared| shared.take());
    drop(stopped);
}

/// Redis, MariaDB and these further services, for a test that breaks them or that no other test may disturb.
pub fn stores_of_its_own(further: &[&str]) -> Arc<Stores> {
    // The shop says in its log which store failed; the test runner shows it when the test fails.
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_test_writer()
        .try_init();
    let stores = Stores::start(&Parts {
        redis_url: None,
        sql_url: None,
        fetch: true,
    });
    let mut stores = stores.unwrap_or_else(|error| panic!("the stores do not start: {error:#}"));
    for service in further {
        // The tests of the stack say whether a service can be had. Here the rest is tested without it.
        if let Err(error) = stores.start_service(service, true) {
            eprintln!("without {service}: {error:#}");
        }
    }
    Arc::new(stores)
}

/// Redis and MariaDB, with every further service that a strategy needs.
pub fn services_of_its_own() -> Arc<Stores> {
    let entries = Entry::all();
    let needs = entries.iter().flat_map(|entry| entry.needs.iter().copied());
    let further = needs.filter(|need| !ALWAYS_THERE.contains(need));
    stores_of_its_own(&further.collect::<Vec<_>>())
}

/// Shows the state of each server and the end of its log, of one that has ended more than of one that runs.
pub(super) fn show_logs(stores: &Stores) {
    let further = stores.services().flat_map(|(kind, _)| stores.processes(kind));
    for server in stores.redis().into_iter().chain(stores.mariadb()).chain(further) {
        let (state, most) = if server.has_exited() {
            ("has ended", 20)
        } else {
            ("runs", 3)
        };
        let tail = server.log().tail;
        let lines: Vec<_> = tail.lines().rev().take(most).collect();
        eprintln!("{} {state}; the end of its log:", server.name());
        lines.iter().rev().for_each(|line| eprintln!("    {line:.300}"));
    }
}

/// Where the stores are, for an instance.
pub fn services(stores: &Stores) -> Services {
    let services = Services::default()
        .with("redis", [stores.redis_url()])
        .with("sql", [stores.sql_url()]);
    let further = stores.services();
    further.fold(services, |services, (kind, urls)| {
        services.with(kind.name(), urls.iter().map(String::as_str))
    })
}
