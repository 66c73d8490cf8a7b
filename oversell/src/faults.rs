//! `oversell faults`: the service for faults beside the servers of a shop in containers.

use anyhow::{Context, Result};
use tokio::net::TcpListener;

use crate::exit::AS_DESIGNED;
use crate::options::FaultsOptions;
use crate::{console, interrupt, token};

/// Serves until a request to stop.
pub fn faults(options: FaultsOptions) -> Result<u8> {
    token::check("--faults-token", &options.faults_token)?;
    let FaultsOptions {
        listen,
        faults_token,
        folder,
        relay,
    } = options;
    let serving = |_| async move {
        let listener = TcpListener::bind(listen).await;
        let listener = listener.with_context(|| format!("cannot listen on {listen}"))?;
        stack::serve_faults(listener, faults_token, folder, &relay, |why| console::note(why)).await
    };
    match interrupt::unless_interrupted(serving) {
        Some(Err(error)) => Err(error),
        // A request to stop is the usual end of a service.
        Some(Ok(())) | None => Ok(AS_DESIGNED),
    }
}
