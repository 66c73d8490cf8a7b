//! Numbers that can break a sum, a sign or a parser.

use anyhow::Result;

use super::ledgers::{after_first, when_sold_out};
use crate::answer::Answer;
use crate::lies::Lie;
use crate::purchase::Purchase;
use crate::store::Store;

const MANY_DIGITS: &str = "123456789012345678901234567890";

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    match purchase.lie() {
        Lie::HugeCounter | Lie::LeastCounter => when_sold_out(purchase, async || spoil_counter(purchase).await).await,
        Lie::NameTwice => purchase.plain().await,
        _ => after_first(purchase, async |id| spoil_ledger(purchase, id).await).await,
    }
}

async fn spoil_counter(purchase: &Purchase) -> Result<()> {
    match (purchase.lie(), purchase.store()) {
        (Lie::HugeCounter, Store::Redis(store)) => store.put_counter(purchase.item(), MANY_DIGITS).await,
        _ => purchase.store().put_stock(purchase.item(), i64::MIN).await,
    }
}

async fn spoil_ledger(purchase: &Purchase, id: &str) -> Result<()> {
    let extra: &[i64] = match purchase.lie() {
        Lie::HugeOrders => &[i64::MAX, i64::MAX],
        Lie::LeastOrder => &[i64::MIN],
        Lie::CancelsOut => &[3, -3],
        Lie::ZeroOrders => &[0, 0, 0],
        Lie::NegativeOrder => &[-1],
        _ => &[],
    };
    let (store, item) = (purchase.store(), purchase.item());
    for quantity in extra {
        store.record(item, &purchase.ghost(*quantity)).await?;
    }
    if purchase.lie() == Lie::NegativeOrder {
        store.change(item, 1).await?;
    }
    let number = match purchase.lie() {
        Lie::WholeFraction => "1.0",
        Lie::Fractional => "1.5",
        Lie::HugeQuantity => MANY_DIGITS,
        _ => return Ok(()),
    };
    let Store::Redis(store) = store else { return Ok(()) };
    let entry = store.entry(&purchase.order());
    let whole = format!("\"quantity\":{}", purchase.request.quantity);
    let entry = entry.replace(&whole, &format!("\"quantity\":{number}"));
    store.put(item, id, &entry).await
}
