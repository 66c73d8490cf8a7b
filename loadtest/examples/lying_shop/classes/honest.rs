//! Shops that follow the contract, each in its own way.

use std::time::{Duration, Instant};

use anyhow::Result;
use axum::http::{HeaderValue, StatusCode};

use crate::answer::{Answer, raw};
use crate::lies::Lie;
use crate::purchase::Purchase;
use crate::response::sold;
use crate::store::reserves::{Reserve, ReserveKind};
use crate::{endless, fault, locks};

/// Less than a client waits for an answer.
const WAITS_FOR_RESERVES: Duration = Duration::from_secs(8);

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    match purchase.lie() {
        Lie::FailFast => locks::sell(purchase, Duration::ZERO, Answer::Busy).await,
        Lie::Waits => locks::sell(purchase, Duration::from_millis(1_500), Answer::Busy).await,
        Lie::ReservesApart => reserving(purchase, ReserveKind::Apart, Answer::Busy).await,
        Lie::ReservesForLong => reserving(purchase, ReserveKind::ApartForNineSeconds, Answer::Busy).await,
        Lie::WaitsForReserves => waiting_for_reserves(purchase).await,
        Lie::ReservesFromStock => reserving(purchase, ReserveKind::FromStock, Answer::Busy).await,
        Lie::SlowWork => slow_work(purchase).await,
        Lie::BusyAtFirst | Lie::BusyWithDate => match purchase.no_sale_or_known().await? {
            None if !purchase.request.crash && purchase.count("came").await? <= 2 => Ok(Answer::Busy),
            _ => purchase.plain().await,
        },
        // The number is written as text: read as floating point, all of them would be the same number.
        Lie::LongNumericIds => {
            let id = purchase.order().id;
            let bare = |body: String| raw(StatusCode::CREATED, body.replace(&format!("\"{id}\""), &id));
            sold_with(purchase, bare).await
        }
        Lie::InPieces => sold_with(purchase, |body| raw(StatusCode::CREATED, endless::in_pieces(&body))).await,
        Lie::Compressed if purchase.request.gzip => {
            sold_with(purchase, |body| packed(endless::gzip(body.as_bytes()))).await
        }
        _ => purchase.plain().await,
    }
}

async fn slow_work(purchase: &Purchase) -> Result<Answer> {
    if let Some(answer) = purchase.no_sale_or_known().await? {
        return Ok(answer);
    }
    purchase.work().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    match fault::inject(purchase).await? {
        Some(answer) => Ok(answer),
        None => purchase.settle(0).await,
    }
}

/// Reserves, works, confirms. The fifth and the tenth reserve of a sale are never confirmed: these purchases are busy,
/// and the units return when the reserve expires. A purchase that finds the last units reserved is answered `held`.
pub async fn reserving(purchase: &Purchase, kind: ReserveKind, held: Answer) -> Result<Answer> {
    if let Some(answer) = purchase.no_sale_or_known().await? {
        return Ok(answer);
    }
    let (store, item, order) = (purchase.store(), purchase.item(), purchase.order());
    match store.reserve(item, &order, kind).await? {
        Reserve::Reserved => {}
        Reserve::Held => return Ok(held),
        Reserve::SoldOut => return Ok(Answer::SoldOut),
    }
    // Counted here and not at the end: the first ten purchases of an attack reserve, however slow they are. A tenth one that
    // comes after the attack would wait for its own reserve as well.
    let reserves = purchase.count("reserves").await?;
    purchase.work().await;
    if let Some(answer) = fault::inject(purchase).await? {
        return Ok(answer);
    }
    if [5, 10].contains(&reserves) {
        return Ok(Answer::Busy);
    }
    Ok(match store.confirm(item, &order, kind).await? {
        true => Answer::Sold(order.id),
        false => Answer::Busy,
    })
}

/// As [`reserving`]. A purchase that was told busy twice is not told so again before it has waited.
async fn waiting_for_reserves(purchase: &Purchase) -> Result<Answer> {
    let came = purchase.count(&format!("came {}", purchase.request.key)).await?;
    let until = Instant::now() + WAITS_FOR_RESERVES;
    loop {
        let answer = reserving(purchase, ReserveKind::ApartForNineSeconds, Answer::Busy).await?;
        let is_busy = matches!(answer, Answer::Busy);
        if !is_busy || came <= 2 || Instant::now() >= until {
            return Ok(answer);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Serves the purchase honestly, with a 201 of another form.
pub async fn sold_with(purchase: &Purchase, form: impl FnOnce(String) -> Answer) -> Result<Answer> {
    Ok(match purchase.plain().await? {
        Answer::Sold(id) => form(sold(purchase, &id).to_string()),
        other => other,
    })
}

/// Returns a 201 with a gzip body.
pub fn packed(body: Vec<u8>) -> Answer {
    let mut answer = raw(StatusCode::CREATED, body);
    if let Answer::Raw(response) = &mut answer {
        let gzip = HeaderValue::from_static("gzip");
        response.headers_mut().insert("Content-Encoding", gzip);
    }
    answer
}
