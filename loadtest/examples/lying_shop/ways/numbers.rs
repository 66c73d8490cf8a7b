//! Numbers to stumble over.

use anyhow::Result;

use super::books::{after_first, when_sold_out};
use crate::answer::Answer;
use crate::lies::Lie;
use crate::store::Store;
use crate::visit::Visit;

const MANY_DIGITS: &str = "123456789012345678901234567890";

pub async fn sell(visit: &Visit) -> Result<Answer> {
    match visit.lie() {
        Lie::HugeCounter | Lie::LeastCounter => when_sold_out(visit, async || spoil_counter(visit).await).await,
        Lie::NameTwice => visit.plain().await,
        _ => after_first(visit, async |id| spoil_ledger(visit, id).await).await,
    }
}

async fn spoil_counter(visit: &Visit) -> Result<()> {
    match (visit.lie(), visit.store()) {
        (Lie::HugeCounter, Store::Redis(store)) => store.put_counter(visit.item(), MANY_DIGITS).await,
        _ => visit.store().put_stock(visit.item(), i64::MIN).await,
    }
}

async fn spoil_ledger(visit: &Visit, id: &str) -> Result<()> {
    let extra: &[i64] = match visit.lie() {
        Lie::HugeOrders => &[i64::MAX, i64::MAX],
        Lie::LeastOrder => &[i64::MIN],
        Lie::CancelsOut => &[3, -3],
        Lie::ZeroOrders => &[0, 0, 0],
        Lie::NegativeOrder => &[-1],
        _ => &[],
    };
    let (store, item) = (visit.store(), visit.item());
    for quantity in extra {
        store.record(item, &visit.ghost(*quantity)).await?;
    }
    if visit.lie() == Lie::NegativeOrder {
        store.change(item, 1).await?;
    }
    let number = match visit.lie() {
        Lie::WholeFraction => "1.0",
        Lie::Fractional => "1.5",
        Lie::HugeQuantity => MANY_DIGITS,
        _ => return Ok(()),
    };
    let Store::Redis(store) = store else { return Ok(()) };
    let entry = store.entry(&visit.order());
    let whole = format!("\"quantity\":{}", visit.wish.quantity);
    let entry = entry.replace(&whole, &format!("\"quantity\":{number}"));
    store.put(item, id, &entry).await
}
