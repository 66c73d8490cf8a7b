//! Faults of threats on our own shop: odd deliveries, and trouble between an instance and its store.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Error, Result};
use loadtest::attack::{Attack, AttackControl, Crowd, Delivery, Injection, SendOptions};
use loadtest::audit::Verdict;
use loadtest::deployment::requirement::{Requirement, servers};
use loadtest::deployment::{Deployment, Local};
use loadtest::experiment::{Experiment, LockServices, RunObserver, Testbed};
use loadtest::facts::{LedgerReader, Urls};
use loadtest::plan::{Wanted, rounds};
use loadtest::result::environment::Environment;
use loadtest::result::{RoundResult, RunResult, SCHEMA_VERSION};
use loadtest::sale::{Load, Names, SaleSet};
use loadtest::shop::catalogue::Strategy;
use loadtest::shop::response::ResponseKind;
use loadtest::threats::{InstanceCounts, Threat};
use serde_json::json;
use stack::{Direction, Parts, Service, Shop, ShopOptions, Stores};
use tokio::sync::SetOnce;

const LOAD: Load = Load {
    buyers: 8,
    requests: 16,
    stock: 10,
    items: 1,
    quantity: 1,
    work_ms: 1,
};

/// Long enough that a purchase is certainly under way.
const HANGS_UP_AFTER: Duration = Duration::from_millis(300);

/// One purchase goes to two instances at once; the buyer of another one does not wait for the response.
static ODD_DELIVERIES: Injection = Injection {
    places: |_| vec![2, 5],
    ..Injection::new(|control| Box::pin(deliver_oddly(control)))
};

async fn deliver_oddly(control: &AttackControl<'_>) -> Result<bool> {
    let [at_two, hang_up] = [Delivery::AtTwoInstances, Delivery::HangUp(HANGS_UP_AFTER)].map(|delivery| SendOptions {
        delivery,
        ..SendOptions::default()
    });
    control.release_buyers();
    let (at_two, hang_up) = tokio::try_join!(control.send(2, at_two), control.send(5, hang_up))?;
    let kinds = [at_two, hang_up].map(|pair| pair.map(|pair| pair.response.kind));
    control.prove("app", format!("the responses were {kinds:?}"));
    Ok(kinds == [Some(ResponseKind::Sold), Some(ResponseKind::Unknown)])
}

/// Every reply of a store comes late, to every instance.
static SLOW_REPLIES: Threat = Threat {
    name: "slow-replies",
    title: "slow replies",
    instances: InstanceCounts::EachOfSeveral,
    requires: |strategy| servers(strategy).into_iter().map(Requirement::Relay).collect(),
    injection: Some(Injection::new(|control| Box::pin(delay_replies(control)))),
    ..Threat::PLAIN
};

async fn delay_replies(control: &AttackControl<'_>) -> Result<bool> {
    let parts = control.shop.parts().context("the shop was not started here")?;
    let kinds = servers(&control.attack.sale.strategy);
    let relays = || kinds.iter().flat_map(|kind| parts.shop.relays(*kind));
    for relay in relays() {
        relay.delay(Direction::FromStore, Duration::from_millis(10));
    }
    let affected = control.release_until_sales(1).await && relays().all(|relay| relay.affected() > 0);
    control.prove("the stores", "replies were delayed");
    Ok(affected && relays().count() == control.shop.count)
}

/// A fault that leaves a proof, and not all that its injection asks for.
static IN_PART: Threat = Threat {
    name: "in-part",
    title: "a part of a fault",
    instances: InstanceCounts::EachOfSeveral,
    requires: |_| vec![Requirement::Instances],
    injection: Some(Injection::new(|control| {
        Box::pin(async move {
            control.prove("app", "one of two was struck");
            control.release_buyers();
            Ok(false)
        })
    })),
    ..Threat::PLAIN
};

