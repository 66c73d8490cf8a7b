//! Instances behind nginx.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeSet;
use std::net::TcpListener;

mod world;

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn every_instance_answers_through_nginx() {
    let stores = world::no_stores();
    let shop = stores.shop(&world::options(3)).unwrap();
    let answers: Vec<String> = (0..6).map(|_| world::ask(&shop.host(), "GET", "/")).collect();
    let names: BTreeSet<&str> = answers.iter().map(|answer| body(answer)).collect();
    assert_eq!(names, BTreeSet::from(["app-1", "app-2", "app-3"]));
    assert_eq!(shop.admins().len(), 3);
}

#[test]
fn an_instance_is_told_where_the_stores_are() {
    let stores = world::no_stores();
    let shop = stores.shop(&world::options(1)).unwrap();
    assert_eq!(
        body(&world::ask(&shop.host(), "GET", "/environment")),
        stores.redis_url()
    );
}

#[test]
fn each_instance_has_a_folder_for_traces_of_its_own_and_keeps_it_over_a_restart() {
    let stores = world::no_stores();
    let shop = stores.shop(&world::options(2)).unwrap();
    let ask = |public: &String| body(&world::ask(public, "GET", "/traces")).to_owned();
    let folders = || shop.publics().iter().map(ask).collect::<Vec<_>>();
    let before = folders();
    assert!(
        before[0] != before[1] && before.iter().all(|folder| folder.starts_with('/')),
        "{before:?}"
    );
    shop.instances()[0].kill().unwrap();
    shop.revive().unwrap();
    assert_eq!(folders(), before);
}

#[test]
fn a_purchase_that_was_received_is_never_sent_to_a_second_instance() {
    let stores = world::no_stores();
    let shop = stores.shop(&world::options(2)).unwrap();
    let answer = world::ask(&shop.host(), "POST", "/crash");
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    let revived = shop.revive().unwrap();
    assert_eq!(revived.len(), 1, "{revived:?}");
    assert!(shop.instances().iter().all(|instance| !instance.has_exited()));
}

#[test]
fn while_an_instance_is_down_the_other_answers_everything() {
    let stores = world::no_stores();
    let shop = stores.shop(&world::options(2)).unwrap();
    shop.instances()[0].kill().unwrap();
    for _ in 0..4 {
        assert_eq!(body(&world::ask(&shop.host(), "POST", "/")), "app-2");
    }
    assert_eq!(shop.revive().unwrap(), ["app-1"]);
    let names: BTreeSet<String> = (0..4)
        .map(|_| body(&world::ask(&shop.host(), "POST", "/")).to_owned())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a_port_that_is_taken_is_named_at_once() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut options = world::options(1);
    options.port = Some(port);
    let said = format!("{:#}", world::no_stores().shop(&options).err().unwrap());
    assert!(said.contains(&format!("port {port} cannot be used")), "{said}");
    assert!(said.contains("in use"), "{said}");
}

#[test]
fn port_0_takes_a_free_one() {
    let mut options = world::options(1);
    options.port = Some(0);
    let stores = world::no_stores();
    let shop = stores.shop(&options).unwrap();
    assert!(world::ask(&shop.host(), "GET", "/").starts_with("HTTP/1.1 200"));
}

#[test]
fn an_instance_that_cannot_start_says_why() {
    let mut options = world::options(1);
    options.program = "/bin/cat".into();
    let said = format!("{:#}", world::no_stores().shop(&options).err().unwrap());
    assert!(said.contains("app-1 ended before it was ready"), "{said}");
    assert!(said.contains("unrecognized option"), "{said}");
}

#[test]
fn two_shops_on_the_same_stores_do_not_collide() {
    let stores = world::no_stores();
    let (one, other) = (
        stores.shop(&world::options(2)).unwrap(),
        stores.shop(&world::options(2)).unwrap(),
    );
    assert_ne!(one.host(), other.host());
    drop(one);
    assert!(world::ask(&other.host(), "GET", "/").starts_with("HTTP/1.1 200"));
}
