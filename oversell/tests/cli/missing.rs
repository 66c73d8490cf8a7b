//! A strategy that its shop calls missing, in every way in which a run can choose its strategies.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::harness::{SMALL, interrupt, output, result_json, stderr, stdout, until, up, word};

/// The reason that the shop gives.
const WHY: &str = "the shop cannot use it: its key was lost";

/// The shop in Python with one instance, and with one more strategy, which it calls missing.
struct Shop {
    stores: Child,
    python: Child,
    /// The options of a run at this shop.
    at: Vec<String>,
    _program: tempfile::TempDir,
}

impl Drop for Shop {
    fn drop(&mut self) {
        self.python.kill().unwrap();
        self.python.wait().unwrap();
        interrupt(&self.stores);
        self.stores.wait().unwrap();
    }
}

/// Writes the shop in Python to `program`. Both strategies may be in a soak; the missing one is first of a family that
/// may be that of the other.
fn write_shop(program: &Path, family: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/python/shop.py");
    let source = fs::read_to_string(source).unwrap();
    let claims = r#"["crowd", "second-instance", "paused-holder"]"#;
    let missing = format!(
        r#"{{"name": "gone@redis", "family": "{family}", "store": "redis", "summary": "", "claims": {claims}, "missing": "its key was lost"}}"#
    );
    let edits = [
        (r#"["crowd", "second-instance", "crashed-holder"]"#, claims.to_owned()),
        (
            "            return 200, [{\"name\"",
            format!("            return 200, [{missing}] + [{{\"name\""),
        ),
    ];
    let mut edited = source;
    for (from, to) in edits {
        assert_eq!(edited.matches(from).count(), 1, "{from}");
        edited = edited.replace(from, &to);
    }
    fs::write(program, edited).unwrap();
}

fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

impl Shop {
    fn open(family: &str) -> Self {
        let (stores, said) = up(&[]);
        let [token, redis] = ["token", "redis"].map(|name| word(&said, name));
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("shop.py");
        write_shop(&program, family);
        let [public, admin] = [free_address(), free_address()];
        let python = Command::new("python3")
            .arg(&program)
            .args(["--instance", "py-1", "--listen", &public, "--admin-listen", &admin])
            .env("OVERSELL_REDIS_URL", &redis)
            .env("OVERSELL_ADMIN_TOKEN", &token)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("the shop in Python", || TcpStream::connect(&admin).ok());
        let [public, admin] = [public, admin].map(|address| format!("http://{address}"));
        let at = [
            "--host",
            &public,
            "--admin",
            &admin,
            "--admin-token",
            &token,
            "--redis",
            &redis,
        ];
        Self {
            stores,
            python,
            at: at.map(str::to_owned).to_vec(),
            _program: folder,
        }
    }

    fn run(&self, results: &Path, more: &[&str]) -> Output {
        let at: Vec<&str> = self.at.iter().map(String::as_str).collect();
        let begin = ["run", "--results", results.to_str().unwrap(), "--threat", "crowd"];
        output(&[&begin[..], &at, more].concat())
    }
}

/// Returns the strategies of which a round was skipped, each once.
fn skipped(results: &Path) -> Vec<String> {
    let run: Value = serde_json::from_slice(&fs::read(result_json(results).unwrap()).unwrap()).unwrap();
    let rounds = run["rounds"].as_array().unwrap().iter();
    let skipped = rounds.filter(|round| !round["skipped"].is_null());
    let mut names: Vec<_> = skipped
        .map(|round| round["strategy"].as_str().unwrap().to_owned())
        .collect();
    names.dedup();
    names
}

#[test]
fn a_missing_strategy_is_skipped_with_its_reason_however_strategies_are_chosen() {
    let ways: [&[&str]; 5] = [
        &SMALL,
        &[&SMALL[..], &["--all"]].concat(),
        &[&SMALL[..], &["--strategy", "*@redis"]].concat(),
        &[&SMALL[..], &["--strategy", "script@redis,gone@redis"]].concat(),
        &["--soak", "200", "--seed", "7"],
    ];
    // Alone in its family, and in that of another strategy, which is played in its place.
    for family in ["gone", "script"] {
        let shop = Shop::open(family);
        for way in ways {
            let results = tempfile::tempdir().unwrap();
            let ran = shop.run(results.path(), way);
            let said = stdout(&ran);
            assert_eq!(ran.status.code(), Some(2), "{way:?}: {said}{}", stderr(&ran));
            assert!(
                said.starts_with("**Some trials were skipped: nothing is decided about them.**"),
                "{way:?}: {said}"
            );
            let line = said
                .lines()
                .find(|line| line.starts_with("-  gone@redis"))
                .unwrap_or_default();
            assert!(line.contains("skipped: the shop cannot use it"), "{way:?}: {said}");
            assert!(said.contains(&format!("\nSkipped: {WHY}\n")), "{way:?}: {said}");
            assert_eq!(skipped(results.path()), ["gone@redis"], "{way:?}");
            let again = output(&["report", result_json(results.path()).unwrap().to_str().unwrap()]);
            assert_eq!(stdout(&again), said, "{way:?}");
        }
    }
}

#[test]
fn a_run_that_may_skip_trials_succeeds_if_it_played_any() {
    let shop = Shop::open("gone");
    for (strategies, status) in [("script@redis,gone@redis", 0), ("gone@redis", 2)] {
        let results = tempfile::tempdir().unwrap();
        let more = [&SMALL[..], &["--allow-skipped", "--strategy", strategies]].concat();
        let ran = shop.run(results.path(), &more);
        assert_eq!(ran.status.code(), Some(status), "{}{}", stdout(&ran), stderr(&ran));
        assert_eq!(skipped(results.path()), ["gone@redis"]);
    }
}

#[test]
fn choose_names_a_missing_strategy_as_untested() {
    let shop = Shop::open("gone");
    let results = tempfile::tempdir().unwrap();
    let ran = shop.run(results.path(), &SMALL);
    assert_eq!(ran.status.code(), Some(2), "{}", stderr(&ran));
    // `choose` needs the trial that measures cost.
    let place = result_json(results.path()).unwrap();
    let mut run: Value = serde_json::from_slice(&fs::read(&place).unwrap()).unwrap();
    let rounds = run["rounds"].as_array().unwrap().clone();
    let measured = rounds.into_iter().map(|mut round| {
        round["threat"] = "second-instance".into();
        round
    });
    let measured: Vec<Value> = measured.collect();
    run["rounds"].as_array_mut().unwrap().extend(measured);
    fs::write(&place, run.to_string()).unwrap();
    let chosen = output(&[
        "choose",
        place.to_str().unwrap(),
        "--stores",
        "redis",
        "--survive",
        "crowd",
    ]);
    let said = stdout(&chosen);
    assert!(
        said.contains("Not put to the test (1):\n  gone@redis\n"),
        "{said}{}",
        stderr(&chosen)
    );
}
