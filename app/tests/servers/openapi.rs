//! The OpenAPI document and the routers say the same.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::harness::{Instance, TOKEN, ask};

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../src/http/openapi.json")).unwrap());

const METHODS: [&str; 5] = ["get", "post", "put", "delete", "patch"];

/// Method and path of every operation, and its tag: the listener it is on.
fn operations() -> Vec<(&'static str, &'static str, &'static str)> {
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, item)| {
        METHODS
            .into_iter()
            .filter_map(move |method| Some((method, path.as_str(), item.get(method)?["tags"][0].as_str()?)))
    });
    all.collect()
}

/// A node, or the one that it refers to.
fn resolved(node: &'static Value) -> &'static Value {
    match node["$ref"].as_str() {
        Some(reference) => DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap(),
        None => node,
    }
}

fn kinds(response: &'static Value) -> Vec<String> {
    let schema = &response["content"]["application/problem+json"]["schema"];
    let types = schema["allOf"][1]["properties"]["type"]["enum"].as_array();
    let names = types.into_iter().flatten().filter_map(Value::as_str);
    names
        .map(|name| name.trim_start_matches("urn:oversell:").to_owned())
        .collect()
}

/// Fails unless the document has this status and problem type for the operation at `path`.
pub fn assert_documented(method: &str, path: &str, status: u16, kind: &str) {
    let template = match path.strip_prefix("/sales/") {
        Some(rest) if rest.ends_with("/trace") => "/sales/{item}/trace",
        Some(_) => "/sales/{item}",
        None => path,
    };
    let operation = &DOCUMENT["paths"][template][method.to_lowercase()];
    let response = resolved(&operation["responses"][status.to_string()]);
    let documented = kinds(response).iter().any(|documented| documented == kind);
    assert!(
        documented,
        "{method} {template} answers {status} {kind}, which openapi.json does not say"
    );
}

#[tokio::test]
async fn every_documented_route_answers_and_no_other_method_does() {
    let instance = Instance::lab().await;
    let token = [("authorization", format!("Bearer {TOKEN}"))];
    let operations = operations();
    let paths: BTreeSet<_> = operations.iter().map(|(_, path, tag)| (*path, *tag)).collect();
    for (path, tag) in paths {
        let router = if tag == "public" {
            &instance.public
        } else {
            &instance.admin
        };
        let real = path.replace("{item}", "openapi");
        for method in METHODS {
            let answer = ask(router, &method.to_uppercase(), &real, &token, "").await;
            let status = answer.status;
            let documented = operations.contains(&(method, path, tag));
            assert_eq!(status != 405, documented, "{method} {path} answered {status}");
            assert_ne!(answer.problem().1, "not-found", "{method} {path}");
        }
    }
}

#[test]
fn every_route_of_the_source_is_documented() {
    let sources = [
        include_str!("../../src/http/mod.rs"),
        include_str!("../../src/http/admin.rs"),
    ]
    .concat();
    let routes = sources
        .split(".route(")
        .skip(1)
        .filter_map(|rest| rest.split('"').nth(1));
    let routes: BTreeSet<_> = routes.collect();
    let documented: BTreeSet<_> = operations().into_iter().map(|(_, path, _)| path).collect();
    assert_eq!(routes, documented);
}

#[test]
fn every_problem_type_of_the_source_is_documented() {
    let source = include_str!("../../src/http/problem.rs");
    let arms = source
        .lines()
        .filter(|line| line.contains("=> (") && line.ends_with("\"),"));
    let kinds_of_source: BTreeSet<_> = arms.map(|line| line.split('"').nth(1).unwrap().to_owned()).collect();
    let responses = DOCUMENT["components"]["responses"].as_object().unwrap();
    let mut documented: BTreeSet<_> = responses.values().flat_map(kinds).collect();
    let description = DOCUMENT["info"]["description"].as_str().unwrap();
    for anywhere in ["not-found", "method-not-allowed"] {
        assert!(description.contains(&format!("urn:oversell:{anywhere}")));
        documented.insert(anywhere.to_owned());
    }
    assert_eq!(kinds_of_source, documented);
}

#[test]
fn every_reference_leads_somewhere() {
    let text = include_str!("../../src/http/openapi.json");
    let references = text
        .split("\"$ref\": \"#")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    let mut count = 0;
    for reference in references {
        assert!(DOCUMENT.pointer(reference).is_some(), "{reference}");
        count += 1;
    }
    assert!(count > 0);
}

#[tokio::test]
async fn the_document_and_the_catalogue_are_served_as_documented() {
    let instance = Instance::lab().await;
    let nothing: [(&str, &str); 0] = [];
    let served = ask(&instance.public, "GET", "/openapi.json", &nothing, "").await;
    assert_eq!(served.json(), *DOCUMENT);
    let catalogue = ask(&instance.public, "GET", "/strategies", &nothing, "").await.json();
    let schema = &DOCUMENT["components"]["schemas"]["Strategy"]["properties"];
    for strategy in catalogue.as_array().unwrap() {
        let fields: BTreeSet<_> = strategy.as_object().unwrap().keys().collect();
        let documented: BTreeSet<_> = schema.as_object().unwrap().keys().collect();
        assert_eq!(fields, documented);
    }
}

#[tokio::test]
async fn a_sale_is_answered_as_the_example_shows_it() {
    let instance = Instance::lab().await;
    let item = instance.sale(42).await;
    let body = json!({ "item": item, "quantity": 1, "buyer": "b-17" }).to_string();
    let nothing: [(&str, &str); 0] = [];
    let answer = ask(&instance.public, "POST", "/purchases", &nothing, &body).await;
    let sold = &DOCUMENT["components"]["responses"]["Sold"];
    let example = sold["content"]["application/json"]["example"].as_object().unwrap();
    let answer = answer.json();
    let fields: BTreeSet<_> = answer.as_object().unwrap().keys().collect();
    assert_eq!(fields, example.keys().collect());
    assert_eq!(answer["remaining"], example["remaining"]);
    assert_eq!(answer["instance"], instance.shop.instance.as_str());
}
