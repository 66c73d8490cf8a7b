//! Times and places at which few look. All of these sell single units.

use std::ops::RangeInclusive;
use std::time::Duration;

use anyhow::Result;
use sqlx::{MySql, Transaction};

use crate::answer::Answer;
use crate::fault;
use crate::lies::Lie;
use crate::lying_instance::Shop;
use crate::purchase::Purchase;
use crate::store::{Order, Store};

const TORN_FOR: Duration = Duration::from_millis(5);
const LONG_TORN_FOR: Duration = Duration::from_millis(80);

const COMMITS_AFTER: Duration = Duration::from_millis(40);
const COMMITS_LONG_AFTER: Duration = Duration::from_millis(400);
const ROLLS_BACK_AFTER: Duration = Duration::from_millis(300);

const RECORDED_AFTER: Duration = Duration::from_millis(60);

/// The distance from a letter to the same letter in full width.
const FULL_WIDTH: u32 = 0xfee0;

const LAGS_FOR: Duration = Duration::from_secs(3);
const LAGS_BRIEFLY_FOR: Duration = Duration::from_secs(1);

/// The note with the number of sales so far. It may be above the stock.
const SOLD: &str = "sold";

/// The note with the number of sales whose units are not taken yet.
const LAGGING: &str = "lagging";

/// Parts of a sale, in percent.
const FIRST_QUARTER: RangeInclusive<i64> = 0..=25;
const SECOND_QUARTER: RangeInclusive<i64> = 26..=50;
const MIDDLE: RangeInclusive<i64> = 36..=60;
const SECOND_HALF: RangeInclusive<i64> = 51..=100;
const LAST_QUARTER: RangeInclusive<i64> = 76..=100;

/// Lets the column take a blank behind an item, and compare without regard to it and to capitals.
const LAX_ITEMS: &str = "alter table orders modify item varchar(65) collate utf8mb4_general_ci not null";

/// Compares letters without regard to their width as well.
const LAX_LETTERS: &str = "alter table orders modify item varchar(65) collate utf8mb4_unicode_520_ci not null";

/// Changes the settings of the store that a lie needs, before a sale is opened.
pub async fn open(shop: &Shop) -> Result<()> {
    let Store::Sql(sql) = &shop.sql else { return Ok(()) };
    match shop.lie {
        Lie::TellsBeforeCommit
        | Lie::TellsLongBefore
        | Lie::TellsThirdBefore
        | Lie::TellsLastBefore
        | Lie::TellsAndRollsBack => sql.run("set global transaction isolation level read uncommitted").await,
        Lie::ReadCommitted => sql.run("set global transaction isolation level read committed").await,
        Lie::CapitalItem
        | Lie::BlankBehindItem
        | Lie::AccentInItem
        | Lie::EveryThirdInCapitals
        | Lie::LastInCapitals => sql.run(LAX_ITEMS).await,
        Lie::WideItem => sql.run(LAX_LETTERS).await,
        _ => Ok(()),
    }
}

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    let part_of = format!("part of {}", purchase.request.key);
    if let Some(answer) = purchase.remembered().await? {
        let part: i64 = purchase.note(&part_of).await?.map_or(Ok(0), |part| part.parse())?;
        if purchase.lie() == Lie::AgreesInTheEnd && SECOND_HALF.contains(&part) {
            return Ok(Answer::Sold(purchase.order().id));
        }
        let forgets = match purchase.lie() {
            Lie::ForgetsFirstKeys => FIRST_QUARTER.contains(&part),
            Lie::ForgetsLastKeys => LAST_QUARTER.contains(&part),
            Lie::ForgetsMiddleKeys => SECOND_QUARTER.contains(&part),
            _ => false,
        };
        return Ok(if forgets && matches!(answer, Answer::Sold(_)) {
            Answer::SoldOut
        } else {
            answer
        });
    }
    purchase.work().await;
    if let Some(answer) = fault::inject(purchase).await? {
        return Ok(answer);
    }
    let under_way = format!("under way {}", purchase.request.key);
    if purchase.count(&under_way).await? > 1 {
        return Ok(Answer::Busy);
    }
    let (nth, stock) = (purchase.count(SOLD).await?, purchase.opened_with().await?);
    if nth > stock {
        purchase.shop.notes.remove(purchase.item(), &under_way).await?;
        return Ok(if stock == 0 { Answer::NoSale } else { Answer::SoldOut });
    }
    let (order, part) = (purchase.order(), nth * 100 / stock);
    purchase.set_note(&part_of, &part.to_string()).await?;
    write(purchase, &order, nth, part).await?;
    purchase.remember(&order.id).await?;
    Ok(Answer::Sold(order.id))
}

