//! The load: few connections that are kept, on each of them one purchase after the other, as bytes that were made before.
//!
//! One thread, so that what it uses of the processors can be told from what the shop uses. It waits for no clock and keeps no
//! times: the next request is sent as soon as the last one is answered.

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

/// Connections, and so purchases on their way at once.
pub const CONNECTIONS: usize = 32;

/// How long the last answers may take. Longer than a proxy waits for an instance.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// What is sent, and for how long.
#[derive(Clone)]
pub struct Load {
    /// Where to.
    pub at: SocketAddr,
    /// The request, again and again.
    pub request: Arc<[u8]>,
    /// How long it is sent before anything is measured: connections are made then, and caches filled.
    pub warm: Duration,
    /// How long it is measured.
    pub measured: Duration,
}

/// What came of a load.
#[derive(Debug)]
pub struct Attack<T> {
    /// The answers of the time that was measured.
    pub answered: Answered,
    /// All answers.
    pub answered_in_all: Answered,
    /// How long it was measured, in seconds.
    pub seconds: f64,
    /// What the generator itself used of a processor in that time, in microseconds.
    pub generator_us: f64,
    /// What was looked at when it began and when it ended.
    pub looks: [T; 2],
}

/// What the connections share.
#[derive(Default)]
struct Shared {
    answered: Mutex<Answered>,
    is_over: AtomicBool,
}

impl Shared {
    fn answered(&self) -> Answered {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Sends the load from this thread, and calls `look` when measuring begins and when it ends.
///
/// # Errors
/// When a connection cannot be made or breaks, an answer is none or does not come, or `look` fails.
pub fn attack<T>(load: &Load, look: impl Fn() -> Result<T>) -> Result<Attack<T>> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.context("no runtime for the load")?.block_on(send(load, look))
}

async fn send<T>(load: &Load, look: impl Fn() -> Result<T>) -> Result<Attack<T>> {
    let shared = Arc::new(Shared::default());
    let mut buyers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        buyers.spawn(buy(load.at, load.request.clone(), shared.clone()));
    }
    let measured = tokio::select! {
        measured = measure(load, &shared, look) => measured?,
        // Until it is over they end by an error alone.
        Some(ended) = buyers.join_next() => {
            ended??;
            bail!("a buyer left before the time was over");
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
    let answered_in_all = shared.answered();
    Ok(Attack {
        answered_in_all,
        ..measured
    })
}

async fn measure<T>(load: &Load, shared: &Shared, look: impl Fn() -> Result<T>) -> Result<Attack<T>> {
    sleep(load.warm).await;
    let before = look()?;
    let (answered, own, begun) = (shared.answered(), cpu::of_this_thread()?, Instant::now());
    sleep(load.measured).await;
    let seconds = begun.elapsed().as_secs_f64();
    let generator_us = cpu::of_this_thread()? - own;
    let answered = &shared.answered() - &answered;
    Ok(Attack {
        answered,
        answered_in_all: Answered::default(),
        seconds,
        generator_us,
        looks: [before, look()?],
    })
}

/// One connection: asks, waits for the answer, asks again.
async fn buy(at: SocketAddr, request: Arc<[u8]>, shared: Arc<Shared>) -> Result<()> {
    let stream = TcpStream::connect(at).await;
    let mut stream = stream.with_context(|| format!("nobody listens on {at}"))?;
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
