//! The same shop on trial by the contract and by a shop file: both verdicts agree.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};

use crate::harness::{SOON, interrupt, output, oversell, stderr, stdout, up, word};

fn file(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/race");
    fs::read_to_string(examples.join(name)).unwrap()
}

#[test]
fn a_shop_file_leads_to_the_verdict_of_the_contract() {
    let (mut child, said) = up(&[]);
    let [host, redis, sql, admin, token] = ["shop", "redis", "sql", "app-1", "token"].map(|name| word(&said, name));
    let admin_2 = word(&said, "app-2");
    let folder = tempfile::tempdir().unwrap();
    for (name, from, cases) in [
        (
            "oversell.toml",
            "lost-update@sql",
            [("lost-update@sql", 1), ("conditional@sql", 0)],
        ),
        (
            "python.toml",
            "read-then-write@redis",
            [("none@redis", 1), ("lua@redis", 0)],
        ),
    ] {
        for (strategy, status) in cases {
            let shop = folder.path().join("shop.toml");
            let text = file(name)
                .replace(from, strategy)
                .replace("http://127.0.0.1:7000", "$OVERSELL_URL");
            fs::write(&shop, text).unwrap();
            let mut race = oversell(&["race", "--rounds", "2", "--results", "kept"]);
            let race = race.arg(&shop).current_dir(&folder);
            let raced = race
                .env("OVERSELL_URL", &host)
                .env("OVERSELL_REDIS_URL", &redis)
                .env("OVERSELL_SQL_URL", &sql)
                .output()
                .unwrap();
            assert_eq!(
                raced.status.code(),
                Some(status),
                "{strategy}: {}{}",
                stdout(&raced),
                stderr(&raced)
            );
            let kept = fs::read_to_string(folder.path().join("kept/race.json")).unwrap();
            assert!(!kept.contains(&sql) && !kept.contains(&redis), "{kept}");

            let at = [
                "--host",
                &host,
                "--admin",
                &admin,
                "--admin",
                &admin_2,
                "--admin-token",
                &token,
            ];
            let stores = ["--redis", &redis, "--sql", &sql, "--repeat", "1"];
            let asked = ["--strategy", strategy, "--threat", "second-instance", "--json"];
            let kept = folder.path().join("run");
            let into = ["--results", kept.to_str().unwrap()];
            let ran = output(&[&["run"], &at[..], &stores, &asked, &into].concat());
            let verdict = if status == 1 {
                "\"verdict\": \"violated\""
            } else {
                "\"verdict\": \"holds\""
            };
            assert!(stdout(&ran).contains(verdict), "{strategy}: {}", stdout(&ran));
        }
    }
    interrupt(&child);
    child.wait().unwrap();
}

#[test]
fn a_shop_file_that_is_wrong_or_of_another_owner_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let example = stdout(&output(&["race", "--example"]));
    let schema: serde_json::Value = serde_json::from_str(&stdout(&output(&["race", "--schema"]))).unwrap();
    assert_eq!(schema["type"], "object");
    let shop = folder.path().join("shop.toml");
    for (text, says) in [
        (
            example.replace("http://127.0.0.1:8000", "http://8.8.8.8"),
            "--i-own-this-shop says that it is yours",
        ),
        (
            example.replace("stock = 3", "stock = 0"),
            "sale.stock is a number from 1 to 1000000",
        ),
        (example.replace("[answers]", "[answer]"), "unknown field `answer`"),
        ("x".repeat(300_000), "it is over 262144 bytes"),
    ] {
        fs::write(&shop, text).unwrap();
        let refused = oversell(&["race"]).arg(&shop).output().unwrap();
        assert_eq!(refused.status.code(), Some(64), "{}", stderr(&refused));
        assert!(stderr(&refused).contains(says), "{}", stderr(&refused));
    }
    let nothing = output(&["race"]);
    assert_eq!(nothing.status.code(), Some(64), "{}", stderr(&nothing));
}

/// Starts a shop with one unit that answers no purchase. Returns its base URL, and each request line when it comes.
fn silent_shop() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (asked, lines) = channel();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap();
            let text = String::from_utf8_lossy(&request[..length]);
            let line = text.lines().next().unwrap_or_default().to_owned();
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n1";
            if line.contains("/buy") {
                open.push(stream);
            } else {
                stream.write_all(answer).unwrap();
            }
            let _ = asked.send(line);
        }
    });
    (base, lines)
}

#[test]
fn ctrl_c_in_the_middle_of_a_round_or_of_a_walk_closes_the_sale() {
    let (base, lines) = silent_shop();
    let folder = tempfile::tempdir().unwrap();
    let shop = folder.path().join("shop.toml");
    let text = format!(
        "url = \"{base}\"\n[sale]\nstock = 1\nclose = [{{ request = \"POST /close\" }}]\n[race]\nrequest = \"POST /buy\"\n\
         [answers]\nsold = {{ status = 201 }}\nsold_out = {{ status = 409 }}\n[stock]\nrequest = \"GET /stock\"\n"
    );
    fs::write(&shop, text).unwrap();
    let until = |wanted: &str| while !lines.recv_timeout(SOON).unwrap().starts_with(wanted) {};
    for arguments in [&["race"][..], &["race", "--check"]] {
        let mut race = oversell(arguments);
        let race = race.arg(&shop).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = race.spawn().unwrap();
        until("POST /buy");
        interrupt(&child);
        until("POST /close");
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130), "{}", stderr(&ended));
    }
}
