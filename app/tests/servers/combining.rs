//! Purchases that wait at one instance are sent together: each has its own answer and its own order, and all of them cost as
//! much as one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use app::domain::{Error, Order, Outcome, Purchase};
use app::probe::{Actor, Observer, Role, StepContext, StepResult};
use app::stores::sql::RECORD;
use async_trait::async_trait;
use redis::AsyncCommands;
use sqlx::{query, raw_sql};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::harness::{Instance, LONG, PATIENT, name, stores_of_its_own};
use crate::held::{Hold, Stage, ended};

/// Counts the purchases that have begun to wait, and the steps that write.
struct Count {
    waiting: Semaphore,
    writes: AtomicUsize,
}

#[async_trait]
impl Observer for Count {
    fn observes(&self, _actor: &Actor) -> bool {
        true
    }

    async fn before(&self, passing: &StepContext<'_>) {
        if passing.step.name == "wait" {
            self.waiting.add_permits(1);
        }
        if passing.step.role == Some(Role::Write) {
            self.writes.fetch_add(1, Ordering::SeqCst);
        }
    }

    async fn after(&self, _passing: &StepContext<'_>, _said: &StepResult) {}
}

/// A strategy at which `a` is held up before a step, so that all others wait for it.
struct Scene {
    stage: Stage,
    strategy: &'static str,
    item: String,
    a: Arc<Hold>,
    count: Arc<Count>,
}

/// The result of a purchase.
type Begun = JoinHandle<Result<Outcome, Error>>;

impl Scene {
    async fn open(instance: &Instance, strategy: &'static str, step: &'static str, stock: i64) -> Self {
        Self::with(instance, (strategy, step), stock, &[]).await
    }

    async fn with(
        instance: &Instance,
        (strategy, step): (&'static str, &'static str),
        stock: i64,
        holds: &[Arc<Hold>],
    ) -> Self {
        let a = Hold::before(step, "a");
        let count = Arc::new(Count {
            waiting: Semaphore::new(0),
            writes: AtomicUsize::new(0),
        });
        let mut observers: Vec<Arc<dyn Observer>> = vec![count.clone(), a.clone()];
        observers.extend(holds.iter().map(|hold| hold.clone() as Arc<dyn Observer>));
        Self {
            stage: Stage::under(instance.stores().clone(), PATIENT, observers).await,
            strategy,
            item: instance.sale(stock).await,
            a,
            count,
        }
    }

    fn purchase(&self, buyer: &str, quantity: u32, key: Option<&str>) -> Purchase {
        Purchase::new(name(&self.item), quantity, name(buyer), key.map(name))
    }

    /// Begins `a`, and the others once it is held up, one after the other.
    async fn begin<const N: usize>(&self, purchases: [Purchase; N]) -> [Begun; N] {
        let mut begun = Vec::new();
        for purchase in purchases {
            let is_first = begun.is_empty();
            begun.push(self.stage.begin_with(self.strategy, purchase).await);
            if is_first {
                self.a.reached().await;
            } else {
                self.waits().await;
            }
        }
        begun.try_into().unwrap()
    }

