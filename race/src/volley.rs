//! The raced requests: all of them are sent but for their last byte, and then all last bytes at one moment.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use reqwest::header::HOST;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use crate::description::Answer;
use crate::gate::{Gate, Gated};
use crate::session::{ANSWER_WITHIN, Filled, MAX_BODY, answer};

/// The longest time until all connections stand.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// The time that the shop has to read what comes before the last bytes.
const READ_IN: Duration = Duration::from_millis(50);

/// One raced request after its answer.
pub struct Raced {
    /// When the gate opened.
    pub sent: Instant,
    /// When the answer was there, or the wait for it ended.
    pub ended: Instant,
    /// The answer; `None` where none came.
    pub answer: Option<Answer>,
}

/// All raced requests of a round.
pub struct Volley {
    /// In the order of the requests.
    pub raced: Vec<Raced>,
    /// The time from the first to the last of the last bytes, as they left.
    pub window: Duration,
}

/// Sends all requests at one moment.
///
/// # Errors
/// When the shop does not take all connections.
pub async fn volley(requests: Vec<Filled>) -> Result<Volley> {
    let gate = Arc::new(Gate::default());
    let count = requests.len();
    let mut tasks = JoinSet::new();
    for (place, request) in requests.into_iter().enumerate() {
        let stream = timeout(CONNECT_WITHIN, connect(&request.url)).await;
        let stream = stream.context("a connection to the shop took too long")??;
        let gated = Gated::new(stream, gate.clone());
        tasks.spawn(async move {
            let answer = timeout(CONNECT_WITHIN + ANSWER_WITHIN, exchange(gated, request)).await;
            (place, answer.ok().and_then(Result::ok), Instant::now())
        });
    }
    let ready = timeout(CONNECT_WITHIN, gate.all_wait(count)).await;
    ready.context("the shop did not read all requests")?;
    sleep(READ_IN).await;
    let sent = Instant::now();
    gate.open();
    let mut all: Vec<_> = tasks.join_all().await;
    all.sort_by_key(|(place, ..)| *place);
    let left = gate.sent();
    let window = left.iter().max().zip(left.iter().min());
    let raced = all.into_iter().map(|(_, answer, ended)| Raced { sent, ended, answer });
    Ok(Volley {
        raced: raced.collect(),
        window: window.map_or(Duration::ZERO, |(last, first)| last.duration_since(*first)),
    })
}

async fn connect(url: &Url) -> Result<TcpStream> {
    let host = url.host_str().context("a URL without a host")?;
    // An IPv6 address stands in brackets in a URL.
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().context("a URL without a port")?;
    let stream = TcpStream::connect((host, port))
        .await
        .context("the shop cannot be reached")?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Sends one request over its connection, and reads the answer.
async fn exchange(gated: Gated, request: Filled) -> Result<Answer> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(gated)).await?;
    // It ends with the answer, or with an error that the answer then is.
    let _connection = AbortOnDropHandle::new(tokio::spawn(connection));
    let response = sender.send_request(http(request)?).await?;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = Limited::new(response.into_body(), MAX_BODY).collect().await;
    let body = body.map_err(|error| anyhow!("{error}"))?.to_bytes();
    Ok(answer(status, &headers, &body))
}

fn http(request: Filled) -> Result<hyper::Request<Full<Bytes>>> {
    let Filled {
        method,
        url,
        headers,
        body,
    } = request;
    let host = url.host_str().unwrap_or_default();
    let host = url
        .port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let target = url
        .query()
        .map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let mut http = hyper::Request::builder().method(method).uri(target).header(HOST, host);
    if let Some(all) = http.headers_mut() {
        all.extend(headers);
    }
    Ok(http.body(Full::new(Bytes::from(body)))?)
}
