//! The meaning of an answer, and the sums over all of them.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use axum::http;
use loadtest::responses::{Responses, latency_us, selling_time};
use loadtest::shop::response::{Reply, ResponseKind};
use reqwest::{Client, Response};

use crate::fixture::{ANSWER, Fixture};

async fn reply(status: u16, retry_after: Option<&str>, body: &str) -> Reply {
    let mut response = http::Response::builder().status(status);
    if let Some(value) = retry_after {
        response = response.header("Retry-After", value);
    }
    let response = response.body(body.to_owned()).unwrap();
    Reply::read(Ok(Response::from(response))).await
}

#[tokio::test]
async fn every_status_means_one_response_kind() {
    let table = [
        (201, None, ResponseKind::Sold),
        (409, None, ResponseKind::SoldOut),
        (503, Some("1"), ResponseKind::Busy),
        (503, None, ResponseKind::Unknown),
        (400, None, ResponseKind::Rejected),
        (404, None, ResponseKind::Rejected),
        (422, None, ResponseKind::Rejected),
        (429, Some("1"), ResponseKind::Rejected),
        (200, None, ResponseKind::Unknown),
        (202, None, ResponseKind::Unknown),
        (302, None, ResponseKind::Unknown),
        (500, None, ResponseKind::Unknown),
        (500, Some("1"), ResponseKind::Unknown),
        (502, None, ResponseKind::Unknown),
        (504, None, ResponseKind::Unknown),
    ];
    for (status, retry_after, kind) in table {
        let reply = reply(status, retry_after, "{}").await;
        assert_eq!(
            (reply.kind, reply.order),
            (kind, None),
            "{status}, Retry-After {retry_after:?}"
        );
    }
}