    /// Until one more waits.
    async fn waits(&self) {
        let waiting = timeout(LONG, self.count.waiting.acquire()).await;
        waiting.expect("it never waits").unwrap().forget();
    }
}

fn sold(remaining: i64) -> Outcome {
    Outcome::Sold { remaining }
}

async fn outcome(begun: Begun) -> Result<Outcome, Error> {
    timeout(LONG, begun).await.expect("it never ends").unwrap()
}

#[tokio::test]
async fn waiting_purchases_are_sent_in_one_batch_and_served_in_the_order_in_which_they_came_while_units_are_left() {
    let instance = Instance::lab().await;
    for (strategy, step, writes) in [
        ("combining@redis", "sell", 2),
        ("combining@sql", "commit", 2),
        // A purchase that comes while another instance holds the row goes with the ones before it.
        ("combining@sql", "lock-row", 1),
    ] {
        let scene = Scene::open(&instance, strategy, step, 10).await;
        let wanted = [("a", 1), ("b", 3), ("c", 9), ("d", 6), ("e", 1)];
        let purchases = wanted.map(|(buyer, quantity)| scene.purchase(buyer, quantity, None));
        let orders = [0, 1, 3].map(|n| (purchases[n].order.to_string(), i64::from(purchases[n].quantity)));
        let begun = scene.begin(purchases).await;
        scene.a.let_go();
        let expected = [sold(9), sold(6), Outcome::SoldOut, sold(0), Outcome::SoldOut];
        for (begun, expected) in begun.into_iter().zip(expected) {
            assert_eq!(ended(begun).await, expected, "{strategy}");
        }
        assert_eq!(scene.count.writes.load(Ordering::SeqCst), writes, "{strategy} {step}");
        let (_, store) = strategy.split_once('@').unwrap();
        let mut orders = orders.to_vec();
        orders.sort();
        let ledger = instance.ledger(store, &scene.item).await;
        assert_eq!((ledger.left, ledger.orders), (0, orders), "{strategy}");
    }
}

#[tokio::test]
async fn a_key_that_comes_twice_in_a_batch_or_has_bought_before_is_one_order() {
    let instance = Instance::lab().await;
    for (strategy, step) in [("combining@redis", "sell"), ("combining@sql", "commit")] {
        let scene = Scene::open(&instance, strategy, step, 9).await;
        let before = scene.purchase("b", 2, Some("before"));
        let first = scene.stage.begin_with(strategy, before.clone()).await;
        assert_eq!(ended(first).await, sold(7), "{strategy}");
        let begun = scene.begin([
            scene.purchase("a", 1, None),
            scene.purchase("c", 1, Some("twice")),
            scene.purchase("c", 1, Some("twice")),
            before,
            scene.purchase("d", 1, None),
        ]);
        let begun = begun.await;
        scene.a.let_go();
        let repeated = |buyer: &str, quantity| {
            Outcome::Repeated(Order {
                quantity,
                buyer: buyer.to_owned(),
            })
        };
        let expected = [sold(6), sold(5), repeated("c", 1), repeated("b", 2), sold(4)];
        for (begun, expected) in begun.into_iter().zip(expected) {
            assert_eq!(ended(begun).await, expected, "{strategy}");
        }
        let (_, store) = strategy.split_once('@').unwrap();
        let ledger = instance.ledger(store, &scene.item).await;
        assert_eq!((ledger.left_and_sold(), ledger.orders.len()), ((4, 5), 4), "{strategy}");
    }
}

#[tokio::test]
async fn a_batch_that_redis_refuses_fails_for_all_of_it_and_the_next_one_is_sold() {
    let instance = Instance::lab().await;
    let scene = Scene::open(&instance, "combining@redis", "sell", 9).await;
    let begun = scene.begin(["a", "b", "c", "d"].map(|buyer| scene.purchase(buyer, 1, None)));
    let begun = begun.await;
    let ledger = format!("orders:{{{}}}", scene.item);
    let mut redis = instance.redis.clone();
    let _: () = redis.set(&ledger, "no hash").await.unwrap();
    scene.a.let_go();
    for begun in begun {
        let refused = outcome(begun).await;
        assert!(matches!(refused, Err(Error::Failed { .. })), "{refused:?}");
    }
    let _: () = redis.del(&ledger).await.unwrap();
    assert_eq!(scene.stage.buy("combining@redis", &scene.item, "e", 1).await, sold(8));
}

/// A transaction that MariaDB gives up has changed nothing. Any other refusal may mean anything.
#[tokio::test]
async fn a_batch_that_mariadb_refuses_fails_for_all_of_it_and_the_next_one_is_sold() {
    const TRIGGER: &str = "create trigger refuses before insert on orders for each row
        if new.buyer regexp '^[0-9]+$' then
            signal sqlstate 'HY000' set mysql_errno = 1213, message_text = 'somebody else came first';
        elseif new.buyer = 'refused' then
            signal sqlstate 'HY000' set mysql_errno = 1644, message_text = 'no';
        end if";
    let instance = Instance::on(stores_of_its_own(&[]), |_| {}).await;
    raw_sql(TRIGGER).execute(&instance.sql).await.unwrap();
    for (third, gave_up) in [("1213", true), ("refused", false)] {
        let scene = Scene::open(&instance, "combining@sql", "commit", 9).await;
        let begun = scene.begin(["a", "b", third, "d"].map(|buyer| scene.purchase(buyer, 1, None)));
        let [a, others @ ..] = begun.await;
        scene.a.let_go();
        assert_eq!(ended(a).await, sold(8));
        for begun in others {
            let error = outcome(begun).await.unwrap_err();
            assert_eq!(error.changed_nothing(), gave_up, "{error}");
        }
        assert_eq!(scene.stage.buy("combining@sql", &scene.item, "e", 1).await, sold(7));
        assert_eq!(instance.ledger("sql", &scene.item).await.left_and_sold(), (7, 2));
    }
}

#[tokio::test]
async fn a_batch_whose_leader_is_gone_fails_as_unknown_and_the_next_purchase_leads() {
    let instance = Instance::lab().await;
    for (strategy, step) in [("combining@redis", "sell"), ("combining@sql", "commit")] {
        let b = Hold::before(step, "b");
        let scene = Scene::with(&instance, (strategy, step), 9, std::slice::from_ref(&b)).await;
        let begun = scene.begin(["a", "b", "c"].map(|buyer| scene.purchase(buyer, 1, None)));
        let [first, leads, follows] = begun.await;
        scene.a.let_go();
        assert_eq!(ended(first).await, sold(8), "{strategy}");
        b.reached().await;
        let next = scene.stage.begin(strategy, &scene.item, "d", 1).await;
        scene.waits().await;
        leads.abort();
        let unknown = outcome(follows).await;
        assert!(matches!(unknown, Err(Error::Failed { .. })), "{strategy}: {unknown:?}");
        assert_eq!(ended(next).await, sold(7), "{strategy}");
    }
}

#[tokio::test]
async fn an_order_that_is_entered_without_the_lock_of_the_row_costs_its_batch_another_attempt() {
    let instance = Instance::lab().await;
    let scene = Scene::open(&instance, "combining@sql", RECORD.name, 9).await;
    let entered = scene.purchase("a", 1, Some("entered"));
    let insert = query("insert into orders (id, item, quantity, buyer, instance) values (?, ?, 1, 'a', 'app-2')")
        .bind(entered.order.to_string())
        .bind(&scene.item);
    let [a] = scene.begin([entered]).await;
    insert.execute(&instance.sql).await.unwrap();
    scene.a.let_go();
    let order = Order {
        quantity: 1,
        buyer: "a".to_owned(),
    };
    assert_eq!(ended(a).await, Outcome::Repeated(order));
    assert_eq!(instance.ledger("sql", &scene.item).await.left_and_sold(), (9, 1));
}

#[tokio::test]
async fn a_purchase_that_comes_when_too_many_wait_is_told_busy_and_all_others_are_served() {
    let instance = Instance::lab().await;
    let scene = Scene::open(&instance, "combining@redis", "sell", 5_000).await;
    let begun = scene.begin(["a"].map(|buyer| scene.purchase(buyer, 1, None)));
    let mut begun = Vec::from(begun.await);
    for n in 0..1_024 {
        begun.push(
            scene
                .stage
                .begin("combining@redis", &scene.item, &format!("b-{n}"), 1)
                .await,
        );
        scene.waits().await;
    }
    let late = scene.stage.buy("combining@redis", &scene.item, "late", 1).await;
    assert_eq!(late, Outcome::Busy);
    scene.a.let_go();
    for (n, begun) in begun.into_iter().enumerate() {
        assert_eq!(ended(begun).await, sold(4_999 - n as i64));
    }
    let ledger = instance.ledger("redis", &scene.item).await;
    assert_eq!((ledger.left, ledger.orders.len()), (3_975, 1_025));
}
