//! What an answer says, and what all of them say together.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use axum::http;
use loadtest::told::{Told, Word, hear};
use reqwest::{Client, Response};

use crate::scene::{ANSWER, Scene};

type Heard = (Word, Option<String>, Option<String>);

async fn hear_of(status: u16, retry_after: Option<&str>, body: &str) -> Heard {
    let mut response = http::Response::builder().status(status);
    if let Some(value) = retry_after {
        response = response.header("Retry-After", value);
    }
    let response = response.body(body.to_owned()).unwrap();
    hear(Ok(Response::from(response))).await
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
        let heard = hear_of(status, retry_after, "{}").await;
        assert_eq!(heard, (word, None, None), "{status}, Retry-After {retry_after:?}");
    }
}

#[tokio::test]
async fn a_sale_names_its_order_and_its_instance_if_it_can_be_read() {
    let named = |order: Option<&str>, instance: Option<&str>| {
        (Word::Sold, order.map(str::to_owned), instance.map(str::to_owned))
    };
    let table = [
        (r#"{"order":"o-1","instance":"a"}"#, named(Some("o-1"), Some("a"))),
        (
            r#"{"order":"o-1","item":"x","remaining":null}"#,
            named(Some("o-1"), None),
        ),
        (r#"{"instance":"a"}"#, named(None, Some("a"))),
        (r#"{"order":7,"instance":"a"}"#, named(None, None)),
        ("thank you", named(None, None)),
        ("", named(None, None)),
    ];
    for (body, expected) in table {
        assert_eq!(hear_of(201, None, body).await, expected, "{body}");
    }
    let refused = hear_of(409, None, r#"{"order":"o-1","instance":"a"}"#).await;
    assert_eq!(refused, (Word::SoldOut, None, None), "only a sale has an order");
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
        assert_eq!(hear(client.get(&url).send().await).await, (Word::Unknown, None, None));
    }
    shop.join().unwrap();
}

#[test]
fn the_peak_is_the_most_purchases_in_flight_at_one_moment() {
    /// Answers from `sent` to `ended`, in milliseconds.
    fn peak(spans: &[(u64, u64)]) -> usize {
        let scene = Scene::exact();
        let mut told = Told::default();
        for (sent, ended) in spans {
            let mut answer = scene.answer(0, Word::Busy, None);
            answer.sent = answer.intended + Duration::from_millis(*sent);
            answer.ended = answer.intended + Duration::from_millis(*ended);
            told.answers.push(answer);
        }
        told.peak()
    }
    assert_eq!(peak(&[]), 0);
    assert_eq!(peak(&[(0, 10)]), 1);
    assert_eq!(peak(&[(0, 10), (10, 20)]), 1, "one begins where the other ends");
    assert_eq!(peak(&[(0, 10), (9, 20)]), 2);
    assert_eq!(peak(&[(0, 30), (5, 10), (15, 20)]), 2);
    assert_eq!(peak(&[(20, 30), (0, 25), (22, 23)]), 3);
}

#[test]
fn latency_is_counted_from_the_intended_start_for_each_word_apart() {
    let mut scene = Scene::exact();
    for answer in &mut scene.told.answers {
        answer.sent += Duration::from_millis(30);
        answer.ended += Duration::from_millis(30);
    }
    scene.told.last_buyer = Some(scene.answer(9, Word::Busy, None));
    let latency = scene.told.latency_us();
    assert_eq!(latency.keys().copied().collect::<Vec<_>>(), [Word::Sold, Word::SoldOut]);
    let sold = latency[&Word::Sold];
    assert_eq!(sold.n, 2);
    // 40 ms in three significant digits.
    assert!((39_960..=40_040).contains(&sold.p50), "{sold:?}");
    assert_eq!(sold.p50, sold.max);
    assert_eq!(scene.told.selling_time(), Some(ANSWER + Duration::from_millis(30)));
}

#[test]
fn the_last_buyer_counts_and_the_second_click_does_not() {
    let mut scene = Scene::exact();
    scene.last_buyer(Word::SoldOut);
    scene.click_again(Word::Sold, Some("o-0"), 1);
    assert_eq!(scene.told.count(Word::Sold), 2);
    assert_eq!(scene.told.count(Word::SoldOut), 2);
}
