//! HTTP to etcd's gateway: requests with one response each, and the stream of a watch.

use std::fmt::Display;
use std::io;
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
    url: String,
}

impl Gateway {
    pub(super) fn new(url: &str) -> Result<Self, Error> {
        let client = Client::builder().connect_timeout(CONNECT_WITHIN).no_proxy().build();
        Ok(Self {
            client: client.map_err(failed)?,
            url: url.trim_end_matches('/').to_owned(),
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
        answered(answering).await
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
        answered(answering).await
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Response, Error> {
        let request = self.client.post(format!("{}{path}", self.url)).json(body);
        request.send().await.map_err(|error| {
            if error.is_connect() {
                return Error::no_connection(SERVICE, &error);
            }
            failed(error)
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

async fn answered<T>(answering: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let late = || Err(failed(io::Error::from(io::ErrorKind::TimedOut)));
    timeout(ANSWER_WITHIN, answering).await.unwrap_or_else(|_| late())
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
