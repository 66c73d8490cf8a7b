//! Answers that are hard to read: endless, huge, or redirected.

use std::sync::atomic::Ordering;

use anyhow::Result;
use axum::http::{HeaderName, HeaderValue, StatusCode};

use super::honest::{packed, sold_with};
use crate::answer::{Answer, raw};
use crate::endless;
use crate::lies::Lie;
use crate::purchase::Purchase;

pub async fn sell(purchase: &Purchase, elsewhere: bool) -> Result<Answer> {
    match purchase.lie() {
        Lie::Endless201 => {
            sold_with(purchase, |body| {
                raw(StatusCode::CREATED, endless::endless(opened(&body), "x"))
            })
            .await
        }
        Lie::Endless409 => Ok(match purchase.plain().await? {
            Answer::SoldOut => raw(StatusCode::CONFLICT, endless::endless("{\"title\":\"".to_owned(), "x")),
            other => other,
        }),
        Lie::SlowBody => sold_with(purchase, |body| raw(StatusCode::CREATED, endless::slow(&body))).await,
        Lie::GzipBomb => sold_with(purchase, |body| packed(endless::bomb(&opened(&body), "\"}"))).await,
        Lie::BigHeaders => sold_with(purchase, big_headers).await,
        Lie::FatId => fat_id(purchase).await,
        Lie::Redirects307 if !elsewhere => Ok(redirect(307, "/elsewhere")),
        Lie::Redirects303Catalogue => Ok(redirect(303, "/strategies")),
        Lie::RedirectsForEver => Ok(redirect(307, "/purchases")),
        Lie::Panics if purchase.shop.purchases.load(Ordering::Relaxed).is_multiple_of(3) => Ok(Answer::Cut),
        _ => purchase.plain().await,
    }
}

/// Returns the body with one more field, whose text is not closed.
fn opened(body: &str) -> String {
    format!("{},\"more\":\"", body.trim_end_matches('}'))
}

async fn fat_id(purchase: &Purchase) -> Result<Answer> {
    if let Some(answer) = purchase.remembered().await? {
        return Ok(answer);
    }
    let answer = purchase.plain().await?;
    if matches!(answer, Answer::Sold(_)) && purchase.is_first().await? {
        let id = "f".repeat(5 << 20);
        purchase.remember(&id).await?;
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

/// Returns a redirect to another path.
pub fn redirect(status: u16, to: &'static str) -> Answer {
    let mut answer = raw(StatusCode::from_u16(status).unwrap(), "{}");
    if let Answer::Raw(response) = &mut answer {
        response.headers_mut().insert("Location", HeaderValue::from_static(to));
    }
    answer
}
