//! The live page: a run that a visitor starts, and what others may not do. `.ci/page` opens it in a browser.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{interrupt, stdout, up, word};

/// The page of a shop that is up.
struct Page {
    shop: Child,
    /// The address without the token, with a slash at its end.
    at: String,
    token: String,
    results: tempfile::TempDir,
}

impl Page {
    fn open() -> Self {
        let results = tempfile::tempdir().unwrap();
        let (shop, said) = up(&["--results", results.path().to_str().unwrap()]);
        let address = word(&said, "page");
        let (at, token) = address.split_once("#token=").unwrap();
        Self {
            shop,
            at: at.to_owned(),
            token: token.to_owned(),
            results,
        }
    }

    /// Sends a request about a run and returns the status.
    fn ask(&self, method: &str, body: &Value, headers: &[&str]) -> String {
        self.ask_about("run", method, body, headers)
    }

    fn ask_about(&self, what: &str, method: &str, body: &Value, headers: &[&str]) -> String {
        let mut curl = Command::new("curl");
        curl.args([
            "-sS",
            "-o",
            "/dev/null",
            "-w",
            "%{http_code}",
            "-X",
            method,
            "--data",
            &body.to_string(),
        ]);
        curl.args(["-H", "Content-Type: application/json"]);
        for header in headers {
            curl.args(["-H", header]);
        }
        let asked = curl.arg(format!("{}{what}", self.at)).output().unwrap();
        stdout(&asked)
    }

    fn start(&self, body: &Value) -> String {
        self.ask("POST", body, &[&format!("Authorization: Bearer {}", self.token)])
    }

    /// Watches until a run is over, and returns every state that was shown.
    fn watch(&self) -> Vec<Value> {
        let mut curl = Command::new("curl");
        curl.args(["-sSN", "--max-time", "120", &format!("{}events", self.at)]);
        let mut curl = curl.stdout(Stdio::piped()).spawn().unwrap();
        let mut seen = Vec::new();
        for line in BufReader::new(curl.stdout.take().unwrap()).lines() {
            let Some(data) = line.as_ref().unwrap().strip_prefix("data:") else {
                continue;
            };
            let shown: Value = serde_json::from_str(data).unwrap();
            let is_over = shown["is_running"] == false && !shown["sides"].as_array().unwrap().is_empty();
            seen.push(shown);
            if is_over {
                break;
            }
        }
        curl.kill().unwrap();
        curl.wait().unwrap();
        seen
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        interrupt(&self.shop);
        let _ = self.shop.wait();
    }
}

fn request(left: &str, right: &str, threat: &str) -> Value {
    json!({
        "strategies": [left, right], "threat": threat, "instances": 2, "buyers": 16, "items": 1, "stock": 12, "in_turn": false,
    })
}

/// Returns the verdicts in the results of a folder, by strategy.
fn kept(results: &Path) -> Vec<(String, Vec<Value>)> {
    let folders = fs::read_dir(results).unwrap().map(|folder| folder.unwrap().path());
    let read = |folder: std::path::PathBuf| {
        let result = fs::read(folder.join("result.json")).unwrap();
        let run: Value = serde_json::from_slice(&result).unwrap();
        let rounds = run["rounds"].as_array().unwrap();
        let strategy = rounds[0]["strategy"].as_str().unwrap().to_owned();
        (strategy, rounds.iter().map(|round| round["verdict"].clone()).collect())
    };
    let mut kept: Vec<_> = folders.map(read).collect();
    kept.sort_by_key(|(strategy, _)| strategy.clone());
    kept
}

#[test]
fn a_run_that_a_visitor_starts_ends_with_the_verdicts_of_its_results() {
    let page = Page::open();
    assert_eq!(
        page.start(&request("setnx@redis", "token@redis", "crashed-holder")),
        "202"
    );
    assert_eq!(
        page.start(&request("none@redis", "token@redis", "second-instance")),
        "409"
    );
    let seen = page.watch();
    let over = seen.last().unwrap();
    let shown: Vec<(String, Vec<Value>)> = over["sides"]
        .as_array()
        .unwrap()
        .iter()
        .map(|side| {
            let strategy = side["strategy"].as_str().unwrap().to_owned();
            (strategy, side["result"]["verdicts"].as_array().unwrap().clone())
        })
        .collect();
    assert_eq!(shown, kept(page.results.path()));
    assert_eq!(shown[0].1, ["violated"]);
    assert_eq!(shown[1].1, ["holds"]);
    // It was seen while it went on, although instances were killed.
    let orders = |shown: &Value| shown["sides"][1]["recorded"].as_i64().unwrap();
    assert!(
        seen.iter()
            .any(|shown| shown["is_running"] == true && orders(shown) > 0)
    );
}

