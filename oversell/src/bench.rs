//! `oversell bench`: measures what locks and purchases cost, as ratios within one run.

use std::fs;
use std::sync::Arc;

use ::bench::row::{Measured, Row, write};
use ::bench::setting::Setting;
use ::bench::{lock, path, scale};
use anyhow::{Result, bail};
use app::strategies::Entry;
use chrono::Utc;
use loadtest::experiment::Standing;
use loadtest::facts::LedgerReader;
use loadtest::result::environment::Environment;
use serde::Serialize;
use tokio::runtime::Builder;

use crate::exit::{AS_DESIGNED, INTERRUPTED};
use crate::options::{BenchOptions, MeasureOptions, What};
use crate::progress::Progress;
use crate::selection::select;
use crate::{command_line, console, deployment, interrupt, run_folder};

/// Measures, saves the result and prints its table.
pub fn bench(options: BenchOptions) -> Result<u8> {
    match options.what {
        What::Lock(options) => save("lock", options, one_thread(), Vec::new(), |setting| async move {
            let rows = lock::measure(&setting).await?;
            let table = lock::table(&rows);
            Ok((rows, table))
        }),
        What::Scale(options) => save("scale", options, one_thread(), Vec::new(), |setting| async move {
            let rows = scale::measure(&setting).await?;
            let table = lock::table(&rows);
            Ok((rows, table))
        }),
        What::Path(options) => {
            let chosen = chosen(&options.strategy)?;
            let mut needs: Vec<_> = chosen.iter().flat_map(|entry| entry.needs.iter().copied()).collect();
            needs.sort_unstable();
            needs.dedup();
            let threads = Builder::new_multi_thread();
            save("path", options.measure, threads, needs, |setting| async move {
                let names: Vec<_> = chosen.into_iter().map(|entry| entry.name).collect();
                let rows = path::measure(setting, &names).await?;
                let table = path::table(&rows);
                Ok((rows, table))
            })
        }
    }
}

/// One thread for the tasks that contend for locks, as in an instance of the shop. With two, they and Redis would have
/// to share two processors.
fn one_thread() -> Builder {
    Builder::new_current_thread()
}

/// Returns the named strategies, or all safe ones if no name is given.
fn chosen(asked: &[String]) -> Result<Vec<Entry>> {
    let mut all = Entry::all();
    if asked.is_empty() {
        all.retain(|entry| path::is_safe(&entry.claims()));
        return Ok(all);
    }
    let names: Vec<String> = all.iter().map(|entry| entry.name.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let selected = select("strategy", asked, &names)?;
    all.retain(|entry| selected.contains(&entry.name.as_str()));
    Ok(all)
}

/// Runs `measure` on `threads`, saves its rows as `name`.json in a new folder and prints its table. Starts the services
/// in `needs` if it can.
fn save<P, F, M>(
    name: &str,
    options: MeasureOptions,
    threads: Builder,
    needs: Vec<&'static str>,
    measure: impl FnOnce(Setting) -> M + Send + 'static,
) -> Result<u8>
where
    P: Serialize + Send + 'static,
    F: Serialize + Send + 'static,
    M: Future<Output = Result<(Vec<Row<P, F>>, String)>> + Send,
{
    // Before the measurement: it is of no use if the result cannot be saved.
    let folder = run_folder::new(&options.results, &run_folder::id(Utc::now()))?;
    let quiet = options.quiet;
    let measuring = interrupt::unless_interrupted_on(threads, interrupt::CLEAN_UP_WITHIN, |stop| async move {
        tokio::select! {
            measured = measured(options, needs, measure) => measured,
            _ = stop.wait() => bail!("interrupted"),
        }
    });
    let measured = measuring.transpose();
    if !matches!(measured, Ok(Some(_))) {
        // The folder is empty.
        let _ = fs::remove_dir(&folder);
    }
    let Some((environment, (rows, table))) = measured? else {
        console::note("interrupted: no result was saved");
        return Ok(INTERRUPTED);
    };
    let result = Measured {
        command: command_line::shown(),
        environment: &environment,
        rows,
    };
    let path = write(&result, &folder, name)?;
    console::print(&format!("{table}\n"))?;
    if !quiet {
        console::note(format_args!("saved in {}", path.display()));
    }
    Ok(AS_DESIGNED)
}

/// Starts the servers, measures, and stops them.
async fn measured<T, M>(
    options: MeasureOptions,
    needs: Vec<&'static str>,
    measure: impl FnOnce(Setting) -> M,
) -> Result<(Environment, T)>
where
    M: Future<Output = Result<T>>,
{
    let local = deployment::local(options.stack, needs).await?;
    let versions = LedgerReader::connect(&local.urls).await?.versions().await?;
    let nginx = stack::find(stack::ServerKind::Nginx).map(|nginx| nginx.version());
    let environment = Environment::here(versions, nginx.transpose()?);
    let quiet = options.quiet;
    let progress = Arc::new(Progress::new(quiet));
    let shown = progress.clone();
    let setting = Setting {
        local,
        repeat: options.repeat,
        progress: Box::new(move |done, all, line, run| shown.begins(Standing::even(done, all), line, run.to_owned())),
        report: Box::new(move |line| {
            if !quiet {
                console::note(line);
            }
        }),
    };
    let measured = measure(setting).await;
    progress.clear();
    Ok((environment, measured?))
}
