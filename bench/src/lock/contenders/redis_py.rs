//! redis-py's `Lock` with its defaults, in a Python of its own: asks every 100 ms.

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
use super::super::contention::Contention;
use super::super::seen::{Seen, TaskSeen};
use super::Contender;

const PROGRAM: &str = include_str!("redis_py.py");

/// What is fetched where it is not there.
const PACKAGE: &str = "redis==8.1.0";

/// How long Python may take to connect, and to end when it is over.
const ANSWERS_WITHIN: Duration = Duration::from_secs(30);

/// The lock, once a Python is found that has it.
#[derive(Default)]
pub struct RedisPy(OnceCell<Python>);

/// A Python that has redis-py.
struct Python {
    program: std::path::PathBuf,
    /// Where it was fetched to; it goes with it.
    _folder: Option<Folder>,
}

/// What the program says at the end.
#[derive(Deserialize)]
struct Said {
    tasks: Vec<SaidOfTask>,
    handoffs_s: Vec<f64>,
    violations: u64,
}

#[derive(Deserialize)]
struct SaidOfTask {
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

    async fn contend(&self, contention: Contention, url: &str, counter: &mut CommandCounter) -> Result<Seen> {
        let python = self.0.get().context("no Python was looked for")?;
        let told = json!({
            // As redis-py writes it.
            "url": url.replacen("redis+unix://", "unix://", 1),
            "instances": contention.instances,
            "tasks": contention.tasks,
            "think_s": contention.think.as_secs_f64(),
            "lasts_s": contention.lasts.as_secs_f64(),
            "lingers_s": contention.lingers.as_secs_f64(),
        });
        let mut child = Command::new(&python.program)
            .args(["-c", PROGRAM, &told.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut stdin = child.stdin.take().context("a child without stdin")?;
        let mut lines = BufReader::new(child.stdout.take().context("a child without stdout")?).lines();
        let ready = timeout(ANSWERS_WITHIN, lines.next_line())
            .await
            .context("redis-py did not connect")??;
        ensure!(ready.is_some_and(|line| line == "ready"), "redis-py did not connect");
        let before = counter.so_far().await?;
        stdin.write_all(b"begin\n").await?;
        let limit = contention.lasts + contention.lingers + ANSWERS_WITHIN;
        let said = timeout(limit, lines.next_line())
            .await
            .context("redis-py did not come back")??;
        let commands = counter.so_far().await? - before;
        let said: Said = serde_json::from_str(&said.context("redis-py ended early")?)?;
        said.seen(contention.lasts, commands)
    }
}

impl Said {
    fn seen(self, lasted: Duration, commands: u64) -> Result<Seen> {
        let task = |said: SaidOfTask| {
            Ok(TaskSeen {
                acquisitions: said.acquisitions,
                in_time: said.in_time,
                longest_wait: Duration::try_from_secs_f64(said.longest_wait_s)?,
            })
        };
        let handoffs = self.handoffs_s.into_iter().map(Duration::try_from_secs_f64);
        Ok(Seen {
            lasted,
            tasks: self.tasks.into_iter().map(task).collect::<Result<_>>()?,
            handoffs: handoffs.collect::<Result<_, _>>()?,
            violations: Some(self.violations),
            commands,
        })
    }
}

impl Python {
    /// The one on PATH if it has redis-py, else one in a folder of its own, for which redis-py is fetched.
    async fn find(fetch: bool) -> Result<Self> {
        if done(Command::new("python3").args(["-c", "import redis"])).await.is_ok() {
            return Ok(Self {
                program: "python3".into(),
                _folder: None,
            });
        }
        if !fetch {
            bail!("python3 with redis-py is not here, and nothing may be fetched");
        }
        let folder = Folder::new()?;
        let place = folder.path().join("venv");
        done(Command::new("python3").args(["-m", "venv"]).arg(&place)).await?;
        done(Command::new(place.join("bin/pip")).args(["install", "--quiet", PACKAGE])).await?;
        Ok(Self {
            program: place.join("bin/python"),
            _folder: Some(folder),
        })
    }
}

/// Runs it to its end.
async fn done(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).kill_on_drop(true).output().await?;
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.trim().lines().last().unwrap_or_default();
    ensure!(output.status.success(), "{last}");
    Ok(())
}
