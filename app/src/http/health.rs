//! The health routes: whether the process runs, and whether it can sell.

use axum::extract::State;

use super::App;
use super::problem::Problem;

/// `GET /healthz`: the process runs.
pub(super) async fn healthz() -> &'static str {
    "alive\n"
}

/// `GET /readyz`: the instance is not closing and the stores answer that it cannot do without.
pub(super) async fn readyz(State(app): State<App>) -> Result<&'static str, Problem> {
    if app.shop.is_closing() {
        return Err(Problem::NotReady);
    }
    for (name, store) in app.shop.world.stores.required() {
        if let Err(error) = store.ping().await {
            tracing::warn!(%error, store = name, "not ready");
            return Err(Problem::NotReady);
        }
    }
    Ok("ready\n")
}
