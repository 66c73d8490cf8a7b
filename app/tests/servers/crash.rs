//! A fault kills the process just before a step or just after it: what the store then holds, and what the trace kept.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Arc;

use app::probe::Event;
use serde_json::json;
use stack::{Folder, Parts, Stores};

use crate::harness::{Instance, PurchaseRequest, TOKEN, ask, fresh, stores};

const SIGKILL: i32 = 9;

/// The environment of the child: the stores, its folder for traces, the item, the strategy and the fault.
const ASKED: [&str; 6] = [
    "CHILD_REDIS",
    "CHILD_SQL",
    "CHILD_TRACES",
    "CHILD_ITEM",
    "CHILD_STRATEGY",
    "CHILD_FAULT",
];

/// The one who dies: this very program, started anew by the test below.
#[tokio::test]
#[ignore = "the child of another test"]
async fn child() {
    let [redis, sql, traces, item, strategy, fault] = ASKED.map(|name| std::env::var(name).unwrap());
    let parts = Parts {
        redis_url: Some(redis),
        sql_url: Some(sql),
        fetch: false,
    };
    let stores = Arc::new(Stores::start(&parts).unwrap());
    let instance = Instance::on(stores, |settings| settings.traces = Some(traces.into())).await;
    let token = [("authorization", format!("Bearer {TOKEN}"))];
    let body = json!({ "stock": 1, "trace": true }).to_string();
    ask(&instance.admin, "PUT", &format!("/sales/{item}"), &token, &body).await;
    let request = PurchaseRequest::of(&item).by(&strategy);
    let request = request.header("x-fault", &fault).header("authorization", &token[0].1);
    instance.buy(&request).await;
}

#[tokio::test]
async fn a_crash_before_a_step_leaves_nothing_of_it_and_one_after_it_leaves_it_done_and_traced() {
    let stores = stores();
    let folder = Folder::new().unwrap();
    let nothing = (1, 0);
    let done = (0, 1);
    for (strategy, fault, ledger, last) in [
        ("token@redis", "crash@write", nothing, ("read", "left 1")),
        ("token@redis", "crash@write+", done, ("write", "wrote 0")),
        ("token@redis", "crash@compare-del+", done, ("compare-del", "deleted")),
        ("lua@redis", "crash@sell+", done, ("sell", "sold, left 0")),
        ("conditional@sql", "crash@write+", nothing, ("take", "1 rows")),
        ("conditional@sql", "crash@commit", nothing, ("read-left", "left 0")),
        ("conditional@sql", "crash@commit+", done, ("commit", "committed")),
    ] {
        let item = fresh("sku");
        let traces = folder.path().join(&item);
        let asked = [
            stores.redis_url(),
            stores.sql_url(),
            traces.to_str().unwrap(),
            &item,
            strategy,
            fault,
        ];
        let mut child = Command::new(std::env::current_exe().unwrap());
        child
            .args(["--exact", "crash::child", "--ignored"])
            .envs(ASKED.into_iter().zip(asked));
        let ended = child.output().unwrap();
        assert_eq!(ended.status.signal(), Some(SIGKILL), "{strategy} {fault}: {ended:?}");
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
            (&*event.step, event.said.as_deref().unwrap()),
            last,
            "{strategy} {fault}"
        );
    }
}