#[tokio::test]
async fn a_sale_names_its_order_and_its_instance_if_it_can_be_read() {
    let long = format!(r#"{{"order":"{}"}}"#, "x".repeat(129));
    let table = [
        (r#"{"order":"o-1","instance":"a"}"#, Some("o-1"), Some("a")),
        (r#"{"order":"o-1","item":"x","remaining":null}"#, Some("o-1"), None),
        (r#"{"instance":"a"}"#, None, Some("a")),
        (r#"{"order":7,"instance":"a"}"#, Some("7"), Some("a")),
        (r#"{"order":18446744073709551615}"#, Some("18446744073709551615"), None),
        (
            r#"{"order":118446744073709551615}"#,
            Some("118446744073709551615"),
            None,
        ),
        (r#"{"order":7.5}"#, None, None),
        (r#"{"order":1e3}"#, None, None),
        (r#"{"order":""}"#, None, None),
        (r#"{"order":["o-1"]}"#, None, None),
        (
            r#"{"order":"o-1","instance":"host:8080"}"#,
            Some("o-1"),
            Some("host:8080"),
        ),
        (r#"{"order":"o-1","instance":""}"#, Some("o-1"), None),
        (long.as_str(), None, None),
        ("thank you", None, None),
        ("", None, None),
    ];
    for (body, order, instance) in table {
        let reply = reply(201, None, body).await;
        assert_eq!(reply.kind, ResponseKind::Sold, "{body}");
        assert_eq!(
            (reply.order.as_deref(), reply.instance.as_deref()),
            (order, instance),
            "{body}"
        );
    }
    let refused = reply(409, None, r#"{"order":"o-1"}"#).await;
    assert_eq!(
        (refused.kind, refused.order),
        (ResponseKind::SoldOut, None),
        "only a sale has an order"
    );
}

#[tokio::test]
async fn a_busy_answer_says_how_long_to_wait() {
    for (header, seconds) in [
        ("0", Some(0)),
        ("7", Some(7)),
        ("soon", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    ] {
        let reply = reply(503, Some(header), "").await;
        assert_eq!(
            (reply.kind, reply.retry_after),
            (ResponseKind::Busy, seconds.map(Duration::from_secs)),
            "{header}"
        );
    }
}

#[tokio::test]
async fn a_too_long_answer_is_unknown_whatever_its_status() {
    for status in [201, 409, 503, 404] {
        assert_eq!(
            reply(status, Some("1"), &"x".repeat(70_000)).await,
            Reply::SILENCE,
            "{status}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_unknown_even_if_it_began_as_a_sale() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let responses = ["HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{\"order\":", ""];
    let shop = std::thread::spawn(move || {
        for response in responses {
            let (mut buyer, _) = listener.accept().unwrap();
            // Reads the whole request first: a connection that is closed over unread bytes is reset, and the answer is
            // lost.
            let mut request = [0; 4096];
            assert!(buyer.read(&mut request).unwrap() > 0);
            buyer.write_all(response.as_bytes()).unwrap();
        }
    });
    for _ in responses {
        let client = Client::builder().no_proxy().build().unwrap();
        assert_eq!(Reply::read(client.get(&url).send().await).await, Reply::SILENCE);
    }
    shop.join().unwrap();
}

#[test]
fn purchases_met_if_one_was_sold_while_another_was_in_flight() {
    /// Answers from `sent` to `ended`, in milliseconds, and whether each was a sale.
    fn met(spans: &[(u64, u64, bool)]) -> bool {
        let fixture = Fixture::exact();
        let mut responses = Responses::default();
        for (sent, ended, is_sold) in spans {
            let mut response = fixture.response(
                0,
                if *is_sold {
                    ResponseKind::Sold
                } else {
                    ResponseKind::Busy
                },
                None,
            );
            response.sent = response.intended + Duration::from_millis(*sent);
            response.ended = response.intended + Duration::from_millis(*ended);
            responses.attack.push(response);
        }
        responses.overlapped(|response| response.kind == ResponseKind::Sold)
    }
    assert!(!met(&[]));
    assert!(!met(&[(0, 10, true)]));
    assert!(
        !met(&[(0, 10, true), (10, 20, true)]),
        "one begins where the other ends"
    );
    assert!(met(&[(0, 10, true), (9, 20, false)]));
    assert!(met(&[(0, 10, false), (9, 20, true)]));
    assert!(
        !met(&[(0, 10, false), (9, 20, false), (20, 30, true)]),
        "nobody who met was sold anything"
    );
    assert!(met(&[(0, 30, true), (5, 10, false), (15, 20, false)]));
    assert!(met(&[(20, 30, false), (0, 25, false), (22, 23, true)]));
    assert!(!Responses::default().overlapped(|_| true));
    assert!(
        Fixture::exact()
            .responses
            .overlapped(|response| response.kind == ResponseKind::SoldOut)
    );
}

#[test]
fn a_purchase_is_counted_once_however_often_it_was_sent() {
    let mut fixture = Fixture::exact();
    for kind in [
        ResponseKind::Sold,
        ResponseKind::Busy,
        ResponseKind::SoldOut,
        ResponseKind::Unknown,
        ResponseKind::Rejected,
    ] {
        fixture.click_again(kind, Some("o-0"));
    }
    fixture.say(3, ResponseKind::Busy);
    fixture.last_buyer(ResponseKind::Busy);
    fixture.last_buyer(ResponseKind::SoldOut);
    let counts = ResponseKind::ALL.map(|kind| fixture.responses.count(kind));
    assert_eq!(counts, [2, 2, 1, 0, 0], "sold, sold out, busy, rejected, unknown");
}

#[test]
fn latency_is_counted_from_the_intended_start_for_each_response_kind_apart() {
    let mut fixture = Fixture::exact();
    for response in &mut fixture.responses.attack {
        response.sent += Duration::from_millis(30);
        response.ended += Duration::from_millis(30);
    }
    fixture.last_buyer(ResponseKind::Busy);
    let latency = latency_us(fixture.responses.attack.iter());
    assert_eq!(
        latency.keys().copied().collect::<Vec<_>>(),
        [ResponseKind::Sold, ResponseKind::SoldOut]
    );
    let sold = latency[&ResponseKind::Sold];
    assert_eq!(sold.n, 2);
    // 40 ms in three significant digits.
    assert!((39_960..=40_040).contains(&sold.p50), "{sold:?}");
    assert_eq!(sold.p50, sold.max);
    let selling_time = selling_time(fixture.responses.attack.iter());
    assert_eq!(selling_time, Some(ANSWER + Duration::from_millis(30)));
}
