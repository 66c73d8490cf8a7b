//! The run's side: workers ask it for assignments and report their responses.

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

use super::assignment::{Assignment, split};
use super::looks::Looks;
use super::responses::AssignmentResponses;
use crate::attack::{Attack, AttackResult, longest};
use crate::responses::Responses;

/// The longest time for which a worker's question stays open; then the worker asks again.
const ANSWERED_WITHIN: Duration = Duration::from_secs(20);

/// The longest wait for all workers to ask.
pub(crate) const COME_WITHIN: Duration = Duration::from_secs(120);

/// The extra time of a worker, beyond the longest time of its attack, to read its assignment and to report.
const REPORTED_WITHIN: Duration = Duration::from_secs(30);

/// The extra time of the other workers, beyond twice the time of the first one: all assignments have the same size.
const AFTER_THE_FIRST: Duration = Duration::from_secs(30);

/// The longest wait for the workers to learn that the run is over.
const GONE_WITHIN: Duration = Duration::from_secs(3);

/// The longest report of a worker, in bytes: some 300 for each purchase of the largest round.
const MAX_REPORT: usize = 512 * 1024 * 1024;

/// The address for workers.
pub struct Listening {
    /// The address to listen on.
    pub at: SocketAddr,
    /// The token that they send. No shop may know it.
    pub token: String,
    /// The number of workers.
    pub workers: usize,
}

/// A report that is to come, with the time at which it came.
type Report = oneshot::Receiver<(AssignmentResponses, Instant)>;

/// The run's side.
pub struct Coordinator {
    at: SocketAddr,
    workers: usize,
    shared: Arc<Shared>,
    /// Lets one round go on at a time.
    one_round: tokio::sync::Mutex<()>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

/// The state that the HTTP handlers share.
struct Shared {
    token: String,
    /// `None` when the run is over.
    asking: Mutex<Option<Vec<oneshot::Sender<Assignment>>>>,
    asked: Notify,
    reports: Mutex<HashMap<Uuid, oneshot::Sender<(AssignmentResponses, Instant)>>>,
}

impl Coordinator {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub async fn open(listening: Listening) -> Result<Self> {
        let Listening { at, token, workers } = listening;
        let listener = TcpListener::bind(at).await;
        let listener = listener.with_context(|| format!("cannot listen for workers on {at}"))?;
        let at = listener.local_addr().context("the address for workers is not known")?;
        let shared = Arc::new(Shared {
            token,
            asking: Mutex::new(Some(Vec::new())),
            asked: Notify::new(),
            reports: Mutex::default(),
        });
        let routes = Router::new()
            .route("/shares", post(ask))
            .route("/shares/{id}", post(report))
            .layer(DefaultBodyLimit::max(MAX_REPORT))
            .layer(from_fn_with_state(shared.clone(), guard))
            .with_state(shared.clone());
        let (stop, stopped) = oneshot::channel();
        let serving = axum::serve(listener, routes).with_graceful_shutdown(async {
            let _ = stopped.await;
        });
        let server = async move {
            // axum never returns an error here.
            let _ = serving.await;
        };
        Ok(Self {
            at,
            workers,
            shared,
            one_round: tokio::sync::Mutex::default(),
            stop,
            server: tokio::spawn(server),
        })
    }

    /// Returns the address that it listens on.
    pub fn at(&self) -> SocketAddr {
        self.at
    }

    /// Tells every worker that the run is over.
    pub async fn close(self) {
        locked(&self.shared.asking).take();
        let _ = self.stop.send(());
        // Workers that still send purchases of a failed run are not waited for.
        let _ = timeout(GONE_WITHIN, self.server).await;
    }

    /// Lets the workers attack, each with its assignment, and looks at the ledgers meanwhile.
    ///
    /// # Errors
    /// When too few workers ask, or one does not report.
    pub async fn attack(&self, attack: &Attack) -> Result<AttackResult> {
        let _round = self.one_round.lock().await;
        let assignments = split(&attack.sale, self.workers);
        let asking = timeout(COME_WITHIN, self.asking(assignments.len())).await;
        let asking = asking.with_context(|| {
            format!(
                "fewer than {} workers asked for an assignment within {COME_WITHIN:?}",
                assignments.len()
            )
        })?;
        let reports = assignments.iter().map(|assignment| {
            let (sender, report) = oneshot::channel();
            locked(&self.shared.reports).insert(assignment.id, sender);
            report
        });
        let reports: Vec<_> = reports.collect();
        let begun = Instant::now();
        for (worker, assignment) in asking.into_iter().zip(assignments) {
            worker
                .send(assignment)
                .ok()
                .context("a worker left before it got its assignment")?;
        }
        let within = longest(&attack.sale.load, attack.one_at_a_time, false) + REPORTED_WITHIN;
        let mut looks = Looks::default();
        let responses = tokio::select! {
            responses = reported(reports, begun, within) => responses?,
            never = looks.go_on(&attack.sale) => match never {},
        };
        let failed_looks = std::mem::take(&mut looks.failed);
        Ok(AttackResult {
            observations: looks.by_clocks_apart(responses.apart, begun),
            responses,
            failed_looks,
            fault: None,
            struck: Vec::new(),
            absent: Vec::new(),
            incidents: Vec::new(),
        })
    }

    /// Waits until that many workers have asked, and returns them.
    async fn asking(&self, workers: usize) -> Vec<oneshot::Sender<Assignment>> {
        loop {
            let asked = self.shared.asked.notified();
            {
                let mut asking = locked(&self.shared.asking);
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

/// Waits for the reports of all workers that got their assignments at `begun`, at most for `within`.
async fn reported(reports: Vec<Report>, begun: Instant, within: Duration) -> Result<Responses> {
    let mut missing: FuturesUnordered<_> = reports.into_iter().collect();
    let mut deadline = begun + within;
    let mut responses = Responses::default();
    while let Some(report) = timeout_at(deadline.into(), missing.next())
        .await
        .with_context(|| not_back(missing.len(), begun))?
    {
        let (report, back) = report?;
        deadline = deadline.min(back + begun.elapsed() + AFTER_THE_FIRST);
        let reported = report.into_responses(begun, back);
        responses.apart = responses.apart.max(reported.apart);
        responses.attack.extend(reported.attack);
        responses.repeats.extend(reported.repeats);
        responses.altered.extend(reported.altered);
    }
    Ok(responses)
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

async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let brought = request.headers().get("authorization");
    let brought = brought.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    let is_known = brought.is_some_and(|token| token.ct_eq(shared.token.as_bytes()).into());
    if is_known {
        next.run(request).await
    } else {
        StatusCode::UNAUTHORIZED.into_response()
    }
}

async fn ask(State(shared): State<Arc<Shared>>) -> Response {
    let (sender, assignment) = oneshot::channel();
    match locked(&shared.asking).as_mut() {
        Some(asking) => asking.push(sender),
        None => return StatusCode::GONE.into_response(),
    }
    shared.asked.notify_waiters();
    match timeout(ANSWERED_WITHIN, assignment).await {
        Ok(Ok(assignment)) => Json(assignment).into_response(),
        Ok(Err(_)) => StatusCode::GONE.into_response(),
        Err(_) => StatusCode::NO_CONTENT.into_response(),
    }
}

async fn report(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<Uuid>,
    Json(responses): Json<AssignmentResponses>,
) -> StatusCode {
    let waiting = locked(&shared.reports).remove(&id);
    match waiting.and_then(|waiting| waiting.send((responses, Instant::now())).ok()) {
        Some(()) => StatusCode::NO_CONTENT,
        None => StatusCode::NOT_FOUND,
    }
}
