//! The effects of AT's order of locks, and `at-for-update`, where they do not occur: the dirty read, and the rollback that waits
//! for the purchase that waits for it.

use std::sync::{Arc, Mutex, PoisonError};

use app::domain::{Outcome, Purchase};
use app::probe::{Actor, Observer, StepContext, StepResult};
use app::stores::SECOND_SQL;
use async_trait::async_trait;
use sqlx::{Row, query};

use crate::at::{AT, AT_FOR_UPDATE, expire};
use crate::harness::{Instance, LONG, PATIENT, PurchaseRequest, SHORT, name, stores_of_its_own, until};
use crate::held::{Hold, Stage, ended};
use crate::reconciled::settled;
use crate::stopped::{At, crash};

/// An instance at which a purchase soon gives up its wait.
async fn hasty() -> Instance {
    Instance::on(stores_of_its_own(&[SECOND_SQL]), |settings| {
        settings.timeouts.wait = SHORT
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn at_says_sold_out_for_a_unit_that_comes_back_and_at_for_update_waits() {
    let instance = hasty().await;
    for (strategy, expected) in [(AT, (409, "sold-out")), (AT_FOR_UPDATE, (503, "busy"))] {
        let item = instance.sale(1).await;
        crash(instance.stores(), strategy, LONG, (&item, "k"), At::Named("record")).await;
        let other = PurchaseRequest::of(&item).by(strategy).buyer("b-2");
        let answer = match strategy {
            AT => instance.buy_until_served(&other).await,
            _ => instance.buy(&other).await,
        };
        assert_eq!(answer.problem(), (expected.0, expected.1.to_owned()), "{strategy}");
        expire(&instance, &item).await;
        settled(&instance, &item).await;
        let answer = instance.buy_until_served(&other).await;
        assert_eq!(answer.status, 201, "{strategy}: {}", answer.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn at_repeats_an_order_that_is_taken_back_and_at_for_update_says_that_it_does_not_know() {
    let instance = hasty().await;
    for (strategy, status) in [(AT, 201), (AT_FOR_UPDATE, 500)] {
        let item = instance.sale(1).await;
        crash(instance.stores(), strategy, LONG, (&item, "k"), At::Named("decide")).await;
        let again = PurchaseRequest::of(&item).by(strategy).key("k");
        let answer = instance.buy_until_served(&again).await;
        assert_eq!(answer.status, status, "{strategy}: {}", answer.text);
        expire(&instance, &item).await;
        settled(&instance, &item).await;
        let ledger = instance.ledger("sql+sql", &item).await;
        assert_eq!(ledger.left_and_sold(), (1, 0), "{strategy}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_stays_is_repeated_while_another_transaction_has_the_global_lock() {
    let instance = hasty().await;
    for strategy in [AT, AT_FOR_UPDATE] {
        let item = instance.sale(1).await;
        let again = PurchaseRequest::of(&item).by(strategy).key("k");
        assert_eq!(instance.buy_until_served(&again).await.status, 201);
        let lock =
            query("insert into at_transactions (item, id, deadline) values (?, 'another', now(6) + interval 1 hour)");
        lock.bind(&item).execute(&instance.sql).await.unwrap();
        assert_eq!(instance.buy_until_served(&again).await.status, 201, "{strategy}");
    }
}

/// The steps of all purchases in the order of their ends: buyer, step and result.
#[derive(Default)]
struct Steps(Mutex<Vec<[String; 3]>>);

impl Steps {
    fn all(&self) -> Vec<[String; 3]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The place of the first such step.
    fn first(&self, buyer: &str, step: &str) -> usize {
        let found = self.all().iter().position(|[by, name, _]| by == buyer && name == step);
        found.unwrap_or_else(|| panic!("{buyer} has taken no step {step}"))
    }

    fn count(&self, buyer: &str, step: &str) -> usize {
        let all = self.all();
        all.iter().filter(|[by, name, _]| by == buyer && name == step).count()
    }
}

#[async_trait]
impl Observer for Steps {
    fn observes(&self, actor: &Actor) -> bool {
        matches!(actor, Actor::Purchase(_))
    }

    async fn before(&self, _: &StepContext<'_>) {}

    async fn after(&self, passing: &StepContext<'_>, said: &StepResult) {
        let Actor::Purchase(attempt) = passing.actor else {
            return;
        };
        let step = [attempt.buyer.as_str(), passing.step.name, &said.words].map(str::to_owned);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(step);
    }
}

/// One purchase of an order that exists already, so that it is rolled back, and another one that comes meanwhile.
struct Circle {
    instance: Instance,
    steps: Arc<Steps>,
    rolls_back: Arc<Hold>,
    asks: Arc<Hold>,
    stage: Stage,
    item: String,
}

impl Circle {
    /// Holds the rollback just before it needs the row, and the other one before its first `step`.
    async fn of(strategy: &str, step: &'static str) -> Self {
        let stores = stores_of_its_own(&[SECOND_SQL]);
        let instance = Instance::on(stores.clone(), |_| {}).await;
        let item = instance.quiet_sale(5).await;
        let steps = Arc::new(Steps::default());
        let (rolls_back, asks) = (Hold::before("restore-stock", "first"), Hold::before(step, "other"));
        let stage = Stage::under(stores, PATIENT, vec![steps.clone(), rolls_back.clone(), asks.clone()]).await;
        let circle = Self {
            instance,
            steps,
            rolls_back,
            asks,
            stage,
            item,
        };
        let sold = ended(circle.stage.begin_with(strategy, circle.purchase()).await).await;
        assert_eq!(sold, Outcome::Sold { remaining: 4 }, "{strategy}");
        circle
    }

    fn purchase(&self) -> Purchase {
        Purchase::new(name(&self.item), 1, name("first"), Some(name("k")))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_waits_for_the_row_of_a_purchase_that_waits_for_the_global_lock_until_that_gives_up() {
    let circle = Circle::of(AT, "global-lock").await;
    let first = circle.stage.begin_with(AT, circle.purchase()).await;
    circle.rolls_back.reached().await;
    let other = circle.stage.begin(AT, &circle.item, "other", 1).await;
    circle.asks.reached().await;
    circle.rolls_back.let_go();
    until("the rollback waits for the row", async || {
        let waits = query("show global status like 'Innodb_row_lock_current_waits'");
        let row = waits.fetch_one(&circle.instance.sql).await.unwrap();
        row.get::<String, _>(1) == "1"
    })
    .await;
    circle.asks.let_go();
    assert!(matches!(ended(first).await, Outcome::Repeated(_)));
    assert!(matches!(ended(other).await, Outcome::Sold { .. }));
    let steps = &circle.steps;
    let before = &steps.all()[..steps.first("first", "restore-stock")];
    let asked = before
        .iter()
        .filter(|[buyer, step, _]| buyer == "other" && step == "global-lock");
    assert_eq!(asked.count(), 30, "{before:?}");
    assert_eq!(
        circle.instance.ledger("sql+sql", &circle.item).await.left_and_sold(),
        (3, 2)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn at_for_update_lets_the_row_go_while_it_waits_and_has_it_when_it_asks_for_the_global_lock() {
    let circle = Circle::of(AT_FOR_UPDATE, "begin").await;
    let first = circle.stage.begin_with(AT_FOR_UPDATE, circle.purchase()).await;
    circle.rolls_back.reached().await;
    let other = circle.stage.begin(AT_FOR_UPDATE, &circle.item, "other", 1).await;
    circle.asks.let_go();
    until("it has let the row go", async || {
        circle.steps.count("other", "rollback") > 0
    })
    .await;
    circle.rolls_back.let_go();
    assert!(matches!(ended(first).await, Outcome::Repeated(_)));
    assert!(matches!(ended(other).await, Outcome::Sold { .. }));
    assert_eq!(
        circle.steps.count("other", "global-lock"),
        1,
        "{:?}",
        circle.steps.all()
    );
    assert_eq!(
        circle.instance.ledger("sql+sql", &circle.item).await.left_and_sold(),
        (3, 2)
    );
}
