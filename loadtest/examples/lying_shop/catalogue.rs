//! The catalogue of the shop's strategies.

use serde_json::{Value, json};

use crate::lies::{self, Lie, On};
use crate::lying_instance::Shop;

/// Names that a terminal, a table or a browser could misread.
const BAD_NAMES: &[&str] = &[
    "\u{1b}[31mred\u{1b}[2J@redis",
    "a|b|c@redis",
    "two\nlines@redis",
    "carriage\rreturn@redis",
    "\u{202e}sider@redis",
    "<script>alert(1)</script>@redis",
    "[link](javascript:alert(1))@sql",
    "../../etc/passwd@sql",
    "",
    "@",
    "nul\u{0}@sql",
];

pub fn strategies(shop: &Shop) -> Value {
    let on = lies::entry(shop.lie).on;
    let stores: &[&str] = match on {
        On::Both => &["redis", "sql"],
        On::Redis => &["redis"],
        On::Sql => &["sql"],
        On::Apart => &["redis+sql"],
    };
    let stores = stores.iter().copied();
    let names: Vec<(String, &str)> = match shop.lie {
        Lie::ManyStrategies => (0..10_000)
            .map(|number| (format!("lie-{number}@redis"), "redis"))
            .collect(),
        Lie::BadNames => BAD_NAMES
            .iter()
            .map(|name| ((*name).to_owned(), if name.ends_with("sql") { "sql" } else { "redis" }))
            .collect(),
        Lie::NameTwice => [stores.clone(), stores].into_iter().flatten().map(named).collect(),
        _ => stores.map(named).collect(),
    };
    let all = names
        .into_iter()
        .map(|(name, store)| strategy(shop, &name, store))
        .collect();
    Value::Array(all)
}

fn named(store: &'static str) -> (String, &'static str) {
    (format!("lie@{store}"), store)
}

fn strategy(shop: &Shop, name: &str, store: &str) -> Value {
    let mut claims = shop.claims.clone();
    match shop.lie {
        Lie::Modest => claims.clear(),
        Lie::BadClaim => claims = vec!["crowd".to_owned(), "second-instnace".to_owned()],
        _ => {}
    }
    let mut strategy = json!({ "name": name, "store": store, "summary": "sells", "claims": claims });
    if shop.lie == Lie::ReservesFromStock {
        strategy["record_at"] = json!("write");
    }
    if shop.lie == Lie::BoringFields {
        strategy["summary"] = json!("verkauft, продаёт, 销售, يبيع, \u{1f6d2} | * _ ` ".repeat(20));
        strategy["family"] = json!("boring");
        strategy["needs"] = json!(["nothing", 1, null]);
        strategy["since"] = json!({ "year": 2020 });
    }
    strategy
}
