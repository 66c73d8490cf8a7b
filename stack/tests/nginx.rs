//! The proxy: the requests that it may send twice, and the answers of its own.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use serde_json::Value;

mod world;

/// Asserts that an answer is the problem document of a proxy that knows nothing of instances.
fn assert_problem(answer: &str, status: u16, kind: &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let head = head.to_lowercase();
    assert!(head.starts_with(&format!("http/1.1 {status} ")), "{answer}");
    assert!(head.contains("content-type: application/problem+json\r\n"), "{answer}");
    assert!(
        !head.contains("x-instance") && !head.contains("retry-after"),
        "{answer}"
    );
    let problem: Value = serde_json::from_str(body).unwrap();
    assert_eq!(problem["type"], format!("urn:oversell:{kind}"), "{answer}");
    assert_eq!(problem["title"], kind.replace('-', " "), "{answer}");
    assert_eq!(problem["status"], status, "{answer}");
    assert!(problem["detail"].is_string(), "{answer}");
}

#[test]
fn the_route_that_sells_on_get_is_never_asked_twice() {
    let stores = world::no_stores();
    let shop = stores.shop(&world::options(2)).unwrap();
    for method in ["GET", "POST"] {
        let answer = world::ask(&shop.host(), method, "/deduct_stock?crash");
        let crashed = shop.revive().unwrap();
        assert_eq!(crashed.len(), 1, "{method} reached {crashed:?}");
        assert_problem(&answer, 502, "no-answer");
    }
}

#[test]
fn what_nginx_refuses_is_a_problem_document() {
    let stores = world::no_stores();
    let shop = stores.shop(&world::options(1)).unwrap();
    let long = "a".repeat(16 * 1024);
    let head = "Host: shop\r\nConnection: close\r\n";
    let cases = [
        ("no request\r\n\r\n".to_owned(), 400, "bad-request"),
        (format!("GET /%zz HTTP/1.1\r\n{head}\r\n"), 400, "bad-request"),
        (format!("GET /\u{b5} HTTP/1.1\r\n{head}\r\n"), 400, "bad-request"),
        (
            format!("GET /deduct_stock?\u{b5} HTTP/1.1\r\n{head}\r\n"),
            400,
            "bad-request",
        ),
        (format!("GET /problem HTTP/1.1\r\n{head}\r\n"), 404, "not-found"),
        (format!("TRACE / HTTP/1.1\r\n{head}\r\n"), 405, "method-not-allowed"),
        (
            format!("POST / HTTP/1.1\r\n{head}Content-Length: 100000\r\n\r\n"),
            413,
            "bad-request",
        ),
        (format!("GET /{long} HTTP/1.1\r\n{head}\r\n"), 414, "bad-request"),
        (
            format!("GET / HTTP/1.1\r\nLong: {long}\r\n{head}\r\n"),
            431,
            "bad-request",
        ),
        (
            format!("POST / HTTP/1.1\r\n{head}Transfer-Encoding: zip\r\n\r\n"),
            501,
            "bad-request",
        ),
        (format!("GET / HTTP/2.0\r\n{head}\r\n"), 505, "bad-request"),
    ];
    for (bytes, status, kind) in cases {
        assert_problem(&world::talk(&shop.host(), &bytes), status, kind);
    }
}

#[test]
fn a_method_that_nginx_refuses_is_told_what_the_path_knows() {
    let stores = world::no_stores();
    let shop = stores.shop(&world::options(1)).unwrap();
    for (path, allowed) in [
        ("/purchases", "POST"),
        ("/deduct_stock?now", "GET,POST"),
        ("/readyz", "GET,HEAD"),
    ] {
        let answer = world::ask(&shop.host(), "TRACE", path);
        assert_problem(&answer, 405, "method-not-allowed");
        assert!(answer.contains(&format!("\r\nAllow: {allowed}\r\n")), "{answer}");
    }
    let answer = world::ask(&shop.host(), "GET", "/problem");
    assert!(!answer.contains("\r\nAllow:"), "{answer}");
}

#[test]
fn an_instance_that_crashes_or_falls_silent_leaves_a_problem_document() {
    let stores = world::no_stores();
    let shop = stores.shop(&world::options(1)).unwrap();
    assert_problem(&world::ask(&shop.host(), "POST", "/crash"), 502, "no-answer");
    shop.revive().unwrap();
    shop.instances()[0].pause().unwrap();
    assert_problem(&world::ask(&shop.host(), "POST", "/"), 504, "no-answer");
}