/// No instance of another shop runs while a strategy with background workers is on trial.
static STANDS_ALONE: Threat = Threat {
    name: "stands-alone",
    title: "stands alone",
    instances: InstanceCounts::EachOfSeveral,
    requires: |_| vec![Requirement::Instances],
    injection: Some(Injection::new(|control| Box::pin(look_for_others(control)))),
    ..Threat::PLAIN
};

static PLAYED_HERE: Mutex<Vec<Arc<Shop>>> = Mutex::new(Vec::new());

async fn look_for_others(control: &AttackControl<'_>) -> Result<bool> {
    let parts = control.shop.parts().context("the shop was not started here")?;
    let own = &parts.shop;
    control.prove("app", "other shops were looked for");
    control.release_buyers();
    let mut played_here = PLAYED_HERE.lock().unwrap();
    let mut others = played_here.iter().filter(|shop| !Arc::ptr_eq(shop, own));
    let is_alone = others.all(|shop| shop.instances().iter().all(Service::has_exited));
    played_here.push(own.clone());
    Ok(is_alone)
}

/// Nobody watches.
struct Unobserved;

impl RunObserver for Unobserved {
    fn begins(&self, _: &loadtest::plan::Round, _: loadtest::experiment::Standing) {}

    fn begins_final_checks(&self, _: usize) {}

    fn leaves_open(&self, _: &[(String, Error)]) {}

    fn keeps_round(&self, _: &RunResult, _: usize, _: &RoundResult) -> Result<()> {
        Ok(())
    }

    fn keeps_run(&self, _: &RunResult) -> Result<()> {
        Ok(())
    }
}

fn local(redis_url: Option<String>) -> Deployment {
    let admin_token = "open sesame".to_owned();
    let stores = Stores::start(&Parts {
        redis_url,
        sql_url: None,
        fetch: true,
    });
    let stores = stores.unwrap();
    let urls = Urls::from([
        ("redis", stores.redis_url().to_owned()),
        ("sql", stores.sql_url().to_owned()),
    ]);
    Deployment::Local(Box::new(Local {
        stores: Arc::new(stores),
        urls,
        options: ShopOptions {
            program: env!("CARGO_BIN_EXE_oversell").into(),
            args: vec!["serve".to_owned(), "--lab".to_owned()],
            env: vec![("OVERSELL_ADMIN_TOKEN".to_owned(), admin_token.clone())],
            instances: 1,
            fetch: true,
            port: None,
            relays: Vec::new(),
            retrying: false,
        },
        admin_token,
        running: HashMap::new(),
    }))
}

