//! For a program that wants to see or disturb each command and each wait.

use std::borrow::Cow;
use std::fmt::Display;
use std::pin::Pin;

use crate::error::Error;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// EVALSHA: asks for the lock, or once more.
    Acquire,
    /// Waits for one's turn.
    Wait,
    /// EVALSHA: gives the lock, or a place in the queue, back.
    Release,
    /// EVALSHA: prolongs everything whose time comes.
    Renew,
    /// SUBSCRIBE: listens for turns.
    Subscribe,
    /// Waits for the next message.
    Receive,
    /// PING: whether the subscription still lives.
    Ping,
}

/// What came of an act, in words. Only the act itself has one.
pub struct Said(pub(crate) Cow<'static, str>);

impl Said {
    /// The words.
    pub fn words(&self) -> &str {
        &self.0
    }
}

/// An act that was not begun yet.
pub type Going<'a> = Pin<Box<dyn Future<Output = Said> + Send + 'a>>;

/// Stands around each act.
pub trait Around: Send + Sync + 'static {
    /// Lets `going` go, which is about the lock or channel `key`. It may do something before and after, and has to await it.
    fn carry<'a>(&'a self, act: Act, key: &'a str, going: Going<'a>) -> Going<'a>;
}

/// Lets `act` go, with nobody around it or somebody.
pub(crate) async fn carry<T: Send, W: Into<Cow<'static, str>>>(
    around: Option<&dyn Around>,
    act: Act,
    key: &str,
    going: impl Future<Output = T> + Send,
    words: impl FnOnce(&T) -> W + Send,
) -> T {
    let Some(around) = around else {
        return going.await;
    };
    let mut result = None;
    let told = Box::pin(async {
        let answer = going.await;
        let said = Said(words(&answer).into());
        result = Some(answer);
        said
    });
    around.carry(act, key, told).await;
    result.expect("a Said comes from the act alone")
}

/// The words of a command that may have failed.
pub(crate) fn in_words<T, D: Display>(answer: &Result<T, Error>, words: impl FnOnce(&T) -> D) -> String {
    match answer {
        Ok(answer) => words(answer).to_string(),
        Err(error) => error.to_string(),
    }
}
