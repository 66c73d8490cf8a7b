//! `oversell bench`: what things cost, as ratios within one run.

use std::fs;
use std::sync::Arc;

use ::bench::row::{Measured, Row, write};
use ::bench::setting::Setting;
use ::bench::{lock, path, scale};
use anyhow::{Result, bail};
use app::strategies::Entry;
use chrono::Utc;
use loadtest::facts::LedgerReader;
use loadtest::result::environment::Environment;
use serde::Serialize;
use tokio::runtime::Builder;

use crate::exit::{AS_DESIGNED, INTERRUPTED};
use crate::options::{BenchOptions, MeasureOptions, What};
use crate::progress::Progress;
use crate::selection::select;
use crate::{command_line, deployment, interrupt, run_folder, say};

/// Measures, keeps the result and prints its table.
pub fn bench(options: BenchOptions) -> Result<u8> {
    match options.what {
        What::Lock(options) => kept("lock", options, one_thread(), Vec::new(), |setting| async move {
            let rows = lock::measure(&setting).await?;
            let table = lock::table(&rows);
            Ok((rows, table))
        }),
        What::Scale(options) => kept("scale", options, one_thread(), Vec::new(), |setting| async move {
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
            kept("path", options.measure, threads, needs, |setting| async move {
                let names: Vec<_> = chosen.into_iter().map(|entry| entry.name).collect();
                let rows = path::measure(setting, &names).await?;
                let table = path::table(&rows);
                Ok((rows, table))
            })
        }
    }
}

/// For the tasks that contend for locks: as many as an instance of the shop has. Where they have two, Redis has to share one
/// of two processors with them.
fn one_thread() -> Builder {
    Builder::new_current_thread()
}

/// The strategies that the names mean; without any, all that are safe.
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

/// Keeps the rows that `measure` gives on `threads` as `name`.json in a folder of their own, and prints its table. What is in
/// `needs` is started where it can be.
fn kept<P, F, M>(
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
    // Before anything is measured that could not be kept.
    let folder = run_folder::new(&options.results, &run_folder::id(Utc::now()))?;
    let quiet = options.quiet;
    let measuring = interrupt::unless_interrupted_on(threads, |stop| async move {
        tokio::select! {
            measured = measured(options, needs, measure) => measured,
            _ = stop.wait() => bail!("interrupted"),
        }
    });
    let measured = measuring.transpose();
    if !matches!(measured, Ok(Some(_))) {
        // Nothing is in it.
        let _ = fs::remove_dir(&folder);
    }
    let Some((environment, (rows, table))) = measured? else {
        say::aside("interrupted: nothing was kept");
        return Ok(INTERRUPTED);
    };
    let result = Measured {
        command: command_line::shown(),
        environment: &environment,
        rows,
    };
    let path = write(&result, &folder, name)?;
    say::result(&format!("{table}\n"))?;
    if !quiet {
        say::aside(format_args!("kept in {}", path.display()));
    }
    Ok(AS_DESIGNED)
}

/// Starts what it is measured on, and stops it again.
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
    let teller = progress.clone();
    let setting = Setting {
        local,
        repeat: options.repeat,
        begins: Box::new(move |done, all, line, what| teller.begins(done, all, line, what.to_owned())),
        says: Box::new(move |line| {
            if !quiet {
                say::aside(line);
            }
        }),
    };
    let measured = measure(setting).await;
    progress.clear();
    Ok((environment, measured?))
}
