//! The trace of a sale: its events, that another life of the instance still has it, and that it is bounded.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use app::probe::{Event, Observers, Probe, Step, StepValue, Tracer, WORK};
use serde_json::{Value, json};
use stack::Folder;

use crate::harness::{Answer, Instance, PurchaseRequest, TOKEN, ask, fresh, name};

async fn traced(folder: &Path) -> Instance {
    Instance::open(|settings| settings.traces = Some(folder.join(settings.instance.as_str()))).await
}

async fn operator(instance: &Instance, method: &str, path: &str, body: &str) -> Answer {
    let token = [("authorization", format!("Bearer {TOKEN}"))];
    ask(&instance.admin, method, path, &token, body).await
}

async fn open(instance: &Instance, item: &str) -> Answer {
    let body = json!({ "stock": 1, "trace": true }).to_string();
    operator(instance, "PUT", &format!("/sales/{item}"), &body).await
}

async fn trace(instance: &Instance, item: &str) -> Answer {
    operator(instance, "GET", &format!("/sales/{item}/trace"), "").await
}

fn events(trace: &Value) -> Vec<Event> {
    serde_json::from_value(trace["events"].clone()).unwrap()
}

/// The events but for those of the business time, which every purchase spends.
fn without_work(trace: &Value) -> Vec<Event> {
    let mut events = events(trace);
    events.retain(|event| event.step != WORK.name);
    events
}

#[tokio::test]
async fn a_trace_names_the_buyer_the_step_and_the_result_at_each_instance() {
    let folder = Folder::new().unwrap();
    let (one, two) = (traced(folder.path()).await, traced(folder.path()).await);
    let item = fresh("sku");
    assert_eq!(
        (open(&one, &item).await.status, open(&two, &item).await.status),
        (200, 200)
    );
    let request = PurchaseRequest::of(&item).by("setnx@redis");
    assert_eq!(one.buy(&request.clone().buyer("b-1")).await.status, 201);
    assert_eq!(two.buy(&request.buyer("b-2")).await.status, 409);
    let answers = [trace(&one, &item).await.json(), trace(&two, &item).await.json()];
    assert_eq!(answers[0]["instance"], one.shop.instance.as_str());
    let lock = format!("lock:{{{item}}}");
    let stock = format!("stock:{{{item}}}");
    let told = |trace: &Value| -> Vec<_> {
        let steps = without_work(trace).into_iter().filter_map(|event| {
            let said = event.result?;
            let role = event.role.unwrap();
            Some((event.buyer.unwrap(), event.step, role, event.key, said, event.value))
        });
        steps.collect()
    };
    let step = |buyer: &str, step: &str, role: &str, key: &str, said: &str, value: Option<StepValue>| {
        let [buyer, step, role, key, said] = [buyer, step, role, key, said].map(str::to_owned);
        (buyer, step, role, key, said, value)
    };
    let (taken, left) = (Some(StepValue::Taken(true)), |units| Some(StepValue::Left(units)));
    let sold = [
        step("b-1", "setnx", "lock", &lock, "taken", taken),
        step("b-1", "read", "read", &stock, "left 1", left(1)),
        step("b-1", "write", "write", &stock, "wrote 0", Some(StepValue::Wrote(0))),
        step("b-1", "del", "release", &lock, "1 deleted", None),
    ];
    assert_eq!(told(&answers[0]), sold);
    let refused = [
        step("b-2", "setnx", "lock", &lock, "taken", taken),
        step("b-2", "read", "read", &stock, "left 0", left(0)),
        step("b-2", "del", "release", &lock, "1 deleted", None),
    ];
    assert_eq!(told(&answers[1]), refused);
    let all: Vec<_> = answers.iter().flat_map(events).collect();
    assert!(all.is_sorted_by_key(|event| event.at_ns), "one clock for both");
    for pair in all.chunks(2) {
        assert_eq!(
            (&pair[0].step, &pair[0].result),
            (&pair[1].step, &None),
            "begin and end"
        );
    }
}

