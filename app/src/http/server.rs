//! Start and stop: two listeners, and a shutdown that finishes what was begun.

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

/// How long purchases in progress may take to finish after the signal to stop. Longer than any bounded wait.
const FINISH_WITHIN: Duration = Duration::from_secs(10);

/// How long an answer may be on its way when all purchases are finished; what is still open then is waiting for the rest
/// of a request that is too late anyway.
const LEAVE_WITHIN: Duration = Duration::from_secs(1);

/// After which a connection is taken again where one could not be: while there are no more files, nothing else helps.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// How long a connection may take for the header of its next request. It may be idle for as long, which is longer than
/// nginx keeps an idle one: nginx must not send a purchase into a connection that is just being closed.
const HEADER_WITHIN: Duration = Duration::from_secs(10);

/// Connections that the public listener serves at once: more than nginx opens for the largest crowd of the load test, and
/// with those of the admin listener and to the stores fewer than the files that an instance may have open. Who comes later
/// waits in the system's queue until one closes.
const PUBLIC_CONNECTIONS: usize = 8_192;

/// The same for the admin listener: operators are few, and find room however large the crowd is.
const ADMIN_CONNECTIONS: usize = 64;

/// The open connections of both listeners.
#[derive(Clone, Default)]
struct OpenConnections {
    open: TaskTracker,
    /// From now on a connection ends with the request that it is at.
    stopping: CancellationToken,
    /// From now on it ends wherever it is.
    cut: CancellationToken,
}

/// Serves both listeners until `stop` comes. For as long as `drain` it goes on then, and tells everybody to come no more:
/// readiness is over, and every answer ends its connection. After that it takes no new connection and finishes the purchases
/// that were begun.
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
    // Each connection ends with its answer by now. Whoever has just come is asked by nobody to leave without one.
    let _ = timeout(drain.min(LEAVE_WITHIN), connections.all_ended()).await;
    if timeout(FINISH_WITHIN, connections.end(&shop)).await.is_err() {
        tracing::error!(unfinished = shop.in_progress(), "stopped at the deadline");
    }
}

/// Takes connections until it is `drained`, and has at most `most` of them open at once. One that cannot be taken is logged and
/// passed over.
async fn listen(
    listener: TcpListener,
    most: usize,
    routes: Router,
    connections: &OpenConnections,
    drained: &CancellationToken,
) {
    let room = Arc::new(Semaphore::new(most));
    // It is never closed.
    while let Some(Ok(place)) = drained.run_until_cancelled(room.clone().acquire_owned()).await {
        match drained.run_until_cancelled(listener.accept()).await {
            None => break,
            Some(Ok((stream, _))) => connections.take(stream, &routes, place),
            Some(Err(error)) => {
                tracing::warn!(%error, "a connection could not be taken");
                sleep(AGAIN_AFTER).await;
            }
        }
    }
    take_waiting(listener, room, &routes, connections);
}

/// Takes whoever has come and waits to be let in: closing the listener would cut them off in the middle of a request.
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
    /// Begins to serve a connection, which gives its place back when it ends.
    fn take(&self, stream: TcpStream, routes: &Router, place: OwnedSemaphorePermit) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "answers may be delayed by Nagle's algorithm");
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
            // Nobody is cut before.
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

    /// Lets every purchase that was begun finish and be answered, and then cuts what is still open.
    async fn end(&self, shop: &Shop) {
        self.stopping.cancel();
        self.open.close();
        loop {
            shop.finish().await;
            let left = timeout(LEAVE_WITHIN, self.open.wait()).await;
            // One may have been begun by a request whose last byte came just now.
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
