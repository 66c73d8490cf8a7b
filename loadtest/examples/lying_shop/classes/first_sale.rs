//! Shops whose first sale is no test: the fault does not strike there. All later sales are honest.

use anyhow::Result;
use uuid::Uuid;

use crate::answer::Answer;
use crate::lies::Lie;
use crate::lying_instance::Shop;
use crate::purchase::Purchase;
use crate::store::Order;

/// Runs before a sale is opened: spoils the first sale, which the witness has already checked.
pub async fn open(shop: &Shop, item: &str) -> Result<()> {
    if shop.lie != Lie::MissesFirstAndEnters {
        return Ok(());
    }
    for (strategy, store) in [("redis", &shop.redis), ("sql", &shop.sql)] {
        let Some(first) = shop.notes.get(&shop.first_sales(), strategy).await? else {
            continue;
        };
        if first == item || shop.notes.add(&first, "entered", 1).await? > 1 {
            continue;
        }
        let ghost = Order {
            id: Uuid::new_v4().to_string(),
            quantity: 1,
            buyer: Some("nobody".to_owned()),
            key: Some("ghost".to_owned()),
        };
        store.record(&first, &ghost).await?;
    }
    Ok(())
}

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    let forgets = purchase.lie() == Lie::MissesFirstAndForgets && purchase.is_in_first_sale().await?;
    if forgets && purchase.no_sale_or_known().await?.is_some() {
        return Ok(Answer::SoldOut);
    }
    purchase.plain().await
}
