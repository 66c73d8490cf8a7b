//! The raced requests: they are sent but for what makes them whole, and then the rest of all of them at one moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use loadtest::trust::Trust;
use reqwest::header::HOST;
use tokio::sync::oneshot::Sender;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::description::Answer;
use crate::gate::{Gate, Gated, Keep};
use crate::session::{ANSWER_WITHIN, Filled, MAX_BODY, answer};
use crate::wire::Wire;

/// The longest time until all connections stand.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);

/// The time that the shop has to read what comes before the gate opens.
const READ_IN: Duration = Duration::from_millis(50);

/// The most requests of one connection of HTTP/2: more have to wait at usual servers.
const MOST_STREAMS: usize = 100;

/// One raced request after its answer.
pub struct Raced {
    /// When the gate opened.
    pub sent: Instant,
    /// When the answer was there, or the wait for it ended.
    pub ended: Instant,
    /// The answer, or why none came.
    pub answer: Result<Answer>,
}

/// All raced requests of a round.
pub struct Volley {
    /// In the order of the requests.
    pub raced: Vec<Raced>,
    /// The time from the first to the last connection that sent its rest; 0 with HTTP/2, where there is one.
    pub window: Duration,
    /// Whether they were sent with HTTP/2.
    pub is_http2: bool,
}

/// The answers that are to come, each with the place of its request.
type Answers = JoinSet<(usize, Result<Answer>, Instant)>;

/// Sends all requests at one moment, which it tells.
///
/// # Errors
/// When the shop does not take all connections.
pub async fn volley(requests: Vec<Filled>, trust: &Trust, tell: Sender<Instant>) -> Result<Volley> {
    let gate = Arc::new(Gate::default());
    let first = requests.first().context("nobody races")?;
    let wire = connect(first, trust).await?;
    let is_http2 = wire.is_http2;
    let (mut answers, connections) = (Answers::new(), if is_http2 { 1 } else { requests.len() });
    let connection = if is_http2 {
        Some(share(wire, requests, &gate, &mut answers).await?)
    } else {
        let mut wire = Some(wire);
        for (place, request) in requests.into_iter().enumerate() {
            let wire = match wire.take() {
                Some(wire) => wire,
                None => connect(&request, trust).await?,
            };
            let gated = Gated::new(wire.stream, gate.clone(), Keep::LastByte);
            answers.spawn(async move { (place, exchange(gated, request).await, Instant::now()) });
        }
        None
    };
    let ready = timeout(CONNECT_WITHIN, gate.all_wait(connections)).await;
    ready.context("the shop did not read all requests")?;
    sleep(READ_IN).await;
    let sent = Instant::now();
    gate.open();
    // Without a fault nobody listens.
    let _ = tell.send(sent);
    let mut all: Vec<_> = answers.join_all().await;
    drop(connection);
    all.sort_by_key(|(place, ..)| *place);
    let left = gate.sent();
    let window = left.iter().max().zip(left.iter().min());
    let raced = all.into_iter().map(|(_, answer, ended)| Raced { sent, ended, answer });
    Ok(Volley {
        raced: raced.collect(),
        window: window.map_or(Duration::ZERO, |(last, first)| last.duration_since(*first)),
        is_http2,
    })
}

async fn connect(request: &Filled, trust: &Trust) -> Result<Wire> {
    let wire = timeout(CONNECT_WITHIN, Wire::connect(&request.url, trust)).await;
    wire.context("a connection to the shop took too long")?
}

/// Sends one request over its own connection, and reads the answer.
async fn exchange(gated: Gated, request: Filled) -> Result<Answer> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(gated)).await?;
    // It ends with the answer, or with an error that the answer then is.
    let _connection = AbortOnDropHandle::new(tokio::spawn(connection));
    let mut http = http(request)?;
    let url = http.uri().clone();
    let host = url.authority().context("a URL without a host")?.as_str();
    http.headers_mut().insert(HOST, host.parse()?);
    *http.uri_mut() = url.path_and_query().context("a URL without a path")?.as_str().parse()?;
    read(sender.send_request(http)).await
}

/// Writes all requests to one connection of HTTP/2.
async fn share(
    wire: Wire,
    requests: Vec<Filled>,
    gate: &Arc<Gate>,
    answers: &mut Answers,
) -> Result<AbortOnDropHandle<()>> {
    ensure!(
        requests.len() <= MOST_STREAMS,
        "the shop speaks HTTP/2, with which at most {MOST_STREAMS} buyers race"
    );
    let is_held = Arc::new(AtomicBool::new(false));
    let gated = Gated::new(wire.stream, gate.clone(), Keep::AllFrom(is_held.clone()));
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(gated)).await?;
    let connection = AbortOnDropHandle::new(tokio::spawn(async move {
        // Its error is that of the requests.
        let _ = connection.await;
    }));
    sender.ready().await?;
    // Both sides say what they allow before the requests.
    sleep(READ_IN).await;
    is_held.store(true, Ordering::SeqCst);
    for (place, request) in requests.into_iter().enumerate() {
        let answer = sender.send_request(http(request)?);
        answers.spawn(async move { (place, read(answer).await, Instant::now()) });
    }
    Ok(connection)
}

/// Reads an answer, within the time and the length that it may have.
async fn read(response: impl Future<Output = hyper::Result<hyper::Response<Incoming>>>) -> Result<Answer> {
    let read = async {
        let response = response.await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = Limited::new(response.into_body(), MAX_BODY).collect().await;
        let body = body.map_err(|error| anyhow!("{error}"))?.to_bytes();
        Ok(answer(status, &headers, &body))
    };
    timeout(ANSWER_WITHIN, read)
        .await
        .with_context(|| format!("no answer within {} s", ANSWER_WITHIN.as_secs()))?
}

fn http(request: Filled) -> Result<hyper::Request<Full<Bytes>>> {
    let Filled {
        method,
        url,
        headers,
        body,
    } = request;
    let mut http = hyper::Request::builder().method(method).uri(url.as_str());
    if let Some(all) = http.headers_mut() {
        all.extend(headers);
    }
    Ok(http.body(Full::new(Bytes::from(body)))?)
}