#[tokio::test]
async fn a_trace_that_begins_after_the_sale_leaves_its_stock_and_orders_alone() {
    let folder = Folder::new().unwrap();
    let (without, with) = (Instance::lab().await, traced(folder.path()).await);
    let item = fresh("sku");
    operator(&with, "PUT", &format!("/sales/{item}"), r#"{"stock":2}"#).await;
    assert_eq!(with.buy(&PurchaseRequest::of(&item).buyer("b-1")).await.status, 201);
    let path = format!("/sales/{item}/trace");
    assert_eq!(operator(&with, "PUT", &path, "").await.status, 204);
    assert_eq!(with.buy(&PurchaseRequest::of(&item).buyer("b-2")).await.status, 201);
    assert_eq!(with.buy(&PurchaseRequest::of(&item).buyer("b-3")).await.status, 409);
    let told = without_work(&trace(&with, &item).await.json());
    let buyers: Vec<_> = told.iter().map(|event| event.buyer.as_deref().unwrap()).collect();
    assert_eq!(buyers, ["b-2", "b-2", "b-3", "b-3"]);
    let refused = operator(&without, "PUT", &path, "").await;
    assert_eq!(refused.problem(), (422, "bad-value".to_owned()));
}

#[tokio::test]
async fn a_trace_that_one_life_of_an_instance_wrote_is_read_and_continued_by_the_next() {
    let folder = Folder::new().unwrap();
    let item = fresh("sku");
    let first = traced(folder.path()).await;
    let place = folder.path().join(first.shop.instance.as_str());
    open(&first, &item).await;
    first.buy(&PurchaseRequest::of(&item)).await;
    let second = Instance::open(|settings| settings.traces = Some(place)).await;
    second.buy(&PurchaseRequest::of(&item)).await;
    let told = without_work(&trace(&second, &item).await.json());
    let lives: Vec<_> = told.iter().map(|event| (event.life, event.result.as_deref())).collect();
    let (one, two) = (told[0].life, told[2].life);
    assert_ne!(one, two);
    assert_eq!(
        lives,
        [
            (one, None),
            (one, Some("sold, left 0")),
            (two, None),
            (two, Some("sold out")),
        ]
    );
}

#[tokio::test]
async fn a_trace_that_is_full_counts_the_events_that_it_drops() {
    let folder = Folder::new().unwrap();
    let item = fresh("sku");
    let full = File::create(folder.path().join(format!("{item}.trace"))).unwrap();
    full.set_len(48 * 1024 * 1024).unwrap();
    let instance = Instance::open(|settings| settings.traces = Some(folder.path().to_owned())).await;
    instance.buy(&PurchaseRequest::of(&item)).await;
    let trace = trace(&instance, &item).await.json();
    assert_eq!((&trace["dropped"], events(&trace).len()), (&4.into(), 0));
}

#[tokio::test]
async fn a_sale_that_is_not_traced_has_no_trace_and_one_that_was_can_be_forgotten() {
    let folder = Folder::new().unwrap();
    let (without, with) = (Instance::lab().await, traced(folder.path()).await);
    let item = fresh("sku");
    let not_traced = (404, "not-traced".to_owned());
    assert_eq!(open(&without, &item).await.problem(), (422, "bad-value".to_owned()));
    assert_eq!(trace(&without, &item).await.problem(), not_traced);
    for (method, path) in [("DELETE", "/trace"), ("PUT", ""), ("DELETE", "")] {
        assert_eq!(open(&with, &item).await.status, 200);
        assert_eq!(trace(&with, &item).await.status, 200);
        let body = if method == "PUT" { r#"{"stock":1}"# } else { "" };
        operator(&with, method, &format!("/sales/{item}{path}"), body).await;
        assert_eq!(trace(&with, &item).await.problem(), not_traced, "{method} {path}");
    }
    assert_eq!(
        operator(&without, "DELETE", &format!("/sales/{item}/trace"), "")
            .await
            .status,
        204
    );
}

#[tokio::test]
async fn a_worker_is_in_the_trace_of_the_item_that_it_works_for_and_in_no_other() {
    const STEP: Step = Step::local("put-through");
    let folder = Folder::new().unwrap();
    let tracer = Arc::new(Tracer::open(folder.path().join("traces")).unwrap());
    let (item, other) = (name(&fresh("sku")), name(&fresh("sku")));
    assert!(tracer.start(&item).unwrap() && tracer.start(&other).unwrap());
    let worker = Probe::of_worker("combiner", Observers::new(vec![tracer.clone()]));
    worker.local(&STEP, &"all", async {}, |()| "nothing to do").await;
    worker.about(&item).local(&STEP, &item, async {}, |()| "3 sold").await;
    let trace = tracer.read(&item).unwrap().unwrap();
    let told: Vec<_> = trace.events.iter().map(|event| event.result.as_deref()).collect();
    assert_eq!(told, [None, Some("3 sold")]);
    let event = &trace.events[0];
    assert_eq!(
        (event.actor.as_str(), event.order, &event.buyer),
        ("combiner", None, &None)
    );
    assert!(tracer.read(&other).unwrap().unwrap().events.is_empty());
}
