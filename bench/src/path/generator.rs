//! The load: a few permanent connections, each with one purchase after the other, sent as prepared bytes.
//!
//! It runs on one thread, so that its processor time can be told from that of the shop. It keeps no schedule and no
//! latencies: each connection sends the next request as soon as the last one is answered.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::answered::Answered;
use super::cpu;
use super::incoming::Incoming;

/// The number of connections, and so of concurrent purchases.
pub const CONNECTIONS: usize = 32;

/// How long the last answers may take: longer than a proxy waits for an instance.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// The request, and how long to send it.
#[derive(Clone)]
pub struct Load {
    /// The address of the shop.
    pub at: SocketAddr,
    /// The bytes of the request.
    pub request: Arc<[u8]>,
    /// How long to send before the measurement, which opens connections and fills caches.
    pub warm: Duration,
    /// How long to measure.
    pub measured: Duration,
}

/// The result of a load.
#[derive(Debug)]
pub struct Attack<T> {
    /// The answers during the measurement.
    pub answers: Answered,
    /// All answers, including those before and after the measurement.
    pub all_answers: Answered,
    /// The length of the measurement, in seconds.
    pub seconds: f64,
    /// Processor time of the generator in the measurement, in microseconds.
    pub generator_us: f64,
    /// The snapshots at its begin and at its end.
    pub snapshots: [T; 2],
}

/// The state that the connections share.
#[derive(Default)]
struct LoadState {
    answered: Mutex<Answered>,
    is_over: AtomicBool,
}

impl LoadState {
    fn answered(&self) -> Answered {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Sends the load from this thread, and calls `snapshot` at the begin and at the end of the measurement.
///
/// # Errors
/// When a connection fails, an answer is malformed or missing, or `snapshot` fails.
pub fn attack<T>(load: &Load, snapshot: impl Fn() -> Result<T>) -> Result<Attack<T>> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime
        .context("the runtime of the load did not start")?
        .block_on(send(load, snapshot))
}

async fn send<T>(load: &Load, snapshot: impl Fn() -> Result<T>) -> Result<Attack<T>> {
    let shared = Arc::new(LoadState::default());
    let mut buyers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        buyers.spawn(buy(load.at, load.request.clone(), shared.clone()));
    }
    let measured = tokio::select! {
        measured = measure(load, &shared, snapshot) => measured?,
        // Before the end a connection ends only with an error.
        Some(ended) = buyers.join_next() => {
            ended??;
            bail!("a connection ended before the measurement");
        }
    };
    shared.is_over.store(true, Ordering::Relaxed);
    let rest = async {
        while let Some(ended) = buyers.join_next().await {
            ended??;
        }
        anyhow::Ok(())
    };
    let ended = timeout(ANSWER_WITHIN, rest).await;
    ended.with_context(|| format!("an answer did not come within {ANSWER_WITHIN:?}"))??;
    let all_answers = shared.answered();
    Ok(Attack {
        all_answers,
        ..measured
    })
}

async fn measure<T>(load: &Load, shared: &LoadState, snapshot: impl Fn() -> Result<T>) -> Result<Attack<T>> {
    sleep(load.warm).await;
    let before = snapshot()?;
    let (answered, own, begun) = (shared.answered(), cpu::of_this_thread()?, Instant::now());
    sleep(load.measured).await;
    let seconds = begun.elapsed().as_secs_f64();
    let generator_us = cpu::of_this_thread()? - own;
    Ok(Attack {
        answers: &shared.answered() - &answered,
        all_answers: Answered::default(),
        seconds,
        generator_us,
        snapshots: [before, snapshot()?],
    })
}

/// Runs one connection: sends a request, waits for the answer, and repeats.
async fn buy(at: SocketAddr, request: Arc<[u8]>, shared: Arc<LoadState>) -> Result<()> {
    let stream = TcpStream::connect(at).await;
    let mut stream = stream.with_context(|| format!("nothing listens on {at}"))?;
    stream.set_nodelay(true)?;
    let mut incoming = Incoming::default();
    while !shared.is_over.load(Ordering::Relaxed) {
        stream.write_all(&request).await.context("a connection broke")?;
        let status = loop {
            let read = stream.read_buf(&mut incoming.bytes).await;
            if read.context("a connection broke")? == 0 {
                bail!("a connection was closed before the answer came");
            }
            if let Some(status) = incoming.take()? {
                break status;
            }
        };
        shared
            .answered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(status);
    }
    Ok(())
}
