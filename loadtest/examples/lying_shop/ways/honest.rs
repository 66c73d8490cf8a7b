//! Shops that do what the contract asks for, each in its own way.

use std::time::Duration;

use anyhow::Result;
use axum::http::{HeaderValue, StatusCode};

use crate::answer::{Answer, raw, sold};
use crate::lies::Lie;
use crate::store::reserves::{Place, Reserve};
use crate::visit::Visit;
use crate::{endless, fault, locks};

pub async fn sell(visit: &Visit) -> Result<Answer> {
    match visit.lie() {
        Lie::FailFast => locks::sell(visit, Duration::ZERO, Answer::Busy).await,
        Lie::Waits => locks::sell(visit, Duration::from_millis(1_500), Answer::Busy).await,
        Lie::ReservesApart => reserving(visit, Place::Apart, Answer::Busy).await,
        Lie::ReservesFromStock => reserving(visit, Place::FromStock, Answer::Busy).await,
        Lie::SlowWork => slow_work(visit).await,
        Lie::BusyAtFirst | Lie::BusyWithDate => match visit.no_sale_or_known().await? {
            None if !visit.wish.crash && visit.count("came").await? <= 2 => Ok(Answer::Busy),
            _ => visit.plain().await,
        },
        Lie::InPieces => sold_with(visit, |body| raw(StatusCode::CREATED, endless::in_pieces(&body))).await,
        Lie::Compressed if visit.wish.gzip => sold_with(visit, |body| packed(endless::gzip(body.as_bytes()))).await,
        _ => visit.plain().await,
    }
}

async fn slow_work(visit: &Visit) -> Result<Answer> {
    if let Some(answer) = visit.no_sale_or_known().await? {
        return Ok(answer);
    }
    visit.work().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    match fault::strike(visit).await? {
        Some(answer) => Ok(answer),
        None => visit.settle(0).await,
    }
}

/// Reserves, works, confirms. The fifth and the tenth reserve of a sale are never confirmed: their buyers are told to
/// wait, and the units come back when the reserve expires. `held` is what is told while units are on reserve.
pub async fn reserving(visit: &Visit, place: Place, held: Answer) -> Result<Answer> {
    if let Some(answer) = visit.no_sale_or_known().await? {
        return Ok(answer);
    }
    let (store, item, order) = (visit.store(), visit.item(), visit.order());
    match store.reserve(item, &order, place).await? {
        Reserve::Reserved => {}
        Reserve::Held => return Ok(held),
        Reserve::SoldOut => return Ok(Answer::SoldOut),
    }
    visit.work().await;
    if let Some(answer) = fault::strike(visit).await? {
        return Ok(answer);
    }
    if [5, 10].contains(&visit.count("reserves").await?) {
        return Ok(Answer::Busy);
    }
    Ok(match store.confirm(item, &order, place).await? {
        true => Answer::Sold(order.id),
        false => Answer::Busy,
    })
}

/// The honest sale with a 201 of another form.
pub async fn sold_with(visit: &Visit, form: impl FnOnce(String) -> Answer) -> Result<Answer> {
    Ok(match visit.plain().await? {
        Answer::Sold(id) => form(sold(visit, &id).to_string()),
        other => other,
    })
}

/// A 201 in gzip.
pub fn packed(body: Vec<u8>) -> Answer {
    let mut answer = raw(StatusCode::CREATED, body);
    if let Answer::Raw(response) = &mut answer {
        let gzip = HeaderValue::from_static("gzip");
        response.headers_mut().insert("Content-Encoding", gzip);
    }
    answer
}
