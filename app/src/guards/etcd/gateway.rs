//! HTTP to etcd's gateway: requests with one response each, and the stream of a watch.

use std::fmt::Display;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::{Client, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::timeout;

use super::SERVICE;
use super::json::{Message, Watched};
use crate::domain::Error;

/// How long etcd may take to answer before the outcome counts as unknown.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// How long etcd may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(1);

/// The longest message of a watch, in bytes. The deletion of one key takes some hundreds.
const MAX_MESSAGE: usize = 65_536;

pub(super) struct Gateway {
    client: Client,
    /// The servers of the cluster: each of them answers every request.
    urls: Vec<String>,
    /// The number of the server that is asked, modulo their count.
    current: AtomicUsize,
}

impl Gateway {
    pub(super) fn new(urls: &[String]) -> Result<Self, Error> {
        let client = Client::builder().connect_timeout(CONNECT_WITHIN).no_proxy().build();
        Ok(Self {
            client: client.map_err(failed)?,
            urls: urls.iter().map(|url| url.trim_end_matches('/').to_owned()).collect(),
            current: AtomicUsize::new(0),
        })
    }

    /// Sends a request and returns the response. A 404 is an error.
    pub(super) async fn ask<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, Error> {
        let answer = self.ask_if_there(path, body).await?;
        answer.ok_or_else(|| unexpected(format_args!("{path}: not found")))
    }

    /// Sends a request and returns the response; `None` on a 404, when the object does not exist.
    pub(super) async fn ask_if_there<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<Option<T>, Error> {
        let answering = async {
            let answer = self.post(path, body).await?;
            if answer.status() == StatusCode::NOT_FOUND {
                return Ok(None);
            }
            Ok(Some(accepted(path, answer)?.json().await.map_err(failed)?))
        };
        self.answered(answering).await
    }

    /// Opens a watch, and waits until etcd has confirmed it.
    pub(super) async fn watch(&self, body: &Value) -> Result<Watch, Error> {
        const PATH: &str = "/v3/watch";
        let answering = async {
            let mut watch = Watch {
                stream: accepted(PATH, self.post(PATH, body).await?)?,
                unread: Vec::new(),
            };
            watch.message().await?;
            Ok(watch)
        };
        self.answered(answering).await
    }

    /// Sends a request to one server after the other until one accepts the connection: only then is it certain that no
    /// other server has carried the request out.
    async fn post(&self, path: &str, body: &Value) -> Result<Response, Error> {
        let mut gone = None;
        for _ in &self.urls {
            let current = self.current.load(Ordering::Relaxed);
            let url = &self.urls[current % self.urls.len()];
            match self.client.post(format!("{url}{path}")).json(body).send().await {
                Ok(response) => return Ok(response),
                Err(error) if error.is_connect() => gone = Some(Error::no_connection(SERVICE, &error)),
                Err(error) => {
                    self.leave(current);
                    return Err(failed(error));
                }
            }
            self.leave(current);
        }
        Err(gone.unwrap_or_else(|| unexpected("it has no server")))
    }

    /// Asks the next server from now on, unless another request has moved on already.
    fn leave(&self, current: usize) {
        let next = current.wrapping_add(1);
        let _ = self
            .current
            .compare_exchange(current, next, Ordering::Relaxed, Ordering::Relaxed);
    }

    async fn answered<T>(&self, answering: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let asked = self.current.load(Ordering::Relaxed);
        timeout(ANSWER_WITHIN, answering).await.unwrap_or_else(|_| {
            self.leave(asked);
            Err(failed(io::Error::from(io::ErrorKind::TimedOut)))
        })
    }
}

/// A watch on the deletion of one key. It ends when it is dropped.
pub(super) struct Watch {
    stream: Response,
    unread: Vec<u8>,
}

impl Watch {
    /// Waits until the key is deleted. Also returns when the watch ends without having seen that.
    pub(super) async fn deleted(&mut self) -> Result<(), Error> {
        while let Some(watched) = self.message().await? {
            if watched.canceled || !watched.events.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Returns the next message; `None` at the end of the stream. Each line is one message.
    async fn message(&mut self) -> Result<Option<Watched>, Error> {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unread.drain(..=end).collect();
                let message: Message<Watched> = serde_json::from_slice(&line).map_err(failed)?;
                return Ok(Some(message.result));
            }
            if self.unread.len() > MAX_MESSAGE {
                return Err(unexpected("a message of a watch has no end"));
            }
            match self.stream.chunk().await.map_err(failed)? {
                Some(chunk) => self.unread.extend(chunk),
                None => return Ok(None),
            }
        }
    }
}

fn accepted(path: &str, answer: Response) -> Result<Response, Error> {
    match answer.status() {
        status if status.is_success() => Ok(answer),
        status => Err(unexpected(format_args!("{path} is answered with {status}"))),
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::failed(SERVICE, error)
}

fn unexpected(what: impl Display) -> Error {
    failed(io::Error::other(what.to_string()))
}
