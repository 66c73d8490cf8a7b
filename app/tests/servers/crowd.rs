//! Many buyers at once, over one instance and over two: each strategy is exact where it claims to be.

use std::collections::BTreeMap;

use app::stores::SECOND_SQL;
use app::strategies::Entry;
use futures_util::future::join_all;

use crate::harness::{
    Answer, Instance, LONG, PurchaseRequest, SHORT, is_tried, locks_all_items, stores, stores_of_its_own,
};

/// Every strategy that claims to survive `threat` and can be used here, together with those that are tried at the same instances.
async fn claiming(threat: &str) -> Vec<([Instance; 2], Vec<Entry>)> {
    let here = Instance::lab().await;
    let all = Entry::all().into_iter();
    let claiming = all.filter(|entry| is_tried(entry.mechanism.name) && entry.claims().contains(&threat));
    let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for entry in claiming.filter(|entry| entry.missing(&here.shop.world.services).is_none()) {
        let wants = (entry.mechanism.claims.gives_up, locks_all_items(&entry));
        groups.entry(wants).or_default().push(entry);
    }
    let mut claiming = Vec::new();
    for ((gives_up, locks_all_items), entries) in groups {
        claiming.push((instances(gives_up, locks_all_items).await, entries));
    }
    claiming
}

/// All at once, each at the next of the instances.
async fn all_at_once(instances: &[&Instance], requests: &[PurchaseRequest]) -> Vec<Answer> {
    let at = instances.iter().cycle();
    join_all(requests.iter().zip(at).map(|(request, instance)| instance.buy(request))).await
}

/// Two instances. Where purchases give up they need not wait long before that.
async fn instances(gives_up: bool, locks_all_items: bool) -> [Instance; 2] {
    let wait = if gives_up { SHORT } else { LONG };
    let stores = match locks_all_items {
        true => stores_of_its_own(&[SECOND_SQL, "pg"]),
        false => stores(),
    };
    let open = || Instance::on(stores.clone(), |settings| settings.timeouts.wait = wait);
    [open().await, open().await]
}

/// The same. A buyer that is told busy by a strategy that gives up comes again, alone.
async fn all_at_once_until_served(instances: &[&Instance], requests: &[PurchaseRequest], entry: &Entry) -> Vec<Answer> {
    let mut answers = all_at_once(instances, requests).await;
    for (n, answer) in answers.iter_mut().enumerate() {
        if answer.status == 503 && entry.mechanism.claims.gives_up {
            *answer = instances[n % instances.len()].buy_until_served(&requests[n]).await;
        }
    }
    answers
}

/// 24 buyers want one each of 8 units.
async fn assert_exact(instances: &[&Instance], entry: &Entry) {
    let (strategy, store) = (&entry.name, entry.store);
    let item = instances[0].quiet_sale(8).await;
    let buyer = |n| {
        PurchaseRequest::of(&item)
            .by(strategy)
            .work_ms(1)
            .buyer(format!("b-{n}"))
    };
    let requests: Vec<_> = (0..24).map(buyer).collect();
    let answers = all_at_once_until_served(instances, &requests, entry).await;
    let (sold, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
    assert!(
        refused.iter().all(|answer| answer.status == 409),
        "{strategy}: {refused:?}"
    );
    let mut told: Vec<_> = sold.iter().map(|answer| (answer.order(), 1)).collect();
    told.sort();
    assert_eq!(told.len(), 8, "{strategy}");
    let ledger = instances[0].ledger(store, &item).await;
    assert_eq!((ledger.left, ledger.orders), (0, told), "{strategy}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strategy_that_claims_to_survive_a_crowd_is_exact_at_one_instance() {
    for ([instance, _], entries) in claiming("crowd").await {
        for entry in entries {
            assert_exact(&[&instance], &entry).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strategy_that_claims_to_survive_a_second_instance_is_exact_at_two() {
    for ([one, two], entries) in claiming("second-instance").await {
        for entry in entries {
            assert_exact(&[&one, &two], &entry).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_sent_ten_times_at_once_to_two_instances_is_one_order() {
    for ([one, two], entries) in claiming("second-instance").await {
        for entry in entries {
            assert_one_order(&[&one, &two], &entry).await;
        }
    }
}

async fn assert_one_order(instances: &[&Instance], entry: &Entry) {
    let (strategy, store) = (&entry.name, entry.store);
    let item = instances[0].quiet_sale(8).await;
    let request = PurchaseRequest::of(&item).by(strategy).work_ms(1).key("once");
    let answers = all_at_once_until_served(instances, &vec![request; 10], entry).await;
    let order = answers[0].order();
    for answer in &answers {
        let told = (answer.status, answer.order());
        assert_eq!(told, (201, order.clone()), "{strategy}: {}", answer.text);
    }
    let replayed = |answer: &&Answer| answer.header("idempotent-replayed") == "true";
    assert_eq!(answers.iter().filter(replayed).count(), 9, "{strategy}");
    let ledger = instances[0].ledger(store, &item).await;
    assert_eq!((ledger.left, ledger.orders), (7, vec![(order, 1)]), "{strategy}");
}

/// Both read while the other one still works: this also shows that two `Shop`s here are two instances.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_lock_that_both_see_two_instances_sell_one_unit_twice() {
    let (one, two) = (Instance::lab().await, Instance::lab().await);
    for strategy in ["none@redis", "mutex@redis"] {
        let item = one.sale(1).await;
        let request = PurchaseRequest::of(&item).by(strategy).work_ms(3_000);
        let answers = all_at_once(&[&one, &two], &vec![request; 2]).await;
        assert!(
            answers.iter().all(|answer| answer.status == 201),
            "{strategy}: {answers:?}"
        );
        assert_eq!(one.ledger("redis", &item).await.left_and_sold(), (0, 2), "{strategy}");
    }
}
