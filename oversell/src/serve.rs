//! `oversell serve`: one instance of the shop.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use app::domain::{Error, Name};
use app::instance::{CannotOpen, Settings, Shop};
use app::services::Services;
use app::strategies::Entry;
use app::timeouts::Timeouts;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tracing::level_filters::LevelFilter;

use crate::console;
use crate::exit::{AS_DESIGNED, OTHERS_DATA, Usage};
use crate::options::ServeOptions;

/// The level of the log of an instance: `error`, `warn`, `info`, `debug` or `trace` (every step of every purchase).
const LOG: &str = "OVERSELL_LOG";

/// The number of connections that are read before their commands are sent to the stores. With all of them, the stores would
/// wait meanwhile; with one, each command would travel alone.
const AT_ONCE: usize = 16;

/// The folder in which this instance writes traces.
const TRACES: &str = "OVERSELL_TRACES";

/// Serves until SIGTERM or SIGINT, and for the time of `--drain-ms` after it. Then it finishes the requests that have begun.
pub fn serve(options: ServeOptions) -> Result<u8> {
    log()?;
    runtime()?.block_on(async {
        let (listen, admin_listen) = (options.listen, options.admin_listen);
        let drain = Duration::from_millis(options.drain_ms);
        let public = bind(listen).await?;
        let admin = bind(admin_listen).await?;
        let shop = match Shop::open(settings(options)?).await {
            Err(CannotOpen::Store(error @ (Error::Corrupt { .. } | Error::Refused { .. }))) => {
                console::note(format_args!("oversell: the shop cannot open: {error}"));
                return Ok(OTHERS_DATA);
            }
            opened => opened.context("the shop cannot open")?,
        };
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let stop = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        tracing::info!(%listen, %admin_listen, "open");
        app::http::serve(Arc::new(shop), public, admin, stop, drain).await;
        Ok(AS_DESIGNED)
    })
}

/// Builds a runtime of one thread: commands of simultaneous purchases travel to Redis together, without a wake-up on another
/// processor for each of them. More instances use more processors.
fn runtime() -> Result<Runtime> {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_all().max_io_events_per_tick(AT_ONCE).build();
    runtime.context("the runtime cannot be built")
}

async fn bind(address: std::net::SocketAddr) -> Result<TcpListener> {
    stack::loopback::require_up(address.ip())?;
    TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}"))
}

fn log() -> Result<()> {
    let level = std::env::var(LOG).unwrap_or_else(|_| "info".to_owned());
    let level: LevelFilter = level
        .parse()
        .map_err(|_| Usage(format!("{LOG}={level} is none of error, warn, info, debug, trace, off")))?;
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    Ok(())
}

fn settings(options: ServeOptions) -> Result<Settings> {
    let name = |what: &str, text: &str| Name::parse(text).map_err(|error| Usage(format!("{what}: {error}")));
    if options.admin_token.is_empty() {
        return Err(Usage("the admin token is empty: anybody could open a sale".to_owned()).into());
    }
    let entries = Entry::all();
    let needs = entries.iter().flat_map(|entry| entry.needs.iter().copied());
    let services = Services::from_environment(needs)
        .with("redis", [options.redis.as_str()])
        .with("sql", [options.sql.as_str()]);
    Ok(Settings {
        instance: name("--instance", &options.instance)?,
        services,
        admin_token: options.admin_token,
        lab: options.lab,
        strategy: options.strategy,
        item: name("--item", &options.item)?,
        stock: options.stock.into(),
        timeouts: Timeouts {
            wait: Duration::from_millis(options.wait_ms),
            lease: Duration::from_millis(options.lease_ms),
        },
        traces: std::env::var_os(TRACES).map(Into::into),
    })
}
