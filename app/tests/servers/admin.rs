//! The admin listener: nothing without the token, no sale that cannot be, no secret in the metrics.

use app::strategies::Entry;

use crate::harness::{Answer, Instance, PurchaseRequest, TOKEN, ask};
use crate::refusal::{Case, none_sells};

fn bearer() -> String {
    format!("Bearer {TOKEN}")
}

async fn operator(instance: &Instance, method: &str, path: &str, body: &str) -> Answer {
    ask(&instance.admin, method, path, &[("authorization", bearer())], body).await
}

#[tokio::test]
async fn every_admin_route_wants_the_token_even_where_there_is_no_route() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let sale = format!("/sales/{item}");
    let trace = format!("/sales/{item}/trace");
    let routes = [
        ("PUT", sale.as_str(), r#"{"stock":1}"#),
        ("GET", &sale, ""),
        ("DELETE", &sale, ""),
        ("GET", &trace, ""),
        ("DELETE", &trace, ""),
        ("POST", "/faults", r#"{"fault":"pause=1@renew"}"#),
        ("DELETE", "/faults", ""),
        ("GET", "/metrics", ""),
    ];
    let long = "x".repeat(4_096);
    let tokens = ["", "Bearer", "Bearer ", "Bearer x", "Basic x", TOKEN, &long];
    let mut cases = Vec::new();
    for (method, path, body) in routes {
        let denied = || Case::new(method, path, body, (401, "unauthorized"));
        cases.push(denied());
        cases.extend(tokens.map(|token| denied().header("authorization", token)));
        cases.push(
            denied()
                .header("authorization", bearer())
                .header("authorization", bearer()),
        );
        cases.push(denied().header("authorization", b"Bearer \xff"));
    }
    none_sells(&instance, &instance.admin, &item, &cases).await;
    let nobody: [(&str, &str); 0] = [];
    assert_eq!(ask(&instance.admin, "GET", "/nowhere", &nobody, "").await.status, 401);
}

#[tokio::test]
async fn a_sale_that_cannot_be_is_not_opened() {
    let instance = Instance::lab().await;
    let item = instance.sale(7).await;
    let sale = format!("/sales/{item}");
    let put =
        |path: &str, body: &str, expected| Case::new("PUT", path, body, expected).header("authorization", bearer());
    let stock = |text: &str, expected| put(&sale, &format!(r#"{{"stock":{text}}}"#), expected);
    let long = format!("/sales/{}", "x".repeat(65));
    let fat = format!(r#"{{"stock":1}}{}"#, " ".repeat(17 * 1024));
    let cases = [
        stock("-1", (422, "bad-value")),
        stock("1000000001", (422, "bad-value")),
        stock("1e30", (422, "bad-request")),
        stock("1.5", (422, "bad-request")),
        stock("99999999999999999999", (422, "bad-request")),
        stock("\"7\"", (422, "bad-request")),
        stock("null", (422, "bad-request")),
        stock("1,\"price\":1", (422, "bad-request")),
        stock("", (400, "bad-request")),
        put(&sale, "{}", (422, "bad-request")),
        put(&sale, "", (415, "bad-request")),
        put(&sale, r#"{"stock":1}"#, (415, "bad-request")).header("content-type", "text/plain"),
        put(&sale, &fat, (413, "bad-request")),
        put("/sales/a%20b", r#"{"stock":1}"#, (422, "bad-value")),
        put("/sales/%7Bsku%7D", r#"{"stock":1}"#, (422, "bad-value")),
        put("/sales/a%0D%0Ab", r#"{"stock":1}"#, (422, "bad-value")),
        put("/sales/%FF", r#"{"stock":1}"#, (400, "bad-request")),
        put(&long, r#"{"stock":1}"#, (422, "bad-value")),
        Case::new("DELETE", "/sales/a%20b", "", (422, "bad-value")).header("authorization", bearer()),
        Case::new("POST", &sale, "", (405, "method-not-allowed")).header("authorization", bearer()),
        Case::new("GET", "/purchases", "", (404, "not-found")).header("authorization", bearer()),
    ];
    none_sells(&instance, &instance.admin, &item, &cases).await;
}

#[tokio::test]
async fn a_fault_that_is_none_is_refused_and_one_outside_the_lab_too() {
    let instance = Instance::lab().await;
    let closed = Instance::open(|settings| settings.lab = false).await;
    let fault = |text: &str, expected| {
        let body = format!(r#"{{"fault":"{text}"}}"#);
        Case::new("POST", "/faults", body, expected).header("authorization", bearer())
    };
    fault("pause=1@renew", (403, "not-in-lab-mode"))
        .check(&closed.admin)
        .await;
    for bad in ["", "crash@lunch", "pause=0", "pause=60001", "explode"] {
        fault(bad, (422, "bad-value")).check(&instance.admin).await;
    }
    let worker = |step: &str| format!(r#"{{"fault":"crash","worker_step":{step}}}"#);
    for (body, expected) in [
        (r#"{"fault":1}"#.to_owned(), "bad-request"),
        (worker("0"), "bad-request"),
        (worker("-1"), "bad-request"),
        (worker("\"1\""), "bad-request"),
        (worker("null"), "bad-request"),
        (r#"{"fault":"crash@write","worker_step":1}"#.to_owned(), "bad-value"),
    ] {
        let case = Case::new("POST", "/faults", body, (422, expected));
        case.header("authorization", bearer()).check(&instance.admin).await;
    }
}

#[tokio::test]
async fn no_more_faults_lie_armed_than_there_is_room_for_until_they_are_withdrawn() {
    let instance = Instance::lab().await;
    let body = r#"{"fault":"pause=1@renew"}"#;
    for _ in 0..64 {
        assert_eq!(operator(&instance, "POST", "/faults", body).await.status, 202);
    }
    let case = Case::new("POST", "/faults", body, (409, "too-many-faults"));
    case.header("authorization", bearer()).check(&instance.admin).await;
    assert_eq!(operator(&instance, "DELETE", "/faults", "").await.status, 204);
    assert_eq!(operator(&instance, "POST", "/faults", body).await.status, 202);
}

#[tokio::test]
async fn a_sale_opened_again_forgets_its_orders_and_a_closed_one_is_unknown() {
    let instance = Instance::lab().await;
    let item = instance.sale(2).await;
    for strategy in ["lua@redis", "conditional@sql"] {
        assert_eq!(instance.buy(&PurchaseRequest::of(&item).by(strategy)).await.status, 201);
    }
    let path = format!("/sales/{item}");
    for entry in Entry::all() {
        let again = operator(&instance, "PUT", &path, r#"{"stock":9}"#).await;
        assert_eq!(again.json(), serde_json::json!({ "item": item, "stock": 9 }));
        assert_eq!(instance.ledger(entry.store, &item).await.left_and_sold(), (9, 0));
        // The same key each time: no store remembers that it bought before.
        let answer = instance.buy(&PurchaseRequest::of(&item).by(&entry.name).key("k")).await;
        assert_eq!(
            (answer.status, answer.header("idempotent-replayed")),
            (201, ""),
            "{}",
            entry.name
        );
    }
    assert_eq!(operator(&instance, "DELETE", &path, "").await.status, 204);
    assert_eq!(operator(&instance, "DELETE", &path, "").await.status, 204);
    for strategy in ["lua@redis", "conditional@sql"] {
        let answer = instance.buy(&PurchaseRequest::of(&item).by(strategy)).await;
        assert_eq!(answer.problem(), (404, "unknown-item".to_owned()));
    }
}

#[tokio::test]
async fn the_metrics_count_what_was_answered_and_keep_secrets() {
    let instance = Instance::lab().await;
    let item = instance.sale(1).await;
    for buyer in ["b-1", "b-2"] {
        instance
            .buy(&PurchaseRequest::of(&item).by("lua@redis").buyer(buyer))
            .await;
    }
    let answer = operator(&instance, "GET", "/metrics", "").await;
    assert!(
        answer
            .header("content-type")
            .starts_with("application/openmetrics-text")
    );
    let text = answer.text;
    for outcome in ["sold", "sold_out"] {
        let line = format!("oversell_purchases_total{{strategy=\"lua@redis\",outcome=\"{outcome}\"}} 1\n");
        assert!(text.contains(&line), "{line} is not in\n{text}");
    }
    for secret in [TOKEN, "b-1", item.as_str()] {
        assert!(!text.contains(secret), "{secret} is in\n{text}");
    }
    assert_open_metrics(&text);
}

/// Comments, then lines of a name, perhaps labels, and a number; `# EOF` ends it.
fn assert_open_metrics(text: &str) {
    let lines = text.strip_suffix("# EOF\n").unwrap().lines();
    for line in lines.filter(|line| !line.starts_with("# ")) {
        let (series, number) = line.rsplit_once(' ').unwrap();
        let name = series.split('{').next().unwrap();
        assert!(name.starts_with("oversell_"), "{line}");
        assert!(series.len() == name.len() || series.ends_with('}'), "{line}");
        assert!(number.parse::<f64>().is_ok(), "{line}");
    }
}

#[tokio::test]
async fn the_admin_listener_names_the_instance_and_its_process_also_to_strangers() {
    let nobody: [(&str, &str); 0] = [];
    let mut processes = Vec::new();
    for instance in [Instance::lab().await, Instance::lab().await] {
        let refused = ask(&instance.admin, "GET", "/", &nobody, "").await;
        let answered = operator(&instance, "GET", "/metrics", "").await;
        assert_eq!((refused.status, answered.status), (401, 200));
        assert_eq!(refused.header("x-instance"), answered.header("x-instance"));
        assert_eq!(refused.header("x-process"), answered.header("x-process"));
        processes.push(refused.header("x-process").to_owned());
    }
    assert!(
        !processes[0].is_empty() && processes[0] != processes[1],
        "{processes:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_shows_the_units_left_and_oversold_at_each_store() {
    let (one, two) = (Instance::lab().await, Instance::lab().await);
    let item = one.sale(1).await;
    let sale = format!("/sales/{item}");
    let none = PurchaseRequest::of(&item).by("none@redis").work_ms(3_000);
    let sold = tokio::join!(one.buy(&none), two.buy(&none));
    assert_eq!((sold.0.status, sold.1.status), (201, 201));
    assert_eq!(
        one.buy(&PurchaseRequest::of(&item).by("conditional@sql")).await.status,
        201
    );
    let shown = operator(&one, "GET", &sale, "").await.json();
    let mut expected = serde_json::json!({
        "redis": { "opened": 1, "left": 0, "orders": 2, "units": 2, "oversold": 1 },
        "sql": { "opened": 1, "left": 0, "orders": 1, "units": 1, "oversold": 0 },
        "sql-2": { "opened": 1, "left": 1, "orders": 0, "units": 0, "oversold": 0 },
    });
    let further = [("pg", one.pg.is_some()), ("cluster", one.cluster.is_some())];
    for (store, _) in further.into_iter().filter(|(_, is_there)| *is_there) {
        expected[store] = expected["sql-2"].clone();
    }
    assert_eq!(shown["stores"], expected);
    assert_eq!(operator(&one, "DELETE", &sale, "").await.status, 204);
    let gone = Case::new("GET", &sale, "", (404, "unknown-item")).header("authorization", bearer());
    gone.check(&one.admin).await;
}
