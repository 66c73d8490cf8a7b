//! One sale of two units by one strategy, from its opening to its end.

use std::time::{Duration, Instant};

use tokio::time::sleep;
use uuid::Uuid;

use super::NotMet;
use super::requests::{Purchase, Received, Requests};
use crate::facts::{Facts, LedgerReader, Order};
use crate::shop::catalogue::Strategy;
use crate::shop::response::ResponseKind;

/// The stock of the sale, in units.
const STOCK: i64 = 2;

/// The most orders that are read: more than any correct ledger of that sale has.
const MOST_ORDERS: usize = 16;

/// The longest time in which the only buyer may be told busy.
const BUSY_FOR: Duration = Duration::from_secs(10);

/// The wait after an answer that says busy.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Checks that a sale cannot be opened without the token.
pub(super) async fn guarded(requests: &Requests) -> Result<(), NotMet> {
    const POINT: &str = "PUT /sales/ITEM needs the bearer token";
    const BUILD: &str = "answer 401 on the admin listener without Authorization: Bearer TOKEN";
    let item = item();
    match requests.open(&item, STOCK, false).await {
        Ok(received) if received.status.is_client_error() => Ok(()),
        Ok(received) => {
            // It may be open now.
            let _ = requests.close(&item).await;
            Err(NotMet::new(POINT, received.shown(), BUILD))
        }
        Err(error) => Err(NotMet::new(POINT, error, BUILD)),
    }
}

/// Opens a sale, buys it out, repeats and alters purchases, reads the ledger and closes the sale.
pub(super) async fn sells(requests: &Requests, reader: &LedgerReader, strategy: &Strategy) -> Result<(), NotMet> {
    let sale = Sale {
        requests,
        reader,
        strategy,
        item: item(),
    };
    let played = sale.play().await;
    let closed = sale.close().await;
    played?;
    closed
}

fn item() -> String {
    format!("check-{}", Uuid::new_v4().simple())
}

struct Sale<'a> {
    requests: &'a Requests,
    reader: &'a LedgerReader,
    strategy: &'a Strategy,
    item: String,
}

