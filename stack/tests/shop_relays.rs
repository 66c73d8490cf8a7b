//! The relays of a shop: one for each instance before each store, and those behind a proxy that retries.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::sync::mpsc;
use std::thread;

use stack::{Ready, Relay, ServiceKind};

mod world;

#[test]
fn a_retrying_proxy_asks_the_next_instance_for_an_answer_that_was_lost() {
    let stores = world::no_stores();
    let mut options = world::options(2);
    options.retrying = true;
    let shop = stores.shop(&options).unwrap();
    let first = &shop.relays_before()[0];
    first.lose_replies();
    // By turns, so one of them comes to the first instance.
    let (answer, answers) = mpsc::channel();
    for _ in 0..2 {
        let (host, answer) = (shop.host(), answer.clone());
        thread::spawn(move || answer.send(world::ask(&host, "POST", "/purchases")));
    }
    let assert_is_of_the_second = |answer: String| {
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.ends_with("app-2"),
            "{answer}"
        );
    };
    // Only once the other is answered: a request asked again moves the turn on.
    assert_is_of_the_second(answers.recv().unwrap());
    while first.affected() == 0 {
        thread::yield_now();
    }
    first.pass();
    assert_is_of_the_second(answers.recv().unwrap());
}

#[test]
fn each_instance_reaches_the_stores_by_relays_of_its_own() {
    let stores = world::stores();
    let mut options = world::options(2);
    options.relays = vec![ServiceKind::Redis, ServiceKind::Sql];
    let shop = stores.shop(&options).unwrap();
    let told: Vec<String> = shop
        .publics()
        .iter()
        .map(|public| world::ask(public, "GET", "/environment"))
        .collect();
    let ways: Vec<&Relay> = shop.relays(ServiceKind::Redis).collect();
    assert_eq!(ways.len(), 2);
    for (told, way) in told.iter().zip(&ways) {
        let url = format!("redis+unix://{}", way.at().socket().unwrap().display());
        assert!(told.ends_with(&url), "{told} does not name {url}");
        Ready::Redis(way.at().socket().unwrap().to_owned()).check().unwrap();
    }
    ways[0].cut();
    ways[0].silence();
    assert!(Ready::Redis(ways[0].at().socket().unwrap().to_owned()).check().is_err());
    Ready::Redis(ways[1].at().socket().unwrap().to_owned()).check().unwrap();
    shop.pass_all();
    Ready::Redis(ways[0].at().socket().unwrap().to_owned()).check().unwrap();
    assert_eq!(shop.relays(ServiceKind::Sql).count(), 2);
}

#[test]
fn no_relay_is_put_before_a_store_that_runs_elsewhere() {
    let mut options = world::options(1);
    options.relays = vec![ServiceKind::Redis];
    let said = world::no_stores().shop(&options).err().unwrap().to_string();
    assert!(said.contains("before Redis: it was not started here"), "{said}");
}
