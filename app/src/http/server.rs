//! Start and stop: two listeners, and a shutdown that finishes what was begun.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::routers;
use crate::shop::Shop;

/// How long purchases in progress may take to finish after the signal to stop. Longer than any bounded wait.
const FINISH_WITHIN: Duration = Duration::from_secs(10);

/// Serves both listeners until `stop` comes, then takes no new purchase and finishes those that were begun.
///
/// # Errors
/// When a listener fails.
pub async fn serve(
    shop: Arc<Shop>,
    public: TcpListener,
    admin: TcpListener,
    stop: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let (public_routes, admin_routes) = routers(shop.clone());
    let stopping = CancellationToken::new();
    let mut servers = pin!(async {
        tokio::try_join!(
            listen(public, public_routes, stopping.clone()),
            listen(admin, admin_routes, stopping.clone()),
        )
    });
    tokio::select! {
        ended = &mut servers => return ended.map(drop),
        () = stop => {}
    }
    shop.close();
    stopping.cancel();
    let finish = async {
        servers.await?;
        shop.finish().await;
        Ok(())
    };
    timeout(FINISH_WITHIN, finish).await.unwrap_or_else(|_| {
        tracing::error!(unfinished = shop.in_progress(), "stopped at the deadline");
        Ok(())
    })
}

async fn listen(listener: TcpListener, routes: Router, stopping: CancellationToken) -> io::Result<()> {
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "answers may be delayed by Nagle's algorithm");
        }
    });
    axum::serve(listener, routes)
        .with_graceful_shutdown(stopping.cancelled_owned())
        .await
}
