//! The state of the page, as every visitor sees it.

use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use super::request::RunRequest;
use super::steps::Steps;

/// The state of the page, which visitors watch.
#[derive(Default)]
pub struct State(watch::Sender<Snapshot>);

/// A run as it is shown.
#[derive(Clone, Default, Serialize)]
pub struct Snapshot {
    is_running: bool,
    threat: String,
    sides: Vec<Side>,
    /// The schedule whose steps a visitor chooses.
    steps: Option<Steps>,
}

/// One side of it.
#[derive(Clone, Default, PartialEq, Serialize)]
pub struct Side {
    strategy: String,
    /// What it does now, or why it has ended early.
    pub says: String,
    /// The units for sale.
    pub stock: i64,
    /// The units in the counter, if it could be read.
    pub left: Option<i64>,
    /// The units of all orders.
    pub recorded: i64,
    /// The units that buyers were told sold.
    pub told: i64,
    /// How many pairs of purchases have held one lock at the same time, if the trace says so.
    pub overlaps: Option<u64>,
    /// The result, when it is over.
    pub result: Option<Value>,
}

impl State {
    /// Shows a run that begins.
    pub fn begin(&self, request: &RunRequest) {
        let side = |(place, strategy): (usize, &String)| Side {
            strategy: strategy.clone(),
            says: match place {
                1 if request.in_turn => "begins when the other side is over".to_owned(),
                _ => "stores and shop start".to_owned(),
            },
            stock: request.all_stock(),
            ..Side::default()
        };
        self.0.send_modify(|snapshot| {
            snapshot.is_running = true;
            snapshot.threat.clone_from(&request.threat);
            snapshot.sides = request.strategies.iter().enumerate().map(side).collect();
        });
    }

    /// Shows the schedule whose steps a visitor chooses.
    pub fn show_steps(&self, steps: Steps) {
        self.0.send_modify(|snapshot| snapshot.steps = Some(steps));
    }

    /// Shows that the run is over.
    pub fn end(&self) {
        self.0.send_modify(|snapshot| snapshot.is_running = false);
    }

    /// Changes what is shown of a side. Visitors hear of it if it is another state.
    pub fn change(&self, place: usize, change: impl FnOnce(&mut Side)) {
        self.0.send_if_modified(|snapshot| {
            let Some(side) = snapshot.sides.get_mut(place) else {
                return false;
            };
            let before = side.clone();
            change(side);
            *side != before
        });
    }

    /// Returns what is shown from now on.
    pub fn watch(&self) -> watch::Receiver<Snapshot> {
        self.0.subscribe()
    }

    /// Waits until no run goes on.
    pub async fn wait_until_over(&self) {
        // It fails only where nobody can change the state any more.
        let _ = self.0.subscribe().wait_for(|snapshot| !snapshot.is_running).await;
    }
}
