//! Statements that MariaDB gives up because another transaction came first: 1020 (the row has changed since the transaction read it,
//! with `innodb_snapshot_isolation`, which is on from 11.6.2) and 1213 (a deadlock).
//!
//! No transaction of the strategies tried here reads before it writes, and all lock in the same order, so that none meets
//! these by itself. Here a trigger of MariaDB's raises the error whose number is the buyer's name.

use sqlx::raw_sql;

use crate::harness::{Instance, PurchaseRequest, stores_of_its_own};

const TRIGGER: &str = "
create trigger conflict before insert on orders for each row
begin
    declare error smallint unsigned;
    if new.buyer regexp '^[0-9]+$' then
        set error = new.buyer;
        signal sqlstate 'HY000' set mysql_errno = error, message_text = 'somebody else came first';
    end if;
end";

#[tokio::test]
async fn a_buyer_whose_purchase_met_another_one_is_told_to_come_again_and_has_bought_nothing() {
    let stores = stores_of_its_own(&[]);
    let instance = Instance::on(stores.clone(), |_| {}).await;
    let other = Instance::on(stores, |_| {}).await;
    raw_sql(TRIGGER).execute(&instance.sql).await.unwrap();
    for strategy in ["conditional@sql", "compare-num@sql", "token@sql", "combining@sql"] {
        for (error, problem) in [
            ("1020", (503, "busy")),
            ("1213", (503, "busy")),
            // Any other refusal may mean anything.
            ("1644", (500, "store-failed")),
        ] {
            let item = instance.sale(1).await;
            let request = PurchaseRequest::of(&item).by(strategy);
            let answer = instance.buy(&request.clone().buyer(error)).await;
            let (status, kind) = answer.problem();
            assert_eq!((status, kind.as_str()), problem, "{strategy}, {error}");
            assert_eq!(
                answer.header("retry-after").is_empty(),
                status != 503,
                "{strategy}, {error}"
            );
            let ledger = instance.ledger("sql", &item).await;
            assert_eq!(ledger.left_and_sold(), (1, 0), "{strategy}, {error}");
            // At another instance: a transaction that was left open there would keep the row locked.
            let next = other.buy(&request).await;
            assert_eq!(next.status, 201, "{strategy}, {error}: {}", next.text);
        }
    }
}
