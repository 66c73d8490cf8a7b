//! A fault kills the process just before a step or just after it: the ledger and the trace then.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use app::probe::Event;
use futures_util::future::join_all;
use serde_json::json;
use stack::{Folder, Parts, Stores};

use crate::harness::{Instance, PurchaseRequest, TOKEN, ask, fresh, stores};

const SIGKILL: i32 = 9;

/// The environment of the child: the stores, its folder for traces, the item, the strategy, the fault, and how many others buy
/// at the same moment.
const ASKED: [&str; 7] = [
    "CHILD_REDIS",
    "CHILD_SQL",
    "CHILD_TRACES",
    "CHILD_ITEM",
    "CHILD_STRATEGY",
    "CHILD_FAULT",
    "CHILD_OTHERS",
];

/// The instance that dies: this very program, started anew by the test below.
#[tokio::test]
#[ignore = "the child of another test"]
async fn child() {
    let [redis, sql, traces, item, strategy, fault, others] = ASKED.map(|name| std::env::var(name).unwrap());
    let parts = Parts {
        redis_url: Some(redis),
        sql_url: Some(sql),
        fetch: false,
    };
    let stores = Arc::new(Stores::start(&parts).unwrap());
    let instance = Instance::on(stores, |settings| settings.traces = Some(traces.into())).await;
    let token = [("authorization", format!("Bearer {TOKEN}"))];
    let others: usize = others.parse().unwrap();
    let body = json!({ "stock": 1 + others, "trace": true }).to_string();
    ask(&instance.admin, "PUT", &format!("/sales/{item}"), &token, &body).await;
    let request = PurchaseRequest::of(&item).by(&strategy);
    let others = (0..others).map(|n| request.clone().buyer(format!("other-{n}")));
    let struck = request
        .clone()
        .header("x-fault", &fault)
        .header("authorization", &token[0].1);
    let requests: Vec<_> = others.chain([struck]).collect();
    join_all(requests.iter().map(|request| instance.buy(request))).await;
}

/// Has a child die of `fault` at the strategy's sale of `item`, while so many others buy.
fn die(stores: &Stores, traces: &Path, (strategy, fault): (&str, &str), item: &str, others: usize) {
    let asked = [
        stores.redis_url(),
        stores.sql_url(),
        traces.to_str().unwrap(),
        item,
        strategy,
        fault,
        &others.to_string(),
    ];
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["--exact", "crash::child", "--ignored"])
        .envs(ASKED.into_iter().zip(asked));
    let ended = child.output().unwrap();
    assert_eq!(ended.status.signal(), Some(SIGKILL), "{strategy} {fault}: {ended:?}");
}

#[tokio::test]
async fn a_crash_before_a_step_leaves_nothing_of_it_and_one_after_it_leaves_it_done_and_traced() {
    let stores = stores();
    let folder = Folder::new().unwrap();
    let nothing = (1, 0);
    let done = (0, 1);
    for (strategy, fault, ledger, last) in [
        ("token@redis", "crash@write", nothing, ("work", "done")),
        ("token@redis", "crash@write+", done, ("write", "wrote 0")),
        ("token@redis", "crash@compare-del+", done, ("compare-del", "deleted")),
        ("lua@redis", "crash@sell+", done, ("sell", "sold, left 0")),
        ("conditional@sql", "crash@write+", nothing, ("take", "1 rows")),
        ("conditional@sql", "crash@commit", nothing, ("read-left", "left 0")),
        ("conditional@sql", "crash@commit+", done, ("commit", "committed")),
        ("combining@redis", "crash@sell+", done, ("sell", "1 of 1 sold, left 0")),
        ("combining@sql", "crash@record", nothing, ("take", "1 rows")),
    ] {
        let item = fresh("sku");
        let traces = folder.path().join(&item);
        die(&stores, &traces, (strategy, fault), &item, 0);
        let next = Instance::open(|settings| settings.traces = Some(traces)).await;
        let store = strategy.rsplit('@').next().unwrap();
        assert_eq!(
            next.ledger(store, &item).await.left_and_sold(),
            ledger,
            "{strategy} {fault}"
        );
        let token = [("authorization", format!("Bearer {TOKEN}"))];
        let trace = ask(&next.admin, "GET", &format!("/sales/{item}/trace"), &token, "")
            .await
            .json();
        let events: Vec<Event> = serde_json::from_value(trace["events"].clone()).unwrap();
        let event = events.last().unwrap();
        assert_eq!(
            (&*event.step, event.result.as_deref().unwrap()),
            last,
            "{strategy} {fault}"
        );
    }
}

/// The purchase with the fault comes last, and another purchase takes the steps of all that came meanwhile.
#[tokio::test]
async fn a_fault_of_a_purchase_strikes_also_where_another_one_takes_its_step() {
    let stores = stores();
    let instance = Instance::lab().await;
    let folder = Folder::new().unwrap();
    for (strategy, fault) in [("combining@redis", "crash@write"), ("combining@sql", "crash@record")] {
        let item = fresh("sku");
        die(&stores, &folder.path().join(&item), (strategy, fault), &item, 3);
        let store = strategy.rsplit('@').next().unwrap();
        let (left, sold) = instance.ledger(store, &item).await.left_and_sold();
        assert!(
            sold < 4 && left + sold == 4,
            "{strategy} {fault}: {left} left, {sold} sold"
        );
    }
}
