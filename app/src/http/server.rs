//! Start and stop: two listeners, and a shutdown that finishes the purchases in progress.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::routers;
use crate::instance::Shop;

/// The longest time for purchases in progress to finish after the signal to stop. Longer than any bounded wait.
const FINISH_WITHIN: Duration = Duration::from_secs(10);

/// The longest time for the last responses to leave after all purchases have finished. A connection that is still open
/// then waits for the rest of a request, and that request is too late anyway.
const LEAVE_WITHIN: Duration = Duration::from_secs(1);

/// The pause after a connection that could not be accepted: while the process has no free file descriptor, only waiting
/// helps.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The longest time for a connection to send the header of its next request, and so to be idle. It is longer than nginx
/// keeps an idle connection: nginx must not send a purchase into a connection that is closing.
const HEADER_WITHIN: Duration = Duration::from_secs(10);

/// The most connections of the public listener at once. More than nginx opens for the largest crowd of the load test;
/// together with the connections of the admin listener and of the stores, fewer than the files that an instance may
/// open. Further connections wait in the system's queue.
const PUBLIC_CONNECTIONS: usize = 8_192;

/// The same for the admin listener. It has its own limit, so that operators can connect whatever the size of the crowd.
const ADMIN_CONNECTIONS: usize = 64;

/// The open connections of both listeners.
#[derive(Clone, Default)]
struct OpenConnections {
    open: TaskTracker,
    /// Cancelled when connections must end after their current request.
    stopping: CancellationToken,
    /// Cancelled when connections must end at once.
    cut: CancellationToken,
}

/// Serves both listeners until `stop` completes, and then for `drain` longer. During `drain` the instance is not ready,
/// and every response ends its connection. Then it accepts no new connection and finishes the purchases in progress.
pub async fn serve(
    shop: Arc<Shop>,
    public: TcpListener,
    admin: TcpListener,
    stop: impl Future<Output = ()> + Send,
    drain: Duration,
) {
    let (public_routes, admin_routes) = routers(shop.clone());
    let (connections, drained) = (OpenConnections::default(), CancellationToken::new());
    let leaves = async {
        stop.await;
        shop.close();
        sleep(drain).await;
        drained.cancel();
    };
    tokio::join!(
        leaves,
        listen(public, PUBLIC_CONNECTIONS, public_routes, &connections, &drained),
        listen(admin, ADMIN_CONNECTIONS, admin_routes, &connections, &drained),
    );
    // By now each connection ends with its response. A connection that was accepted just now still gets the time for
    // one.
    let _ = timeout(drain.min(LEAVE_WITHIN), connections.all_ended()).await;
    if timeout(FINISH_WITHIN, connections.end(&shop)).await.is_err() {
        tracing::error!(unfinished = shop.in_progress(), "stopped at the deadline");
    }
}

/// Accepts connections until it is `drained`, at most `most` open at once. A connection that cannot be accepted is
/// logged and skipped.
async fn listen(
    listener: TcpListener,
    most: usize,
    routes: Router,
    connections: &OpenConnections,
    drained: &CancellationToken,
) {
    let room = Arc::new(Semaphore::new(most));
    // The semaphore is never closed.
    while let Some(Ok(place)) = drained.run_until_cancelled(room.clone().acquire_owned()).await {
        match drained.run_until_cancelled(listener.accept()).await {
            None => break,
            Some(Ok((stream, _))) => connections.take(stream, &routes, place),
            Some(Err(error)) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(AGAIN_AFTER).await;
            }
        }
    }
    take_waiting(listener, room, &routes, connections);
}

/// Accepts the connections that wait in the system's queue: closing the listener would cut them off in the middle of a
/// request.
fn take_waiting(listener: TcpListener, room: Arc<Semaphore>, routes: &Router, connections: &OpenConnections) {
    let Ok(listener) = listener.into_std() else { return };
    while let Ok(place) = room.clone().try_acquire_owned()
        && let Ok((stream, _)) = listener.accept()
        && stream.set_nonblocking(true).is_ok()
        && let Ok(stream) = TcpStream::from_std(stream)
    {
        connections.take(stream, routes, place);
    }
}

impl OpenConnections {
    /// Starts to serve a connection. It returns its permit when it ends.
    fn take(&self, stream: TcpStream, routes: &Router, place: OwnedSemaphorePermit) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "responses may be delayed by Nagle's algorithm");
        }
        let connection = self.clone().serve(stream, routes.clone());
        self.open.spawn(async move {
            connection.await;
            drop(place);
        });
    }

    async fn all_ended(&self) {
        self.open.close();
        self.open.wait().await;
    }

    /// Serves one connection until it ends or is cut.
    async fn serve(self, stream: TcpStream, routes: Router) {
        let mut connection = pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_WITHIN)
                .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes))
        );
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            // No connection is cut before this.
            () = self.stopping.cancelled() => {
                connection.as_mut().graceful_shutdown();
                tokio::select! {
                    ended = connection => ended,
                    () = self.cut.cancelled() => return,
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke off");
        }
    }

    /// Waits until every purchase in progress has finished and its response is sent, and then cuts the connections that
    /// are still open.
    async fn end(&self, shop: &Shop) {
        self.stopping.cancel();
        self.open.close();
        loop {
            shop.finish().await;
            let left = timeout(LEAVE_WITHIN, self.open.wait()).await;
            // A request whose last byte arrived just now may have started another purchase.
            if left.is_ok() || shop.in_progress() == 0 {
                break;
            }
        }
        self.cut.cancel();
        self.open.wait().await;
        shop.finish().await;
    }
}

#[cfg(test)]
mod tests {
    use super::HEADER_WITHIN;

    #[test]
    fn nginx_closes_an_idle_connection_before_the_shop_does() {
        let nginx = include_str!("../../../nginx/nginx.conf");
        let (_, rest) = nginx.split_once("keepalive_timeout ").expect("nginx has a limit");
        let (seconds, _) = rest.split_once("s;").expect("the limit is in seconds");
        let closes_after: u64 = seconds.parse().expect("the limit is a number");
        assert!(closes_after < HEADER_WITHIN.as_secs());
    }
}
