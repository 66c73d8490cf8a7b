//! Plays one side of a run and shows it.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Error, Result, anyhow};
use chrono::{SecondsFormat, Utc};
use loadtest::experiment::{RunObserver, Standing, WatchedRound};
use loadtest::plan::Round;
use loadtest::report::live_result;
use loadtest::result::{RoundResult, RunResult};
use loadtest::shop::response::ResponseKind;
use loadtest::trace::RawTrace;
use tokio_util::task::AbortOnDropHandle;

use super::request::RunRequest;
use super::watching::watch;
use super::{Shared, state::Side};
use crate::interrupt::Stop;
use crate::result_writer::ResultWriter;
use crate::run::{Begun, trial};
use crate::run_folder;

/// Plays the side at this place, and keeps its result in a folder.
pub async fn play(shared: &Arc<Shared>, request: &RunRequest, place: usize, stop: &Stop) {
    let played = play_one(shared, request, place, stop).await;
    let says = match played {
        Ok(folder) => format!("over; kept in {folder}"),
        Err(error) => format!("ended early: {error:#}"),
    };
    shared.state.change(place, |side| side.says = says);
}

async fn play_one(shared: &Arc<Shared>, request: &RunRequest, place: usize, stop: &Stop) -> Result<String> {
    let mut options = request.options(place).map_err(|wrong| anyhow!(wrong))?;
    options.stack = shared.stack.clone();
    options.remote = shared.remote.clone();
    let began = Utc::now();
    let observer = SideObserver {
        shared: shared.clone(),
        place,
        writer: ResultWriter::new(&shared.results, &run_folder::id(began), true)?,
        watching: Mutex::default(),
    };
    let begun = Begun {
        started_at: began.to_rfc3339_opts(SecondsFormat::Secs, true),
        command: request.command(place).join(" "),
    };
    let played = trial(options, begun, &observer, stop.clone()).await;
    observer.writer.clear();
    played?;
    Ok(observer.writer.folder().display().to_string())
}

/// Keeps the results of a side, and shows its rounds.
struct SideObserver {
    shared: Arc<Shared>,
    place: usize,
    writer: ResultWriter,
    /// The task that looks at the round that goes on.
    watching: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl SideObserver {
    fn change(&self, change: impl FnOnce(&mut Side)) {
        self.shared.state.change(self.place, change);
    }

    fn watch(&self, task: Option<AbortOnDropHandle<()>>) {
        *self.watching.lock().unwrap_or_else(PoisonError::into_inner) = task;
    }
}

impl RunObserver for SideObserver {
    fn begins(&self, round: &Round, Standing { done, all, .. }: Standing) {
        let phase = round.phase.map(|phase| format!(", {phase}")).unwrap_or_default();
        let trial = round.threat.title_on(round.instances);
        self.change(|side| {
            side.says = format!("round {} of {all}: {trial}{phase}", done + 1);
            side.stock = round.load.all_stock();
        });
    }

    fn opens(&self, open: WatchedRound) {
        let watched = watch(self.shared.clone(), self.place, open);
        self.watch(Some(AbortOnDropHandle::new(tokio::spawn(watched))));
    }

    fn begins_final_checks(&self, sales: usize) {
        self.writer.begins_final_checks(sales);
        self.change(|side| side.says = "the ledgers are read once more".to_owned());
    }

    fn leaves_open(&self, sales: &[(String, Error)]) {
        self.writer.leaves_open(sales);
    }

    fn keeps_round(&self, run: &RunResult, place: usize, round: &RoundResult) -> Result<()> {
        self.watch(None);
        self.change(|side| {
            side.left = round.facts.stock_left;
            side.recorded = round.facts.recorded;
            side.told = round.units(ResponseKind::Sold);
        });
        self.writer.keeps_round(run, place, round)
    }

    fn keeps_traces(&self, place: usize, traces: &[RawTrace]) {
        self.writer.keeps_traces(place, traces);
    }

    fn keeps_run(&self, run: &RunResult) -> Result<()> {
        self.writer.keeps_run(run)?;
        self.change(|side| side.result = Some(live_result(run)));
        Ok(())
    }
}