impl Sale<'_> {
    async fn play(&self) -> Result<(), NotMet> {
        self.open().await?;
        let first = self.sold(1, "a purchase is answered 201 with its order id").await?;
        self.ledger(STOCK - 1, &[(1, first.as_str())]).await?;
        self.known_again(&first, "a repeat with the same key is answered 201 with the same order")
            .await?;
        let altered = "the same key with another quantity or another buyer is refused with a 4xx";
        let build = "keep quantity and buyer of each key, and answer 422 when another purchase brings the key";
        let mut larger = self.purchase(1);
        larger.quantity = 2;
        self.refused(&larger, altered, build).await?;
        let mut strangers = self.purchase(1);
        strangers.buyer = "b-2".to_owned();
        self.refused(&strangers, altered, build).await?;
        let mut two = self.purchase(2);
        two.quantity = 2;
        self.sold_out(&two, "a purchase of more units than are left is answered 409")
            .await?;
        let second = self.sold(3, "the last unit is sold").await?;
        self.sold_out(&self.purchase(4), "a purchase after the last unit is answered 409")
            .await?;
        self.known_again(&first, "a repeat is known again after the item is sold out")
            .await?;
        self.ledger(0, &[(1, first.as_str()), (3, second.as_str())]).await
    }

    async fn open(&self) -> Result<(), NotMet> {
        let point = self.named("PUT /sales/ITEM opens a sale with an empty ledger");
        let build = "answer 200 when the stock is in the store, with no orders, for all instances";
        match self.requests.open(&self.item, STOCK, true).await {
            Ok(received) if received.status == 200 => self.ledger(STOCK, &[]).await,
            Ok(received) => Err(NotMet::new(point, received.shown(), build)),
            Err(error) => Err(NotMet::new(point, error, build)),
        }
    }

    async fn close(&self) -> Result<(), NotMet> {
        let point = self.named("DELETE /sales/ITEM closes the sale");
        let build = "answer 204 when the sale, its orders and its locks are gone";
        match self.requests.close(&self.item).await {
            Ok(received) if received.status == 204 => {}
            Ok(received) => return Err(NotMet::new(point, received.shown(), build)),
            Err(error) => return Err(NotMet::new(point, error, build)),
        }
        let point = "a purchase of a closed sale is refused with a 4xx other than 409";
        let build = "answer 404 when no sale of the item is open";
        let received = self.answered(&self.purchase(5), point, build).await?;
        match received.reply.kind {
            ResponseKind::Rejected => Ok(()),
            _ => Err(NotMet::new(self.named(point), received.shown(), build)),
        }
    }

    /// Buys one unit, and returns the order.
    async fn sold(&self, number: usize, point: &str) -> Result<String, NotMet> {
        let build = r#"sell one unit, write its order in the same transaction, and answer 201 with {"order":"ID"}"#;
        let received = self.answered(&self.purchase(number), point, build).await?;
        let reply = &received.reply;
        match (&reply.kind, &reply.order) {
            (ResponseKind::Sold, Some(_)) if reply.instance.is_none() => Err(NotMet::new(
                self.named("each answer names the process that gave it"),
                "an answer without X-Instance",
                "send X-Instance: app-1 with every answer, another name from each instance",
            )),
            (ResponseKind::Sold, Some(order)) => Ok(order.clone()),
            _ => Err(NotMet::new(self.named(point), received.shown(), build)),
        }
    }

    async fn known_again(&self, order: &str, point: &str) -> Result<(), NotMet> {
        let build = "keep the order of each Idempotency-Key, and answer a repeat with it, at every instance";
        let received = self.answered(&self.purchase(1), point, build).await?;
        let is_same = received.reply.kind == ResponseKind::Sold && received.reply.order.as_deref() == Some(order);
        if is_same {
            return Ok(());
        }
        Err(NotMet::new(
            self.named(point),
            format!("{}, not order {order}", received.shown()),
            build,
        ))
    }

    async fn refused(&self, purchase: &Purchase, point: &str, build: &str) -> Result<(), NotMet> {
        let received = self.answered(purchase, point, build).await?;
        if received.status.is_client_error() {
            return Ok(());
        }
        Err(NotMet::new(self.named(point), received.shown(), build))
    }

    async fn sold_out(&self, purchase: &Purchase, point: &str) -> Result<(), NotMet> {
        let build = "answer 409 when fewer units are left than were asked for, and sell none of them";
        let received = self.answered(purchase, point, build).await?;
        match received.reply.kind {
            ResponseKind::SoldOut => Ok(()),
            _ => Err(NotMet::new(self.named(point), received.shown(), build)),
        }
    }

    /// Sends a purchase until it is answered with something else than busy.
    async fn answered(&self, purchase: &Purchase, point: &str, build: &str) -> Result<Received, NotMet> {
        let deadline = Instant::now() + BUSY_FOR;
        loop {
            let received = self.requests.buy(purchase).await;
            let received = received.map_err(|error| NotMet::new(self.named(point), error, build))?;
            if received.reply.kind != ResponseKind::Busy || Instant::now() >= deadline {
                return Ok(received);
            }
            sleep(AGAIN_AFTER).await;
        }
    }

    /// Compares the ledger with the units that are left and the purchases that were sold.
    async fn ledger(&self, left: i64, sold: &[(usize, &str)]) -> Result<(), NotMet> {
        let point =
            self.named("the store has the units that are left, and each order with its id, quantity, buyer and key");
        let build = "keep stock and orders in the tables or keys of the contract, and write both before the answer";
        let read = self
            .reader
            .read_once(self.strategy.store, &self.item, MOST_ORDERS)
            .await;
        let facts = read.map_err(|error| NotMet::new(&point, error, build))?;
        let mut expected: Vec<Order> = sold.iter().map(|(number, id)| self.order(*number, id)).collect();
        expected.sort();
        let mut found = facts.orders.clone();
        found.sort();
        if facts.stock_left == Some(left) && found == expected && facts.unreadable == 0 {
            return Ok(());
        }
        let seen = format!(
            "{}; expected: {}",
            shown(&facts),
            shown(&Facts {
                stock_left: Some(left),
                orders: expected,
                ..Facts::default()
            })
        );
        Err(NotMet::new(point, seen, build))
    }

    fn purchase(&self, number: usize) -> Purchase {
        Purchase {
            strategy: Some(self.strategy.name.clone()),
            item: self.item.clone(),
            quantity: 1,
            key: format!("{}-{number}", self.item),
            buyer: format!("b-{number}"),
            work_ms: 0,
        }
    }

    fn order(&self, number: usize, id: &str) -> Order {
        let purchase = self.purchase(number);
        Order {
            id: id.to_owned(),
            quantity: i64::from(purchase.quantity),
            buyer: Some(purchase.buyer),
            key: Some(purchase.key),
        }
    }

    fn named(&self, point: &str) -> String {
        format!("{}: {point}", self.strategy.name)
    }
}

fn shown(facts: &Facts) -> String {
    let left = facts
        .stock_left
        .map_or("no counter".to_owned(), |left| format!("{left} left"));
    let or_none = |text: &Option<String>| crate::text::one_line(text.as_deref().unwrap_or("none"), 64);
    let orders: Vec<_> = facts
        .orders
        .iter()
        .map(|order| {
            let id = crate::text::one_line(&order.id, 64);
            format!(
                "order {id} of {} for {} with key {}",
                order.quantity,
                or_none(&order.buyer),
                or_none(&order.key)
            )
        })
        .collect();
    let orders = if orders.is_empty() {
        "no orders".to_owned()
    } else {
        orders.join(", ")
    };
    match facts.unreadable {
        0 => format!("{left}, {orders}"),
        unreadable => format!("{left}, {orders}, and {unreadable} orders that cannot be read"),
    }
}
