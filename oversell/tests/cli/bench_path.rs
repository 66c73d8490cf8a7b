//! `bench path`: its counts agree with the answers of the shop, and its result has a row for each route.

use std::fs;
use std::path::Path;
use std::time::Duration;

use bench::path::generator::{Load, attack};
use bench::path::{Answered, ShopEndpoint, request};
use loadtest::shop::{Address, ShopClient};
use loadtest::trust::Trust;
use serde_json::Value;

use crate::harness::{interrupt, output, stderr, stdout, up, word};

/// Buys an item for a moment, and counts the answers.
fn bought(host: &str, endpoint: ShopEndpoint, item: &str) -> Answered {
    let load = Load {
        at: host.trim_start_matches("http://").parse().unwrap(),
        request: request(endpoint, "lua@redis", item),
        warm: Duration::ZERO,
        measured: Duration::from_millis(100),
    };
    attack(&load, || Ok(())).unwrap().all_answers
}

#[tokio::test]
async fn the_generator_counts_as_many_sales_as_there_are_units_and_a_no_op_sells_none() {
    let (mut shop, said) = up(&[]);
    let word = |name: &str| word(&said, name);
    let at = Address {
        host: word("shop"),
        admin: word("app-1"),
        admin_token: word("token"),
        trust: Trust::System,
    };
    let client = ShopClient::new(at.clone()).unwrap();
    client.open_sale("three", 3).await.unwrap();
    let buy = |endpoint| {
        let host = at.host.clone();
        tokio::task::spawn_blocking(move || bought(&host, endpoint, "three"))
    };
    let noop = buy(ShopEndpoint::Noop).await.unwrap();
    assert!(noop.sold() > 3 && noop.others().is_none(), "{noop:?}");
    let bought = buy(ShopEndpoint::Purchase).await.unwrap();
    assert_eq!(bought.sold(), 3, "{bought:?}");
    assert_eq!(bought.others(), Some(format!("{} of 409", bought.count(409))));
    interrupt(&shop);
    shop.wait().unwrap();
}

fn path_json(results: &Path) -> Value {
    let run = fs::read_dir(results).unwrap().next().unwrap().unwrap();
    serde_json::from_slice(&fs::read(run.path().join("path.json")).unwrap()).unwrap()
}

#[test]
fn every_strategy_has_a_row_for_each_route_with_the_no_op_before_them() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let output = output(&[
        "bench",
        "path",
        "--strategy",
        "conditional@sql,lua@redis",
        "--repeat",
        "2",
        "--results",
        folder,
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let json = path_json(results.path());
    assert!(json["command"].as_str().unwrap().starts_with("oversell bench path"));
    assert!(!json["environment"]["nginx"].as_str().unwrap().is_empty());
    let rows = json["rows"].as_array().unwrap();
    let texts = rows
        .iter()
        .map(|row| ["strategy", "route", "client"].map(|name| row[name].as_str().unwrap_or("-")));
    assert_eq!(
        texts.collect::<Vec<_>>(),
        [
            ["noop", "nginx", "-"],
            ["noop", "direct", "-"],
            ["conditional@sql", "nginx", "pool"],
            ["conditional@sql", "direct", "pool"],
            ["lua@redis", "nginx", "multiplexed"],
            ["lua@redis", "direct", "multiplexed"],
        ]
    );
    for row in rows {
        let is_noop = row["strategy"] == "noop";
        assert_eq!(
            row["runs"].as_array().unwrap().len(),
            if is_noop { 4 } else { 2 },
            "{row}"
        );
        assert!(row["sales_per_s"].as_f64().unwrap() > 0.0, "{row}");
        assert_eq!(is_noop, row["ratio_to_noop"] == 1.0, "{row}");
        assert!(row["generator_us_per_sale"].as_f64().is_some(), "{row}");
        for server in ["app", "nginx", "redis", "sql"] {
            assert!(row["cpu_us_per_sale"][server].as_f64().is_some(), "{server}: {row}");
        }
    }
    assert!(stdout(&output).contains("lua@redis"), "{}", stdout(&output));
}
