//! The `Lock` of redis-py with its defaults, in a Python process: it polls every 100 ms.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use stack::Folder;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::super::commands::CommandCounter;
use super::super::contender::Contender;
use super::super::contention::Contention;
use super::super::sample::{Sample, TaskSample};

const PROGRAM: &str = include_str!("redis_py.py");

/// The package to download if Python lacks it.
const PACKAGE: &str = "redis==8.1.0";

/// How long Python may take to connect, and to end after the run.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// The lock, and the Python that runs it once it is found.
#[derive(Default)]
pub struct RedisPy(OnceCell<Python>);

struct Python {
    program: std::path::PathBuf,
    /// The folder of the download, removed on drop.
    _folder: Option<Folder>,
}

#[derive(Deserialize)]
struct PythonReport {
    tasks: Vec<TaskReport>,
    handoffs_s: Vec<f64>,
    violations: u64,
}

#[derive(Deserialize)]
struct TaskReport {
    acquisitions: u64,
    in_time: u64,
    longest_wait_s: f64,
}

#[async_trait]
impl Contender for RedisPy {
    fn name(&self) -> &str {
        "redis-py"
    }

    fn sends(&self) -> &'static [&'static str] {
        &["set", "evalsha"]
    }

    async fn prepare(&self, fetch: bool) -> Result<()> {
        self.0.get_or_try_init(|| Python::find(fetch)).await?;
        Ok(())
    }

    async fn contend(&self, contention: Contention, url: &str, counter: &mut CommandCounter) -> Result<Sample> {
        let python = self.0.get().context("prepare was not called")?;
        let arguments = json!({
            // The scheme of redis-py.
            "url": url.replacen("redis+unix://", "unix://", 1),
            "instances": contention.instances,
            "tasks": contention.tasks,
            "think_s": contention.think.as_secs_f64(),
            "lasts_s": contention.lasts.as_secs_f64(),
            "lingers_s": contention.lingers.as_secs_f64(),
        });
        let mut child = Command::new(&python.program)
            .args(["-c", PROGRAM, &arguments.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut stdin = child.stdin.take().context("Python has no stdin")?;
        let mut lines = BufReader::new(child.stdout.take().context("Python has no stdout")?).lines();
        let ready = timeout(ANSWERS_WITHIN, lines.next_line())
            .await
            .context("redis-py did not connect")??;
        ensure!(ready.is_some_and(|line| line == "ready"), "redis-py did not connect");
        let before = counter.so_far().await?;
        stdin.write_all(b"begin\n").await?;
        let limit = contention.lasts + contention.lingers + ANSWERS_WITHIN;
        let report = timeout(limit, lines.next_line())
            .await
            .context("redis-py did not end in time")??;
        let commands = counter.so_far().await? - before;
        let report: PythonReport = serde_json::from_str(&report.context("redis-py ended early")?)?;
        report.sample(contention.lasts, commands)
    }
}

impl PythonReport {
    fn sample(self, lasted: Duration, commands: u64) -> Result<Sample> {
        let task = |task: TaskReport| {
            Ok(TaskSample {
                acquisitions: task.acquisitions,
                in_time: task.in_time,
                longest_wait: Duration::try_from_secs_f64(task.longest_wait_s)?,
            })
        };
        let handoffs = self.handoffs_s.into_iter().map(Duration::try_from_secs_f64);
        Ok(Sample {
            lasted,
            tasks: self.tasks.into_iter().map(task).collect::<Result<_>>()?,
            handoffs: handoffs.collect::<Result<_, _>>()?,
            violations: Some(self.violations),
            commands,
        })
    }
}

impl Python {
    /// Finds the Python on PATH if it has redis-py. Otherwise it makes a virtual environment and downloads redis-py.
    async fn find(fetch: bool) -> Result<Self> {
        if run(Command::new("python3").args(["-c", "import redis"])).await.is_ok() {
            return Ok(Self {
                program: "python3".into(),
                _folder: None,
            });
        }
        if !fetch {
            bail!("python3 with redis-py is not installed, and --no-fetch forbids the download");
        }
        let folder = Folder::new()?;
        let venv = folder.path().join("venv");
        run(Command::new("python3").args(["-m", "venv"]).arg(&venv)).await?;
        run(Command::new(venv.join("bin/pip")).args(["install", "--quiet", PACKAGE])).await?;
        Ok(Self {
            program: venv.join("bin/python"),
            _folder: Some(folder),
        })
    }
}

async fn run(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.trim().lines().last().unwrap_or_default();
    ensure!(output.status.success(), "{last}");
    Ok(())
}
