//! Readers that close their pipe early: `oversell ... | head -0`.

use std::io::pipe;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::faults::instance;
use crate::harness::{interrupt, output, oversell, stderr, until};

/// The write end of a pipe whose reader has gone.
fn closed() -> Stdio {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn a_reader_of_results_who_has_gone_is_no_error() {
    let result = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../results/2026-11-25-lock-against-watch-1-item"
    );
    for arguments in [&["--help"][..], &["--version"], &["doctor"], &["report", result]] {
        let seen = output(arguments);
        let mut unseen = oversell(arguments);
        let unseen = unseen.stdout(closed()).output().unwrap();
        assert_eq!(
            unseen.status.code(),
            seen.status.code(),
            "{arguments:?}: {}",
            stderr(&unseen)
        );
        assert_eq!(stderr(&unseen), stderr(&seen), "{arguments:?}");
    }
}

#[test]
fn an_error_that_nobody_reads_keeps_its_exit_status() {
    for arguments in [
        &["--buyers", "0"][..],
        &["report", "/nowhere"],
        &["--quantity", "5", "--stock", "4"],
    ] {
        let mut unheard = oversell(arguments);
        let unheard = unheard.stdout(closed()).stderr(closed()).status().unwrap();
        assert_eq!(unheard.code(), Some(64), "{arguments:?}");
    }
}

#[test]
fn a_shop_stays_up_though_nobody_reads_how_to_reach_it() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = oversell(&["up", "--instances", "1", "--port", &port.to_string()]);
    let mut child = command.stdout(closed()).stderr(closed()).spawn().unwrap();
    let ready = format!("http://127.0.0.1:{port}/readyz");
    // More than once: the program has to see it, too.
    for _ in 0..5 {
        until("a shop that is ready", || {
            let asked = Command::new("curl").args(["-fsS", &ready]).output().unwrap();
            asked.status.success().then_some(())
        });
    }
    let first = instance(child.id()).unwrap();
    let killed = Command::new("kill").args(["-KILL", &first.to_string()]).status();
    assert!(killed.unwrap().success());
    // Only a shop that has come as far as to look after its instances starts it again.
    until("another instance", || {
        instance(child.id()).filter(|other| *other != first)
    });
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
