//! The same shop on trial by the contract and by a shop file: both verdicts agree.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

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

/// A shop that is asked by this test.
struct Served {
    folder: tempfile::TempDir,
    /// Each request line when it comes.
    lines: Receiver<String>,
}

impl Served {
    /// Starts a shop with one unit, which answers purchases or not, and writes its shop file with this end.
    fn start(sells: bool, end: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (asked, lines) = channel();
        let stock = Arc::new(Mutex::new(1));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (asked, stock) = (asked.clone(), stock.clone());
                std::thread::spawn(move || serve(stream, sells, &asked, &stock));
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "url = \"{base}\"\n[sale]\nstock = 1\nopen = [{{ request = \"POST /open\" }}]\n\
             close = [{{ request = \"POST /close\" }}]\n[race]\nrequest = \"POST /buy\"\n\
             [answers]\nsold = {{ status = 201 }}\nsold_out = {{ status = 409 }}\n[stock]\nrequest = \"GET /stock\"\n{end}"
        );
        fs::write(folder.path().join("shop.toml"), text).unwrap();
        Self { folder, lines }
    }

    fn race(&self, arguments: &[&str]) -> Command {
        let mut race = oversell(&[&["race", "shop.toml"], arguments].concat());
        race.current_dir(&self.folder);
        race.stdout(Stdio::piped()).stderr(Stdio::piped());
        race
    }

    fn until(&self, wanted: &str) {
        while !self.lines.recv_timeout(SOON).unwrap().starts_with(wanted) {}
    }
}

/// Answers the one request of a connection.
fn serve(mut stream: TcpStream, sells: bool, asked: &Sender<String>, stock: &Mutex<i64>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(line)) = lines.next() else { return };
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    // The test may not listen any more.
    let _ = asked.send(line.clone());
    let mut stock = stock.lock().unwrap();
    let status = match line.split_whitespace().nth(1) {
        Some("/buy") if !sells => {
            drop(stock);
            // Until the buyer gives up.
            let _ = stream.read(&mut [0]);
            return;
        }
        Some("/buy") if *stock > 0 => {
            *stock -= 1;
            "201 Created"
        }
        Some("/buy") => "409 Conflict",
        Some("/open") => {
            *stock = 1;
            "200 OK"
        }
        _ => "200 OK",
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: 1\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(format!("{head}{stock}").as_bytes());
}

#[test]
fn ctrl_c_in_the_middle_of_a_round_or_of_a_walk_closes_the_sale() {
    let shop = Served::start(false, "");
    for arguments in [&[][..], &["--check"]] {
        let child = shop.race(arguments).spawn().unwrap();
        shop.until("POST /buy");
        interrupt(&child);
        shop.until("POST /close");
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130), "{}", stderr(&ended));
    }
}

#[test]
fn races_with_a_fault_follow_one_without_it_and_the_table_says_what_it_did() {
    let shop = Served::start(true, "[fault]\nrun = [\"cp\", \"/proc/self/status\", \"status\"]\n");
    let mut race = shop.race(&["--buyers", "3", "--rounds", "2", "--results", "."]);
    let raced = race.output().unwrap();
    let table = stdout(&raced);
    let rows: Vec<_> = table.lines().filter_map(|line| line.split(" | ").next()).collect();
    let loads = ["| one at a time", "| ready together, one at a time", "| race"];
    let expected = [&loads[..], &["| race with the fault"; 2]].concat();
    assert_eq!(rows[2..7], expected, "{table}{}", stderr(&raced));
    assert!(
        table.contains("\nThe fault: `cp /proc/self/status status`, "),
        "{table}"
    );
    let kept = fs::read_to_string(shop.folder.path().join("race.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["rounds"][2]["fault"], serde_json::Value::Null, "{kept}");
    assert_eq!(
        kept["rounds"][3]["fault"]["what"], "`cp /proc/self/status status`",
        "{kept}"
    );
    let status = fs::read_to_string(shop.folder.path().join("status")).unwrap();
    let is_free = status.contains("\nSigBlk:\t0000000000000000\n");
    assert!(is_free, "a program of a fault hears no signal: {status}");
}
