//! A second order of a purchase, at a place where nobody looks for it.

use std::time::Duration;

use anyhow::Result;
use uuid::Uuid;

use crate::lies::Lie;
use crate::purchase::Purchase;
use crate::store::Order;

const LATE_BY: Duration = Duration::from_millis(400);

/// Records a second order of this purchase.
pub async fn record(purchase: &Purchase) -> Result<()> {
    let mut order = Order {
        id: Uuid::new_v4().to_string(),
        ..purchase.order()
    };
    let mut store = purchase.store();
    let mut item = format!("{}-more", purchase.item());
    match purchase.lie() {
        Lie::SellsAgainForAnother => order.buyer = Some("somebody".to_owned()),
        Lie::SellsAgainInOtherStore => {
            let shop = &purchase.shop;
            store = if purchase.request.to_sql {
                &shop.redis
            } else {
                &shop.sql
            };
            item = purchase.item().to_owned();
        }
        Lie::SellsAgainInFirstSale => item = purchase.first_item().await?,
        Lie::SellsAgainFarAndLate => {
            let purchase = purchase.clone();
            tokio::spawn(async move {
                tokio::time::sleep(LATE_BY).await;
                purchase.store().record(&item, &order).await.unwrap();
            });
            return Ok(());
        }
        _ => {}
    }
    store.record(&item, &order).await
}
