//! The form of every refusal, and that it sells nothing.

use axum::Router;

use crate::harness::{Answer, Instance, ask};
use crate::ledger::Ledger;
use crate::openapi;

/// A request and the answer it must get.
pub struct Case {
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(&'static str, Vec<u8>)>,
    pub body: String,
    pub expected: (u16, &'static str),
}

impl Case {
    pub fn new(method: &'static str, path: &str, body: impl Into<String>, expected: (u16, &'static str)) -> Self {
        Self {
            method,
            path: path.to_owned(),
            headers: Vec::new(),
            body: body.into(),
            expected,
        }
    }

    pub fn header(mut self, name: &'static str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name, value.as_ref().to_vec()));
        self
    }

    /// Asks, and checks the answer: status, stable type, media type, and that the document knows it.
    pub async fn check(&self, router: &Router) -> Answer {
        let answer = ask(router, self.method, &self.path, &self.headers, &self.body).await;
        let (status, kind) = answer.problem();
        let what = format!("{} {} {:?} {:.80}", self.method, self.path, self.headers, self.body);
        assert_eq!((status, kind.as_str()), self.expected, "{what}: {}", answer.text);
        assert_eq!(answer.header("content-type"), "application/problem+json", "{what}");
        assert_eq!(answer.json()["status"], status, "{what}");
        let anywhere = matches!(kind.as_str(), "not-found" | "method-not-allowed");
        if !anywhere {
            openapi::assert_documented(self.method, &self.path, status, &kind);
        }
        answer
    }
}

/// Checks each case, and after each that both stores are unchanged.
pub async fn none_sells(instance: &Instance, router: &Router, item: &str, cases: &[Case]) {
    let before = both(instance, item).await;
    for case in cases {
        case.check(router).await;
        assert_eq!(both(instance, item).await, before, "{} {}", case.path, case.body);
    }
    assert_eq!(instance.shop.in_progress(), 0);
}

async fn both(instance: &Instance, item: &str) -> [Ledger; 2] {
    [instance.ledger("redis", item).await, instance.ledger("sql", item).await]
}
