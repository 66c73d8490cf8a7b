//! Answers in the form that HTTP sends.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::lies::Lie;
use crate::purchase::Purchase;

pub fn respond(answer: Answer, purchase: &Purchase) -> Response {
    match answer {
        Answer::Sold(id) => (StatusCode::CREATED, Json(sold(purchase, &id))).into_response(),
        Answer::SoldOut => problem(StatusCode::CONFLICT, "sold out"),
        Answer::Busy => busy(purchase),
        Answer::OtherPurchase => problem(
            StatusCode::UNPROCESSABLE_ENTITY,
            "the key was used for another purchase",
        ),
        Answer::NoSale => problem(StatusCode::NOT_FOUND, "no such sale"),
        Answer::Status(status) => problem(status, "no"),
        // Ends the task of the connection, without the message of a panic.
        Answer::Cut => std::panic::resume_unwind(Box::new(())),
        Answer::Raw(response) => response,
    }
}

/// Returns the body of a 201.
pub fn sold(purchase: &Purchase, id: &str) -> Value {
    let request = &purchase.request;
    let mut body = json!({
        "order": id, "item": request.item, "quantity": request.quantity, "instance": purchase.shop.instance
    });
    match purchase.shop.lie {
        Lie::NumericIds => body["order"] = json!(id.parse::<u64>().unwrap()),
        Lie::BoringFields => {
            body["order_id"] = json!("not-the-id");
            body["gift"] = json!({ "order": null, "of": ["a", 1, { "instance": 7 }] });
            body["price"] = json!(12.5);
        }
        Lie::NoId if purchase.is_liar() => drop(body.as_object_mut().unwrap().remove("order")),
        _ => {}
    }
    body
}

fn problem(status: StatusCode, what: &str) -> Response {
    (status, Json(json!({ "title": what }))).into_response()
}

fn busy(purchase: &Purchase) -> Response {
    let mut response = problem(StatusCode::SERVICE_UNAVAILABLE, "busy");
    let again = match purchase.shop.lie {
        Lie::BusyWithDate => HeaderValue::from_str(&date(SystemTime::now() + Duration::from_secs(1))).unwrap(),
        _ => HeaderValue::from_static("1"),
    };
    response.headers_mut().insert("Retry-After", again);
    response
}

/// Formats a date as in HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // The years begin with March here, so that the leap day is the last day of a year.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 2, 0) } else { (month - 10, 1) };
    let year = year_of_era + era * 400 + later;
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][days as usize % 7];
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let month = months[month as usize];
    format!("{weekday}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
}
