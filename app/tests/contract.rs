//! docs/contract.md names every value that the witness reads, to the letter.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

const CONTRACT: &str = include_str!("../../docs/contract.md");
const OPENAPI: &str = include_str!("../src/http/openapi.json");

/// The content of the blocks in one language.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let blocks = CONTRACT.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_sql_in_the_contract_is_the_one_that_is_run() {
    assert_eq!(blocks("sql"), [include_str!("../../sql/facts.sql")]);
}

#[test]
fn every_column_that_is_read_is_explained_and_is_in_the_schema() {
    let (select, from) = include_str!("../../sql/facts.sql").split_once("from ").unwrap();
    let words = select
        .split_once("select ")
        .unwrap()
        .1
        .split(|c: char| !c.is_alphanumeric() && c != '.' && c != '_');
    let columns: Vec<&str> = words.filter(|word| word.contains('.')).collect();
    assert_eq!(
        columns,
        [
            "s.num",
            "o.id",
            "o.quantity",
            "o.buyer",
            "o.idempotency_key",
            "o.item",
            "s.id",
            "o.item"
        ]
    );
    assert!(from.starts_with("store s\nleft join orders o on o.item = s.id"));
    for column in columns {
        let column = column.replace("s.", "store.").replace("o.", "orders.");
        assert!(CONTRACT.contains(&format!("| `{column}` |")), "{column}");
        let (_, name) = column.split_once('.').unwrap();
        let schema = include_str!("../../sql/schema.sql").lines();
        assert!(
            schema.map(str::trim).any(|line| line.starts_with(&format!("{name} "))),
            "{column}"
        );
    }
}

#[test]
fn every_json_in_the_contract_can_be_parsed() {
    let blocks = blocks("json");
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        assert!(serde_json::from_str::<serde_json::Value>(block).is_ok(), "{block}");
    }
}

#[test]
fn the_redis_keys_and_the_entry_are_those_of_the_stores() {
    let item = app::domain::Name::parse("sku-1").unwrap();
    for key in [
        app::stores::Redis::stock_key(&item),
        app::stores::Redis::orders_key(&item),
    ] {
        assert!(CONTRACT.contains(&format!("| `{key}` |")), "{key}");
    }
    let entry = blocks("json")[2];
    let fields: serde_json::Value = serde_json::from_str(entry).unwrap();
    let order = app::stores::Redis::order(entry).unwrap();
    assert_eq!(fields["quantity"], order.quantity);
    assert_eq!(fields["buyer"], order.buyer.as_str());
}

#[test]
fn the_answer_to_a_sale_has_the_fields_of_ours() {
    let document: serde_json::Value = serde_json::from_str(OPENAPI).unwrap();
    let answer: serde_json::Value = serde_json::from_str(blocks("json")[0]).unwrap();
    let fields = &document["components"]["schemas"]["Sold"]["properties"];
    assert_eq!(names(&answer), names(fields));
}

#[test]
fn the_trace_in_the_contract_is_one_that_is_read() {
    let example: serde_json::Value = serde_json::from_str(blocks("json")[3]).unwrap();
    let document: serde_json::Value = serde_json::from_str(OPENAPI).unwrap();
    let fields = |schema: &str| names(&document["components"]["schemas"][schema]["properties"]);
    assert_eq!(names(&example), fields("Trace"));
    for event in example["events"].as_array().unwrap() {
        assert_eq!(names(event), fields("Event"));
        serde_json::from_value::<app::probe::Event>(event.clone()).unwrap();
    }
    for field in fields("Event") {
        assert!(CONTRACT.contains(&format!("`{field}`")), "{field}");
    }
}

fn names(object: &serde_json::Value) -> Vec<String> {
    object.as_object().unwrap().keys().cloned().collect()
}
