//! Answers that are too much for who reads them.

use std::sync::atomic::Ordering;

use anyhow::Result;
use axum::http::{HeaderName, HeaderValue, StatusCode};

use super::honest::{packed, sold_with};
use crate::answer::{Answer, raw};
use crate::endless;
use crate::lies::Lie;
use crate::visit::Visit;

pub async fn sell(visit: &Visit, elsewhere: bool) -> Result<Answer> {
    match visit.lie() {
        Lie::Endless201 => {
            sold_with(visit, |body| {
                raw(StatusCode::CREATED, endless::endless(opened(&body), "x"))
            })
            .await
        }
        Lie::Endless409 => Ok(match visit.plain().await? {
            Answer::SoldOut => raw(StatusCode::CONFLICT, endless::endless("{\"title\":\"".to_owned(), "x")),
            other => other,
        }),
        Lie::SlowBody => sold_with(visit, |body| raw(StatusCode::CREATED, endless::slow(&body))).await,
        Lie::GzipBomb => sold_with(visit, |body| packed(endless::bomb(&opened(&body), "\"}"))).await,
        Lie::BigHeaders => sold_with(visit, big_headers).await,
        Lie::FatId => fat_id(visit).await,
        Lie::Redirects307 if !elsewhere => Ok(redirect(307, "/elsewhere")),
        Lie::Redirects303Catalogue => Ok(redirect(303, "/strategies")),
        Lie::RedirectsForEver => Ok(redirect(307, "/purchases")),
        Lie::Panics if visit.shop.visits.load(Ordering::Relaxed).is_multiple_of(3) => Ok(Answer::Cut),
        _ => visit.plain().await,
    }
}

/// A body with one more field, whose text has only begun.
fn opened(body: &str) -> String {
    format!("{},\"more\":\"", body.trim_end_matches('}'))
}

async fn fat_id(visit: &Visit) -> Result<Answer> {
    if let Some(answer) = visit.remembered().await? {
        return Ok(answer);
    }
    let answer = visit.plain().await?;
    if matches!(answer, Answer::Sold(_)) && visit.is_first().await? {
        let id = "f".repeat(5 << 20);
        visit.remember(&id).await?;
        return Ok(Answer::Sold(id));
    }
    Ok(answer)
}

fn big_headers(body: String) -> Answer {
    let mut answer = raw(StatusCode::CREATED, body);
    if let Answer::Raw(response) = &mut answer {
        for number in 0..100 {
            let name = HeaderName::try_from(format!("x-pad-{number}")).unwrap();
            let value = HeaderValue::try_from("y".repeat(8_000)).unwrap();
            response.headers_mut().insert(name, value);
        }
    }
    answer
}

fn redirect(status: u16, to: &'static str) -> Answer {
    let mut answer = raw(StatusCode::from_u16(status).unwrap(), "{}");
    if let Answer::Raw(response) = &mut answer {
        response.headers_mut().insert("Location", HeaderValue::from_static(to));
    }
    answer
}
