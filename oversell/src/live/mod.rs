//! The live page: a run of two strategies side by side, started in a browser and watched while it goes on.
//!
//! It is served by the process of the experiment, so that a fault in an instance does not freeze it. Every visitor sees the same
//! run. Only a visitor with the token starts or stops one.

mod lessons;
mod request;
mod server;
mod side;
mod state;
mod steps;
mod watching;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use stack::loopback;
use tokio::net::TcpListener;

use self::request::RunRequest;
use self::state::State;
use self::steps::Choices;
use crate::interrupt::Stop;
use crate::options::{PageOptions, RemoteOptions, StackOptions};
use crate::token;

/// The live page, which listens already.
pub struct Live {
    listener: TcpListener,
    shared: Arc<Shared>,
}

/// The state that all visitors share.
struct Shared {
    token: String,
    /// Whether the token was drawn here, so that nobody knows it yet.
    is_drawn: bool,
    state: State,
    remote: RemoteOptions,
    stack: StackOptions,
    results: PathBuf,
    /// Ends the run that goes on.
    stop: Mutex<Option<Stop>>,
    /// The way to the schedule whose steps a visitor chooses.
    choices: Choices,
}

impl Live {
    /// Listens for visitors. The runs are played at the shop of `remote`, if one is given. Otherwise each side of a run has stores
    /// and a shop of its own, which `stack` describes.
    ///
    /// # Errors
    /// When the address cannot be used or reached, or the token is no secret.
    pub async fn open(options: PageOptions, remote: RemoteOptions, stack: StackOptions) -> Result<Self> {
        if let Some(given) = &options.page_token {
            token::check("--page-token", given)?;
        }
        loopback::require_up(options.page.ip())?;
        let listener = TcpListener::bind(options.page).await;
        let listener = listener.with_context(|| format!("cannot listen on {} for the live page", options.page))?;
        let shared = Shared {
            is_drawn: options.page_token.is_none(),
            token: options.page_token.unwrap_or_else(token::drawn),
            state: State::default(),
            remote,
            stack,
            results: options.results,
            stop: Mutex::default(),
            choices: Choices::default(),
        };
        Ok(Self {
            listener,
            shared: Arc::new(shared),
        })
    }

    /// Returns the address of the page, with the token if it was drawn here.
    ///
    /// # Errors
    /// When the system does not know the address.
    pub fn url(&self) -> Result<String> {
        let at = self.listener.local_addr().context("the address of the live page")?;
        Ok(match self.shared.is_drawn {
            true => format!("http://{at}/#token={}", self.shared.token),
            false => format!("http://{at}/"),
        })
    }

    /// Serves visitors until `stop` is set, and ends the run that goes on then.
    ///
    /// # Errors
    /// When the listener fails.
    pub async fn serve(self, stop: Stop) -> Result<()> {
        let shared = self.shared.clone();
        let served = server::serve(self.listener, self.shared, &stop).await;
        shared.end();
        shared.choices.end();
        shared.state.wait_until_over().await;
        served
    }
}

impl Shared {
    /// Starts a run of both sides. Returns false when one goes on.
    fn start(self: &Arc<Self>, request: RunRequest) -> bool {
        let stop = Stop::default();
        {
            let mut running = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
            if running.is_some() {
                return false;
            }
            *running = Some(stop.clone());
        }
        self.state.begin(&request);
        let shared = self.clone();
        tokio::spawn(async move {
            let sides = (0..request.strategies.len()).map(|place| side::play(&shared, &request, place, &stop));
            // At one shop a fault in one side would strike the other one.
            if request.in_turn || shared.remote.host.is_some() {
                stream::iter(sides).for_each(|side| side).await;
            } else {
                drop(join_all(sides).await);
            }
            // The next run begins only afterwards.
            shared.state.end();
            *shared.stop.lock().unwrap_or_else(PoisonError::into_inner) = None;
        });
        true
    }

    /// Asks the run that goes on to end.
    fn end(&self) {
        let running = self.stop.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stop) = running.as_ref() {
            // It may be set already.
            let _ = stop.set(());
        }
    }
}
