//! What an answer says, and what all of them say together.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use axum::http;
use loadtest::answer::{Reply, Word};
use loadtest::told::{Told, latency_us, selling_time};
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
async fn every_status_means_one_word() {
    let table = [
        (201, None, Word::Sold),
        (409, None, Word::SoldOut),
        (503, Some("1"), Word::Busy),
        (503, None, Word::Unknown),
        (400, None, Word::Rejected),
        (404, None, Word::Rejected),
        (422, None, Word::Rejected),
        (429, Some("1"), Word::Rejected),
        (200, None, Word::Unknown),
        (202, None, Word::Unknown),
        (302, None, Word::Unknown),
        (500, None, Word::Unknown),
        (500, Some("1"), Word::Unknown),
        (502, None, Word::Unknown),
        (504, None, Word::Unknown),
    ];
    for (status, retry_after, word) in table {
        let reply = reply(status, retry_after, "{}").await;
        assert_eq!(
            (reply.word, reply.order),
            (word, None),
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
        assert_eq!(reply.word, Word::Sold, "{body}");
        assert_eq!(
            (reply.order.as_deref(), reply.instance.as_deref()),
            (order, instance),
            "{body}"
        );
    }
    let refused = reply(409, None, r#"{"order":"o-1"}"#).await;
    assert_eq!(
        (refused.word, refused.order),
        (Word::SoldOut, None),
        "only a sale has an order"
    );
}

#[tokio::test]
async fn a_buyer_who_is_told_to_wait_is_told_for_how_long() {
    for (header, seconds) in [
        ("0", Some(0)),
        ("7", Some(7)),
        ("soon", None),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    ] {
        let reply = reply(503, Some(header), "").await;
        assert_eq!(
            (reply.word, reply.retry_after),
            (Word::Busy, seconds.map(Duration::from_secs)),
            "{header}"
        );
    }
}

#[tokio::test]
async fn an_answer_longer_than_any_honest_one_is_unknown_whatever_its_status() {
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
    let answers = ["HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{\"order\":", ""];
    let shop = std::thread::spawn(move || {
        for answer in answers {
            let (mut buyer, _) = listener.accept().unwrap();
            // The whole request first: a connection closed over unread bytes is reset, and the answer with it.
            let mut request = [0; 4096];
            assert!(buyer.read(&mut request).unwrap() > 0);
            buyer.write_all(answer.as_bytes()).unwrap();
        }
    });
    for _ in answers {
        let client = Client::builder().no_proxy().build().unwrap();
        assert_eq!(Reply::read(client.get(&url).send().await).await, Reply::SILENCE);
    }
    shop.join().unwrap();
}

#[test]
fn purchases_met_when_one_was_sold_while_another_was_in_flight() {
    /// Answers from `sent` to `ended`, in milliseconds, and whether each was a sale.
    fn met(spans: &[(u64, u64, bool)]) -> bool {
        let fixture = Fixture::exact();
        let mut told = Told::default();
        for (sent, ended, is_sold) in spans {
            let mut answer = fixture.answer(0, if *is_sold { Word::Sold } else { Word::Busy }, None);
            answer.sent = answer.intended + Duration::from_millis(*sent);
            answer.ended = answer.intended + Duration::from_millis(*ended);
            told.attack.push(answer);
        }
        told.met(|word| word == Word::Sold)
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
    assert!(!Told::default().met(|_| true));
    assert!(Fixture::exact().told.met(|word| word == Word::SoldOut));
}

#[test]
fn a_purchase_is_counted_once_however_often_it_was_sent() {
    let mut fixture = Fixture::exact();
    for word in [Word::Sold, Word::Busy, Word::SoldOut, Word::Unknown, Word::Rejected] {
        fixture.click_again(word, Some("o-0"));
    }
    fixture.say(3, Word::Busy);
    fixture.last_buyer(Word::Busy);
    fixture.last_buyer(Word::SoldOut);
    let counts = Word::ALL.map(|word| fixture.told.count(word));
    assert_eq!(counts, [2, 2, 1, 0, 0], "sold, sold out, busy, rejected, unknown");
}

#[test]
fn latency_is_counted_from_the_intended_start_for_each_word_apart() {
    let mut fixture = Fixture::exact();
    for answer in &mut fixture.told.attack {
        answer.sent += Duration::from_millis(30);
        answer.ended += Duration::from_millis(30);
    }
    fixture.last_buyer(Word::Busy);
    let latency = latency_us(fixture.told.attack.iter());
    assert_eq!(latency.keys().copied().collect::<Vec<_>>(), [Word::Sold, Word::SoldOut]);
    let sold = latency[&Word::Sold];
    assert_eq!(sold.n, 2);
    // 40 ms in three significant digits.
    assert!((39_960..=40_040).contains(&sold.p50), "{sold:?}");
    assert_eq!(sold.p50, sold.max);
    let selling_time = selling_time(fixture.told.attack.iter());
    assert_eq!(selling_time, Some(ANSWER + Duration::from_millis(30)));
}