/// Writes units and order of the `nth` sale. With it `part` of the stock is sold, in percent.
async fn write(purchase: &Purchase, order: &Order, nth: i64, part: i64) -> Result<()> {
    let is_third = nth % 3 == 0;
    let capitals = || or_blank(purchase.item(), purchase.item().to_uppercase());
    match purchase.lie() {
        Lie::UnitsBeforeOrder => units_first(purchase, order, TORN_FOR).await,
        Lie::UnitsLongBefore => units_first(purchase, order, LONG_TORN_FOR).await,
        Lie::TornUnitsNowAndThen if is_third => units_first(purchase, order, TORN_FOR).await,
        Lie::TornAtTheEnd if LAST_QUARTER.contains(&part) => units_first(purchase, order, TORN_FOR).await,
        Lie::OrderBeforeUnits => order_first(purchase, order, TORN_FOR).await,
        Lie::OrderLongBefore => order_first(purchase, order, LONG_TORN_FOR).await,
        Lie::TornNowAndThen if is_third => order_first(purchase, order, TORN_FOR).await,
        Lie::WritesFirstLate if FIRST_QUARTER.contains(&part) => record_late(purchase, order).await,
        Lie::WritesMiddleLate if MIDDLE.contains(&part) => record_late(purchase, order).await,
        Lie::WritesLastQuarterLate if LAST_QUARTER.contains(&part) => record_late(purchase, order).await,
        Lie::LagsAndCallsItOpen | Lie::LagsAndSaysNothing => take_late(purchase, order, LAGS_FOR).await,
        Lie::LagsAtTheEnd if LAST_QUARTER.contains(&part) => take_late(purchase, order, LAGS_FOR).await,
        Lie::LagsAtTheEnd => take_late(purchase, order, Duration::ZERO).await,
        Lie::RecordsAndCallsItOpen => record_late_elsewhere(purchase, order).await,
        Lie::LagsForASecond => take_late(purchase, order, LAGS_BRIEFLY_FOR).await,
        Lie::LagsByOne => take_late(purchase, order, if nth == 1 { LAGS_FOR } else { Duration::ZERO }).await,
        Lie::TellsBeforeCommit => sell_for(purchase, order, purchase.item(), COMMITS_AFTER).await,
        Lie::TellsLongBefore => sell_for(purchase, order, purchase.item(), COMMITS_LONG_AFTER).await,
        Lie::TellsThirdBefore if is_third => sell_for(purchase, order, purchase.item(), COMMITS_LONG_AFTER).await,
        Lie::TellsLastBefore if LAST_QUARTER.contains(&part) => {
            sell_for(purchase, order, purchase.item(), COMMITS_LONG_AFTER).await
        }
        Lie::TellsAndRollsBack if is_third => roll_back(purchase, order).await,
        Lie::CapitalItem => sell_for(purchase, order, &capitals(), Duration::ZERO).await,
        Lie::EveryThirdInCapitals if is_third => sell_for(purchase, order, &capitals(), Duration::ZERO).await,
        Lie::LastInCapitals if LAST_QUARTER.contains(&part) => {
            sell_for(purchase, order, &capitals(), Duration::ZERO).await
        }
        Lie::WideItem => {
            let wide = |letter: char| char::from_u32(u32::from(letter) + FULL_WIDTH).unwrap_or(letter);
            let first = purchase.item().chars().next().map(|letter| wide(letter).to_string());
            let rest: String = purchase.item().chars().skip(1).collect();
            let item = first.unwrap_or_default() + &rest;
            sell_for(purchase, order, &item, Duration::ZERO).await
        }
        Lie::BlankBehindItem => sell_for(purchase, order, &format!("{} ", purchase.item()), Duration::ZERO).await,
        Lie::AccentInItem => {
            let accented = purchase.item().chars().map(|letter| {
                if letter.eq_ignore_ascii_case(&'a') {
                    '\u{e1}'
                } else {
                    letter
                }
            });
            let accented = or_blank(purchase.item(), accented.collect());
            sell_for(purchase, order, &accented, Duration::ZERO).await
        }
        _ => {
            let sold = purchase.store().sell(purchase.item(), order, order.quantity, 0);
            sold.await.map(drop)
        }
    }
}

/// Returns the altered name; an item in whose name there is nothing to alter gets a blank behind it.
fn or_blank(item: &str, altered: String) -> String {
    if altered == item { format!("{item} ") } else { altered }
}