fn strategy(name: &str, store: &str) -> Strategy {
    serde_json::from_value(json!({ "name": name, "store": store, "claims": [] })).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_purchase_at_two_instances_is_one_order_and_who_hangs_up_has_at_most_one() {
    let mut deployment = local(None);
    let shop = deployment.running(2, &[]).unwrap();
    let reader = Arc::new(LedgerReader::connect(&deployment.urls()).await.unwrap());
    let mut crowd = Crowd::gather(&shop.client.at, LOAD.buyers).unwrap();
    for (name, store) in [("lua@redis", "redis"), ("token@sql", "sql")] {
        let names = Names::draw();
        let items = vec![names.item(0)];
        let sale_set = SaleSet::new(shop.client.clone(), &reader, &strategy(name, store), items, names, LOAD);
        let sale = sale_set.sales[0].clone();
        sale_set.open().await.unwrap();
        let attack = Attack {
            sale: sale_set,
            publics: shop.publics(),
            one_at_a_time: false,
            injection: Some(&ODD_DELIVERIES),
            phase: None,
        };
        let attacked = crowd.attack(attack, Some(&shop)).await.unwrap();
        let orders = sale.observe_at_rest(false).await.unwrap().facts.orders;
        let of = |number: usize| {
            let key = names.key(&sale.item, number);
            orders.iter().filter(|order| order.key.as_ref() == Some(&key)).count()
        };
        let responses = &attacked.responses;
        let copies = [&responses.attack, &responses.repeats]
            .map(|responses| responses.iter().find(|response| response.number == 2).unwrap());
        assert_eq!(
            copies.map(|copy| copy.instance.as_deref()),
            [Some("app-1"), Some("app-2")],
            "{name}"
        );
        assert_eq!(of(2), 1, "{name}: {copies:?}");
        let hung_up: Vec<_> = responses.all().filter(|response| response.hung_up).collect();
        assert_eq!(hung_up.len(), 1, "{name}: {:?}", attacked.fault);
        assert_eq!(
            (hung_up[0].number, hung_up[0].kind),
            (5, ResponseKind::Unknown),
            "{name}"
        );
        assert!(of(5) <= 1, "{name}");
    }
    crowd.dismiss().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_threat_that_needs_a_relay_gets_one_and_is_not_playable_where_none_can_stand() {
    let deployment = local(None);
    let redis = deployment.urls()["redis"].clone();
    // The second shop sells from it when the first one is gone.
    let Deployment::Local(first) = &deployment else {
        unreachable!()
    };
    let _stores = first.stores.clone();
    let strategies = [strategy("lua@redis", "redis"), strategy("conditional@sql", "sql")];
    let run = played(deployment, &SLOW_REPLIES, vec![2], &strategies).await;
    for round in &run.rounds {
        assert_eq!(
            (round.verdict, round.inconclusive.as_deref()),
            (Verdict::Holds, None),
            "{round:?}"
        );
    }
    let run = played(local(Some(redis)), &SLOW_REPLIES, vec![2], &strategies).await;
    let not_playable: Vec<_> = run.rounds.iter().map(|round| round.not_playable.as_deref()).collect();
    let why = "it needs Redis, started here: leave out --host and --redis";
    assert_eq!(not_playable, [Some(why), None]);
    // What cannot be played here leaves the rest as designed.
    assert_eq!(run.as_designed, Some(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strategy_with_background_workers_gets_no_help_from_other_shops_which_are_checked_all_the_same() {
    let with_workers = Strategy {
        worker_steps: vec!["overdue".to_owned()],
        ..strategy("lua@redis", "redis")
    };
    let run = played(local(None), &STANDS_ALONE, vec![2, 3], &[with_workers]).await;
    let verdicts: Vec<_> = run
        .rounds
        .iter()
        .map(|round| (round.instances, round.verdict))
        .collect();
    assert_eq!(verdicts, [2, 3].map(|instances| (instances, Verdict::Holds)), "{run:?}");
    let again: Vec<_> = run.rounds.iter().flat_map(|round| &round.inconclusive_before).collect();
    assert!(again.is_empty(), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_that_struck_only_in_part_is_played_once_more_and_never_holds() {
    let run = played(local(None), &IN_PART, vec![2], &[strategy("lua@redis", "redis")]).await;
    let round = &run.rounds[0];
    let why = "the fault struck only in part".to_owned();
    assert_eq!(
        (round.verdict, &round.inconclusive),
        (Verdict::Inconclusive, &Some(why.clone()))
    );
    assert_eq!(round.inconclusive_before, [why]);
}

async fn played(
    deployment: Deployment,
    threat: &'static Threat,
    instances: Vec<usize>,
    strategies: &[Strategy],
) -> RunResult {
    let wanted = Wanted {
        threats: vec![threat],
        instances,
        load: LOAD,
        repeats: 1,
    };
    let mut run = RunResult {
        schema_version: SCHEMA_VERSION,
        ended_early: None,
        command: "a test".to_owned(),
        soak: None,
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        environment: Environment::here(Default::default(), None),
        as_designed: None,
        rounds: Vec::new(),
    };
    let experiment = Experiment {
        testbed: Testbed::of(deployment, LockServices::All).await.unwrap(),
        more: None,
        rounds: &rounds(strategies, &wanted),
        names: Names::draw(),
        coordinator: None,
        observer: &Unobserved,
        within: Duration::from_secs(600),
        stop: &SetOnce::new(),
    };
    experiment.play(&mut run).await.unwrap();
    run
}