#[test]
fn speeds_are_compared_on_several_items_one_side_after_the_other() {
    let page = Page::open();
    let mut wanted = request("for-update-unindexed@sql", "for-update@sql", "second-instance");
    (wanted["items"], wanted["stock"], wanted["in_turn"]) = (json!(4), json!(6), json!(true));
    assert_eq!(page.start(&wanted), "202");
    let seen = page.watch();
    let begun = |shown: &&Value| shown["sides"][1]["told"] != 0;
    let first = seen.iter().find(begun).expect("the second side sells");
    assert!(first["sides"][0]["result"].is_object(), "{first}");
    for side in seen.last().unwrap()["sides"].as_array().unwrap() {
        assert_eq!((&side["stock"], &side["recorded"]), (&json!(24), &json!(24)), "{side}");
        let verdict = side["result"]["verdict"].as_str().unwrap();
        assert!(verdict.contains("units sold in a second"), "{verdict}");
    }
}

#[test]
fn a_run_in_which_nobody_contends_says_so_and_what_to_change() {
    let page = Page::open();
    let mut wanted = request("none@redis", "mutex@redis", "crowd");
    (wanted["buyers"], wanted["instances"]) = (json!(1), json!(1));
    assert_eq!(page.start(&wanted), "202");
    let seen = page.watch();
    for side in seen.last().unwrap()["sides"].as_array().unwrap() {
        let verdict = side["result"]["verdict"].as_str().unwrap();
        assert!(
            verdict.contains("no sale overlapped") && verdict.contains("change the setting"),
            "{verdict}"
        );
    }
}

#[test]
fn only_the_token_starts_and_stops_a_run_and_no_other_page_does() {
    let page = Page::open();
    let good = request("none@redis", "token@redis", "slow-holder");
    let token = format!("Authorization: Bearer {}", page.token);
    assert_eq!(page.ask("POST", &good, &[]), "401");
    assert_eq!(page.ask("POST", &good, &["Authorization: Bearer no"]), "401");
    assert_eq!(
        page.ask("POST", &good, &[&token, "Origin: http://elsewhere.example"]),
        "403"
    );
    assert_eq!(page.ask("DELETE", &good, &[]), "401");
    assert_eq!(page.start(&request("none@redis", "nothing@redis", "crowd")), "422");
    assert_eq!(page.start(&json!({})), "422");
    let own = format!("Origin: {}", page.at.trim_end_matches('/'));
    assert_eq!(page.ask("POST", &good, &[&token, &own]), "202");
    assert_eq!(page.ask("DELETE", &good, &[&token]), "204");
    let seen = page.watch();
    let says = seen.last().unwrap()["sides"][0]["says"].as_str().unwrap();
    assert!(says.contains("interrupted"), "{says}");
}

#[test]
fn only_a_visitor_with_the_token_is_the_scheduler_and_one_schedule_goes_on_at_a_time() {
    let page = Page::open();
    let bearer = format!("Authorization: Bearer {}", page.token);
    let ask = |method: &str, body: Value| page.ask_about("steps", method, &body, &[&bearer]);
    assert_eq!(page.ask_about("steps", "POST", &json!({ "lab": 1 }), &[]), "401");
    assert_eq!(page.ask_about("steps", "PUT", &json!({ "number": 1 }), &[]), "401");
    assert_eq!(ask("PUT", json!({ "number": 1 })), "409", "nothing to choose");
    assert_eq!(ask("POST", json!({ "lab": 99 })), "422");
    assert_eq!(ask("POST", json!({ "lab": 21 })), "422", "a lab without steps");
    assert_eq!(ask("POST", json!({ "lab": 1 })), "202");
    assert_eq!(ask("POST", json!({ "lab": 2 })), "409");
    assert_eq!(ask("DELETE", json!({})), "204");
    let next = || (ask("POST", json!({ "lab": 2 })) == "202").then_some(());
    crate::harness::until("the servers of the first schedule have stopped", next);
}
