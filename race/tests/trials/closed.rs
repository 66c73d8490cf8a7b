//! A sale is closed however its round ends.

use std::future::pending;

use loadtest::trust::Trust;
use race::{Description, Load, Trial, Walked, walk};
use sqlx::{Connection, SqliteConnection};
use tokio::net::TcpListener;

use crate::shop::{Sells, Shop, start};

const RACE: Load = Load::Race {
    buyers: 3,
    clicks: 1,
    has_fault: false,
};

/// A number of units that no round leaves.
pub const CLOSED: i64 = 77;

/// Returns the file of a shop whose sale is closed by a statement.
pub fn closing(shop: &Shop) -> String {
    let close = format!("[sale]\nclose = [{{ write = \"update items set stock = {CLOSED}\" }}]");
    shop.file().replace("[sale]", &close)
}

/// Returns the trial of such a shop, after this change of its file.
fn trial(shop: &Shop, right: &str, wrong: &str) -> Trial {
    let file = closing(shop);
    assert!(file.contains(right), "{right}");
    let file = file.replace(right, wrong);
    Trial::new(Description::parse(&file).unwrap(), Trust::System).unwrap()
}

/// Returns the stock in the shop's database.
pub async fn stock(shop: &Shop) -> i64 {
    let mut connection = SqliteConnection::connect(&shop.store).await.unwrap();
    let read = sqlx::query_scalar("select stock from items").fetch_one(&mut connection);
    read.await.unwrap()
}

/// Starts a shop that takes a request and never answers. Returns the request line for it.
pub async fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let line = format!("\"POST http://{}/buy\"", listener.local_addr().unwrap());
    (listener, line)
}

#[tokio::test]
async fn a_round_that_is_stopped_in_its_middle_closes_the_sale() {
    let shop = start(Sells::ByOneUpdate).await;
    let (listener, line) = silent().await;
    let trial = trial(&shop, "\"POST /buy\"", &line);
    let stop = async {
        let _connection = listener.accept().await.unwrap();
        assert_eq!(stock(&shop).await, 3, "the sale is open");
    };
    let played = trial.play(RACE, |_, _| {}, stop).await.unwrap();
    assert!(played.is_none(), "{played:?}");
    assert_eq!(stock(&shop).await, CLOSED);
}

#[tokio::test]
async fn a_walk_that_is_stopped_closes_the_sale() {
    let shop = start(Sells::ByOneUpdate).await;
    let (listener, line) = silent().await;
    let trial = trial(&shop, "\"POST /buy\"", &line);
    let stop = async {
        let _connection = listener.accept().await.unwrap();
    };
    assert_eq!(walk(&trial, |_| {}, stop).await.unwrap(), Walked::Stopped);
    assert_eq!(stock(&shop).await, CLOSED);
}

#[tokio::test]
async fn a_round_and_a_walk_that_fail_close_the_sale_even_where_it_was_only_partly_opened() {
    for (right, wrong, says) in [
        ("select buyer from orders", "select buyer from no_orders", "[orders]"),
        ("\"GET /login\"", "\"GET /nowhere\"", "GET /nowhere: status 404"),
        (
            "stock = {stock}\" }",
            "stock = {stock}\" }, { write = \"nothing\" }",
            "the sale could not be opened",
        ),
    ] {
        let shop = start(Sells::ByOneUpdate).await;
        let trial = trial(&shop, right, wrong);
        let failed = trial.play(RACE, |_, _| {}, pending()).await.unwrap_err();
        assert!(format!("{failed:#}").contains(says), "{failed:#}");
        assert_eq!(stock(&shop).await, CLOSED, "{says}");

        let shop = start(Sells::ByOneUpdate).await;
        let trial = self::trial(&shop, right, wrong);
        let failed = walk(&trial, |_| {}, pending()).await.unwrap_err();
        assert!(format!("{failed:#}").contains(says), "{failed:#}");
        assert_eq!(stock(&shop).await, CLOSED, "{says}");
    }
}

#[tokio::test]
async fn a_sale_that_cannot_be_closed_is_an_error_beside_that_of_its_round() {
    let shop = start(Sells::ByOneUpdate).await;
    let file = shop
        .file()
        .replace("[sale]", "[sale]\nclose = [{ write = \"nothing\" }]");
    let file = file.replace("select buyer from orders", "select buyer from no_orders");
    let trial = Trial::new(Description::parse(&file).unwrap(), Trust::System).unwrap();
    let failed = trial.play(RACE, |_, _| {}, pending()).await.unwrap_err();
    let said = format!("{failed:#}");
    assert!(
        said.contains("[orders]") && said.contains("; the sale could not be closed: `nothing`"),
        "{said}"
    );
}
