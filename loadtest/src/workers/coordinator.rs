//! Where workers ask for their share and leave what they heard.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use subtle::ConstantTimeEq;
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{timeout, timeout_at};
use uuid::Uuid;

use super::assignment::{Assignment, shares};
use super::responses::AssignmentResponses;
use crate::attack::{Attack, AttackResult};
use crate::responses::Responses;

/// How long a worker's question may stay open; then it asks again.
const OPEN_FOR: Duration = Duration::from_secs(20);

/// How long all workers may take to ask for their share.
const COME_WITHIN: Duration = Duration::from_secs(120);

/// How long a share may take.
const BACK_WITHIN: Duration = Duration::from_secs(600);

/// How much longer than twice the time of the first worker the others may take: all shares are of one size.
const AFTER_THE_FIRST: Duration = Duration::from_secs(30);

/// How long workers may take to hear that the run is over.
const GONE_WITHIN: Duration = Duration::from_secs(3);

/// The longest report of a worker, in bytes: some 300 for each purchase of the largest round.
const MAX_REPORT: usize = 512 * 1024 * 1024;

/// Where workers come to.
pub struct Listening {
    /// The address that is listened at.
    pub at: SocketAddr,
    /// The token that they bring.
    pub token: String,
    /// How many there are.
    pub workers: usize,
}

/// The side of the run.
pub struct Coordinator {
    workers: usize,
    open: Arc<Open>,
    /// One round after the other.
    turn: tokio::sync::Mutex<()>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

/// What is open with workers.
struct Open {
    token: String,
    /// None when the run is over.
    asking: Mutex<Option<Vec<oneshot::Sender<Assignment>>>>,
    asked: Notify,
    reports: Mutex<HashMap<Uuid, oneshot::Sender<(AssignmentResponses, Instant)>>>,
}

impl Coordinator {
    /// Opens it.
    ///
    /// # Errors
    /// When nobody can listen there.
    pub async fn open(listening: Listening) -> Result<Self> {
        let Listening { at, token, workers } = listening;
        let listener = TcpListener::bind(at).await;
        let listener = listener.with_context(|| format!("cannot listen for workers on {at}"))?;
        let open = Arc::new(Open {
            token,
            asking: Mutex::new(Some(Vec::new())),
            asked: Notify::new(),
            reports: Mutex::default(),
        });
        let routes = Router::new()
            .route("/shares", post(ask))
            .route("/shares/{id}", post(report))
            .layer(DefaultBodyLimit::max(MAX_REPORT))
            .layer(from_fn_with_state(open.clone(), guard))
            .with_state(open.clone());
        let (stop, stopped) = oneshot::channel();
        let serving = axum::serve(listener, routes).with_graceful_shutdown(async {
            let _ = stopped.await;
        });
        let server = async move {
            // It never fails.
            let _ = serving.await;
        };
        Ok(Self {
            workers,
            open,
            turn: tokio::sync::Mutex::default(),
            stop,
            server: tokio::spawn(server),
        })
    }

    /// Tells every worker that the run is over.
    pub async fn close(self) {
        locked(&self.open.asking).take();
        let _ = self.stop.send(());
        // Whoever is still buying for a run that has failed is not waited for.
        let _ = timeout(GONE_WITHIN, self.server).await;
    }

    /// Has the workers attack, each with its share.
    ///
    /// # Errors
    /// When they do not come, or one does not come back.
    pub async fn attack(&self, attack: &Attack) -> Result<AttackResult> {
        let _turn = self.turn.lock().await;
        let shares = shares(&attack.sale, self.workers);
        let asking = timeout(COME_WITHIN, self.asking(shares.len())).await;
        let asking =
            asking.with_context(|| format!("fewer than {} workers came within {COME_WITHIN:?}", shares.len()))?;
        let reports = shares.iter().map(|assignment| {
            let (sender, report) = oneshot::channel();
            locked(&self.open.reports).insert(assignment.id, sender);
            report
        });
        let reports: Vec<_> = reports.collect();
        let begun = Instant::now();
        for (worker, assignment) in asking.into_iter().zip(shares) {
            worker
                .send(assignment)
                .ok()
                .context("a worker left when it was its turn")?;
        }
        let mut missing: FuturesUnordered<_> = reports.into_iter().collect();
        let mut deadline = begun + BACK_WITHIN;
        let mut responses = Responses::default();
        while let Some(report) = timeout_at(deadline.into(), missing.next())
            .await
            .with_context(|| not_back(missing.len(), begun))?
        {
            let (assignment, back) = report?;
            deadline = deadline.min(back + begun.elapsed() + AFTER_THE_FIRST);
            let assignment = assignment.responses(begun, back);
            responses.apart = responses.apart.max(assignment.apart);
            responses.attack.extend(assignment.attack);
            responses.repeats.extend(assignment.repeats);
            responses.altered.extend(assignment.altered);
        }
        Ok(AttackResult {
            responses,
            observations: Vec::new(),
            fault: None,
            incidents: Vec::new(),
        })
    }

    /// So many who ask, as soon as there are so many.
    async fn asking(&self, workers: usize) -> Vec<oneshot::Sender<Assignment>> {
        loop {
            let asked = self.open.asked.notified();
            {
                let mut asking = locked(&self.open.asking);
                let asking = asking.get_or_insert_default();
                asking.retain(|worker| !worker.is_closed());
                if asking.len() >= workers {
                    return asking.drain(..workers).collect();
                }
            }
            asked.await;
        }
    }
}

fn not_back(workers: usize, begun: Instant) -> String {
    format!(
        "{workers} workers did not come back within {} s",
        begun.elapsed().as_secs()
    )
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn guard(State(open): State<Arc<Open>>, request: Request, next: Next) -> Response {
    let brought = request.headers().get("authorization");
    let brought = brought.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    let is_known = brought.is_some_and(|token| token.ct_eq(open.token.as_bytes()).into());
    if is_known {
        next.run(request).await
    } else {
        StatusCode::UNAUTHORIZED.into_response()
    }
}

async fn ask(State(open): State<Arc<Open>>) -> Response {
    let (sender, assignment) = oneshot::channel();
    match locked(&open.asking).as_mut() {
        Some(asking) => asking.push(sender),
        None => return StatusCode::GONE.into_response(),
    }
    open.asked.notify_waiters();
    match timeout(OPEN_FOR, assignment).await {
        Ok(Ok(assignment)) => Json(assignment).into_response(),
        Ok(Err(_)) => StatusCode::GONE.into_response(),
        Err(_) => StatusCode::NO_CONTENT.into_response(),
    }
}

async fn report(
    State(open): State<Arc<Open>>,
    Path(id): Path<Uuid>,
    Json(responses): Json<AssignmentResponses>,
) -> StatusCode {
    let waiting = locked(&open.reports).remove(&id);
    match waiting.and_then(|waiting| waiting.send((responses, Instant::now())).ok()) {
        Some(()) => StatusCode::NO_CONTENT,
        None => StatusCode::NOT_FOUND,
    }
}
