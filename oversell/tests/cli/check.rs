//! `oversell check`: the first point of the contract that a shop does not meet, in words.

use std::process::Output;

use crate::harness::{answering, interrupt, output, stderr, stdout, up, word};

fn check(arguments: &[&str]) -> Output {
    output(&[&["check"], arguments].concat())
}

#[test]
fn a_shop_that_meets_the_contract_is_ready_and_one_that_does_not_is_told_what_to_build_first() {
    let (mut child, said) = up(&["--instances", "2"]);
    let [host, admin, token, redis, sql] = ["shop", "app-1", "token", "redis", "sql"].map(|name| word(&said, name));
    let at = ["--admin", &admin, "--admin-token", &token];
    let ready = check(&[&[host.as_str()], &at[..], &["--redis", &redis, "--sql", &sql]].concat());
    let shown = stdout(&ready);
    assert_eq!(ready.status.code(), Some(0), "{shown}{}", stderr(&ready));
    assert!(
        shown.contains("ok   lua@redis opens, sells, repeats, refuses and closes a sale\n"),
        "{shown}"
    );
    assert!(shown.contains("ok   tcc@redis+sql opens"), "{shown}");
    assert!(
        shown.contains("The shop is ready for a trial:") && !shown.contains(&token),
        "{shown}"
    );

    let one_store = check(&[&[host.as_str()], &at[..], &["--redis", &redis]].concat());
    let shown = stdout(&one_store);
    assert_eq!(one_store.status.code(), Some(0), "{shown}{}", stderr(&one_store));
    assert!(
        shown.contains("ok   conditional@sql is skipped: --sql is not given\n"),
        "{shown}"
    );

    for (arguments, first) in [
        (&[][..], "no   the stores can be read\n     seen:  no store is given\n"),
        (&["--redis", &redis], "no   each instance has an admin listener"),
        (
            &["--admin", &admin, "--redis", &redis],
            "seen:  --admin-token is not given",
        ),
        (
            &["--admin", &admin, "--admin-token", "wrong", "--redis", &redis],
            "PUT /sales/ITEM opens a sale with an empty ledger\n     seen:  401 ",
        ),
        (
            &["--admin", &host, "--admin-token", &token, "--redis", &redis],
            "PUT /sales/ITEM opens a sale with an empty ledger\n     seen:  404 ",
        ),
    ] {
        let missed = check(&[&[host.as_str()], arguments].concat());
        let shown = stdout(&missed);
        assert_eq!(missed.status.code(), Some(1), "{shown}{}", stderr(&missed));
        assert!(
            shown.contains(first) && shown.contains("\n     build: "),
            "{first}: {shown}"
        );
        assert!(!shown.contains("ready for a trial"), "{shown}");
    }
    interrupt(&child);
    child.wait().unwrap();
}

#[test]
fn a_catalogue_that_is_none_is_shown_with_what_it_has_to_be() {
    let (mut child, said) = up(&["--instances", "1"]);
    let [admin, token, redis] = ["app-1", "token", "redis"].map(|name| word(&said, name));
    let at = ["--admin", &admin, "--admin-token", &token, "--redis", &redis];
    for (response, point, seen) in [
        ("501 Not Implemented", "no   GET /readyz answers 2xx", "seen:  501"),
        (
            "200 OK",
            "no   GET /strategies answers 200 with the catalogue\n",
            "it is not a catalogue",
        ),
    ] {
        let missed = check(&[&[answering(response).as_str()], &at[..]].concat());
        let shown = stdout(&missed);
        assert_eq!(missed.status.code(), Some(1), "{shown}{}", stderr(&missed));
        assert!(shown.contains(point) && shown.contains(seen), "{shown}");
        assert_eq!(
            shown.contains(r#"[{"name":"mine@redis""#),
            response == "200 OK",
            "{shown}"
        );
    }
    let silent = check(&[&["http://127.0.0.1:9"], &at[..]].concat());
    assert_eq!(silent.status.code(), Some(69), "{}", stdout(&silent));
    interrupt(&child);
    child.wait().unwrap();
}
