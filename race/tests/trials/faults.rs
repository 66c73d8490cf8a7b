//! Shops that meet a fault while they are raced.

use std::fs;
use std::future::pending;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use loadtest::audit::Verdict;
use loadtest::shop::response::ResponseKind;
use loadtest::trust::Trust;
use race::{Description, Load, Round, Trial};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::closed::{CLOSED, closing, silent, stock};
use crate::relayed_shop;
use crate::shop::{Sells, Shop, start};

const RACE: Load = Load::Race {
    buyers: 3,
    clicks: 1,
    has_fault: true,
};

fn trial(file: &str) -> Trial {
    Trial::new(Description::parse(file).unwrap(), Trust::System).unwrap()
}

async fn played(file: &str) -> anyhow::Result<Round> {
    Ok(trial(file).play(RACE, |_, _| {}, pending()).await?.unwrap())
}

fn told(round: &Round, kind: ResponseKind) -> usize {
    round.told.get(&kind).copied().unwrap_or_default()
}

#[tokio::test]
async fn an_order_whose_reply_was_lost_is_explained_by_the_fault() {
    let file = relayed_shop::start(r#"does = "lose-replies", for_ms = 2000"#).await;
    let round = played(&file).await.unwrap();
    assert_eq!(round.verdict, Verdict::Holds, "{round:?}");
    assert_eq!(told(&round, ResponseKind::Unknown), 3, "{round:?}");
    assert_eq!((round.recorded, round.stock_left), (Some(5), 0), "{round:?}");
    let fault = round.fault.unwrap();
    assert_eq!((fault.affected, fault.missed), (Some(3), None), "{fault:?}");
}

#[tokio::test]
async fn each_disturbance_of_a_store_affects_the_raced_requests() {
    for (does, unknown) in [
        (r#"does = "silent", for_ms = 2000"#, 0),
        (r#"does = "slow", for_ms = 2000"#, 0),
        (r#"does = "cut""#, 3),
    ] {
        let file = relayed_shop::start(does).await;
        let round = played(&file).await.unwrap();
        assert_eq!(round.verdict, Verdict::Holds, "{does}: {round:?}");
        assert_eq!(told(&round, ResponseKind::Unknown), unknown, "{does}: {round:?}");
        let fault = round.fault.unwrap();
        assert!(fault.affected >= Some(3) && fault.missed.is_none(), "{does}: {fault:?}");
    }
}

#[tokio::test]
async fn a_fault_that_strikes_nothing_decides_nothing_and_a_race_without_it_is_not_struck() {
    let file = relayed_shop::start(r#"does = "cut""#).await;
    let shop = start(Sells::ByOneUpdate).await;
    let (_, fault) = file.split_once("[fault]").unwrap();
    let trial = trial(&format!("{}[fault]{fault}", shop.file()));
    let round = trial.play(RACE, |_, _| {}, pending()).await.unwrap().unwrap();
    assert_eq!(round.verdict, Verdict::Inconclusive, "{round:?}");
    let why = round.inconclusive.as_deref();
    let expected = "the fault struck nothing: no bytes came to the relay meanwhile";
    assert_eq!(why, Some(expected), "{round:?}");
    let without = Load::Race {
        buyers: 5,
        clicks: 1,
        has_fault: false,
    };
    let round = trial.play(without, |_, _| {}, pending()).await.unwrap().unwrap();
    assert_eq!((round.verdict, &round.fault), (Verdict::Holds, &None), "{round:?}");
}

/// A shop of Python in a process of its own.
struct Mortal {
    child: Child,
    folder: TempDir,
}

impl Mortal {
    fn pid_of_next(&self) -> PathBuf {
        self.folder.path().join("next.pid")
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Ok(pid) = fs::read_to_string(self.pid_of_next()) {
            let _ = Command::new("kill").arg(pid.trim()).status();
        }
    }
}

/// Starts a shop that sells and does not answer until it is killed, and another one then. Returns its shop file, too.
fn mortal(shop: &Shop) -> (Mortal, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trials/mortal_shop.py");
    // The port is free again after this line.
    let at = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let database = shop.store.trim_start_matches("sqlite:");
    let words = [script.to_str().unwrap(), &at.port().to_string(), database].map(str::to_owned);
    let mut python = Command::new("python3");
    let python = python
        .args(&words)
        .arg("hold")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mortal = Mortal {
        child: python.spawn().unwrap(),
        folder: tempfile::tempdir().unwrap(),
    };
    let pid_of_next = mortal.pid_of_next();
    let again = format!(
        "python3 {} >{}.log 2>&1 & echo $! >{}",
        words.join(" "),
        pid_of_next.display(),
        pid_of_next.display()
    );
    let file = format!(
        r#"
url = "http://{at}"
store = "{}"
[sale]
stock = 5
open = [{{ write = "update items set stock = {{stock}}" }}]
[race]
request = "POST /buy/{{buyer}}"
[answers]
sold = {{ status = 201 }}
sold_out = {{ status = 409 }}
[stock]
read = "select stock from items"
[orders]
read = "select buyer from orders"
[fault]
run = ["kill", "-9", "{}"]
then = ["sh", "-c", '{again}']
ready = "GET /"
after_ms = 20
"#,
        shop.store,
        mortal.child.id()
    );
    (mortal, file)
}

#[tokio::test]
async fn a_shop_that_is_killed_and_started_again_keeps_its_orders() {
    let shop = start(Sells::ByOneUpdate).await;
    let (_mortal, file) = mortal(&shop);
    let round = played(&file).await.unwrap();
    assert_eq!(round.verdict, Verdict::Holds, "{round:?}");
    assert_eq!(told(&round, ResponseKind::Unknown), 3, "{round:?}");
    assert_eq!((round.recorded, round.stock_left), (Some(5), 0), "{round:?}");
    assert_eq!(round.fault.unwrap().missed, None);
}

/// Returns the file of a shop whose sale is closed by a statement, with a fault that leaves marks in this folder.
fn marking(shop: &Shop, folder: &TempDir, run: &str) -> String {
    let mark = folder.path().join("restored");
    let fault = format!("[fault]\nrun = {run}\nthen = [\"touch\", \"{}\"]\n", mark.display());
    closing(shop) + &fault
}

#[tokio::test]
async fn a_program_that_fails_is_an_error_that_names_it_and_its_damage_is_made_good() {
    for (run, says) in [
        (r#"["false"]"#, "`run` in [fault]: `false`: exit status: 1"),
        (
            r#"["no-such-program-here"]"#,
            "`run` in [fault]: `no-such-program-here`: it cannot be started",
        ),
        (
            r#"["sh", "-c", "echo in $HOME >&2; exit 3"]"#,
            "`sh -c echo in *** >&2; exit 3`: exit status: 3: in ***",
        ),
    ] {
        let shop = start(Sells::ByOneUpdate).await;
        let folder = tempfile::tempdir().unwrap();
        let failed = played(&marking(&shop, &folder, run)).await.unwrap_err();
        assert!(format!("{failed:#}").contains(says), "{failed:#}");
        assert!(folder.path().join("restored").exists(), "{run}");
        assert_eq!(stock(&shop).await, CLOSED, "{run}");
    }
    let shop = start(Sells::ByOneUpdate).await;
    let file = closing(&shop) + "[fault]\nrun = [\"true\"]\nthen = [\"false\"]\n";
    let failed = format!("{:#}", played(&file).await.unwrap_err());
    assert_eq!(failed, "`then` in [fault]: `false`: exit status: 1: ");
    assert_eq!(stock(&shop).await, CLOSED);
}

#[tokio::test]
async fn a_round_that_is_stopped_during_the_fault_makes_it_good_and_closes_the_sale() {
    let shop = start(Sells::ByOneUpdate).await;
    let folder = tempfile::tempdir().unwrap();
    let struck = folder.path().join("struck");
    let (_listener, line) = silent().await;
    let run = format!("[\"touch\", \"{}\"]", struck.display());
    let file = marking(&shop, &folder, &run).replace("\"POST /buy\"", &line);
    let stop = async {
        while !struck.exists() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let played = trial(&file).play(RACE, |_, _| {}, stop).await.unwrap();
    assert!(played.is_none(), "{played:?}");
    assert!(folder.path().join("restored").exists());
    assert_eq!(stock(&shop).await, CLOSED);
}