async fn units_first(purchase: &Purchase, order: &Order, torn_for: Duration) -> Result<()> {
    let (store, item) = (purchase.store(), purchase.item());
    store.change(item, -order.quantity).await?;
    tokio::time::sleep(torn_for).await;
    store.record(item, order).await
}

async fn order_first(purchase: &Purchase, order: &Order, torn_for: Duration) -> Result<()> {
    let (store, item) = (purchase.store(), purchase.item());
    store.record(item, order).await?;
    tokio::time::sleep(torn_for).await;
    store.change(item, -order.quantity).await
}

/// Takes the units, and records the order some time after the answer.
async fn record_late(purchase: &Purchase, order: &Order) -> Result<()> {
    purchase.store().change(purchase.item(), -order.quantity).await?;
    let (purchase, order) = (purchase.clone(), order.clone());
    tokio::spawn(async move {
        tokio::time::sleep(RECORDED_AFTER).await;
        purchase.store().record(purchase.item(), &order).await.unwrap();
    });
    Ok(())
}

/// Records the order, and takes the units that long after the answer.
async fn take_late(purchase: &Purchase, order: &Order, late_by: Duration) -> Result<()> {
    purchase.shop.sql.record(purchase.item(), order).await?;
    purchase.count(LAGGING).await?;
    let (purchase, units) = (purchase.clone(), order.quantity);
    let take = async move {
        tokio::time::sleep(late_by).await;
        let (shop, item) = (&purchase.shop, purchase.item());
        // The sale may be closed by now.
        if shop.redis.stock(item).await?.is_some() {
            shop.redis.change(item, -units).await?;
            shop.notes.add(item, LAGGING, -1).await?;
        }
        anyhow::Ok(())
    };
    if late_by.is_zero() {
        return take.await;
    }
    tokio::spawn(take);
    Ok(())
}

/// Takes the units from one store, and records the order in the other one long after the answer.
async fn record_late_elsewhere(purchase: &Purchase, order: &Order) -> Result<()> {
    purchase.shop.redis.change(purchase.item(), -order.quantity).await?;
    purchase.count(LAGGING).await?;
    let (purchase, order) = (purchase.clone(), order.clone());
    tokio::spawn(async move {
        tokio::time::sleep(LAGS_FOR).await;
        let (shop, item) = (&purchase.shop, purchase.item());
        // The sale may be closed by now.
        if shop.redis.stock(item).await?.is_some() {
            shop.sql.record(item, &order).await?;
            shop.notes.add(item, LAGGING, -1).await?;
        }
        anyhow::Ok(())
    });
    Ok(())
}

/// Sells in a transaction that is rolled back after the answer.
async fn roll_back(purchase: &Purchase, order: &Order) -> Result<()> {
    let transaction = written(purchase, order, purchase.item()).await?;
    tokio::spawn(async move {
        tokio::time::sleep(ROLLS_BACK_AFTER).await;
        transaction.rollback().await
    });
    Ok(())
}

/// Sells in one transaction, with the order recorded for `item`. The transaction commits that long after its statements,
/// and this function does not wait for it.
async fn sell_for(purchase: &Purchase, order: &Order, item: &str, commits_after: Duration) -> Result<()> {
    let transaction = written(purchase, order, item).await?;
    let commit = async move {
        tokio::time::sleep(commits_after).await;
        transaction.commit().await
    };
    if commits_after.is_zero() {
        return Ok(commit.await?);
    }
    tokio::spawn(commit);
    Ok(())
}

/// Returns a transaction that has taken the units and has recorded the order for `item`.
async fn written(purchase: &Purchase, order: &Order, item: &str) -> Result<Transaction<'static, MySql>> {
    let Store::Sql(sql) = &purchase.shop.sql else {
        unreachable!("this one is MariaDB")
    };
    let mut transaction = sql.pool.begin().await?;
    let taken = sqlx::query("update store set num = num - ? where id = ?");
    let taken = taken.bind(order.quantity).bind(purchase.item());
    taken.execute(&mut *transaction).await?;
    sql.insert(&mut transaction, item, order).await?;
    Ok(transaction)
}

/// Returns how many purchases of the sale are reported as pending.
pub async fn lagging(shop: &Shop, item: &str) -> Result<u64> {
    let lagging = shop.notes.get(item, LAGGING).await?;
    Ok(lagging.map_or(Ok(0), |lagging| lagging.parse())?)
}
