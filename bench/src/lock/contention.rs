//! One run: many tasks contend for locks for some time.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use tokio::sync::Barrier;
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::commands::CommandCounter;
use super::critical_section::CriticalSection;
use super::leftovers;
use super::lock_kind::{Held, Lock, LockKind};
use super::sample::{Sample, TaskSample};

/// How long the tasks may take to end: longer than any release.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// The shape of one run.
#[derive(Clone, Copy, Debug)]
pub struct Contention {
    /// The number of instances, each with its own connections.
    pub instances: usize,
    /// The number of tasks of each instance.
    pub tasks: usize,
    /// The number of items, at least one. Each has its own lock, and a task draws one at random each time.
    pub items: usize,
    /// The pause of a task after each release.
    pub think: Duration,
    /// How long tasks ask for locks.
    pub lasts: Duration,
    /// How long tasks that wait at the end may still get the lock. A task that gives up has sent commands for nothing.
    pub lingers: Duration,
}

/// Runs one contention at `url`. `counter` counts commands over another connection to the same Redis.
///
/// # Errors
/// When Redis does not answer.
pub async fn contend(
    kind: &dyn LockKind,
    contention: Contention,
    url: &str,
    counter: &mut CommandCounter,
) -> Result<Sample> {
    let name = leftovers::new_name();
    let locks = try_join_all((0..contention.instances).map(|_| connect(kind, url))).await?;
    let items: Arc<[Item]> = (0..contention.items).map(|number| Item::new(&name, number)).collect();
    let start = Arc::new(Barrier::new(contention.instances * contention.tasks + 1));
    let mut tasks = JoinSet::new();
    for lock in &locks {
        for _ in 0..contention.tasks {
            let task = Task {
                lock: lock.clone(),
                items: items.clone(),
                contention,
            };
            let start = start.clone();
            tasks.spawn(async move {
                start.wait().await;
                task.contend().await
            });
        }
    }
    let before = counter.so_far().await?;
    start.wait().await;
    let ended = timeout(contention.lasts + contention.lingers + ENDS_WITHIN, tasks.join_all());
    let tasks = ended.await.context("a task did not end in time")?;
    let commands = counter.so_far().await? - before;
    let tasks = tasks.into_iter().collect::<Result<Vec<TaskSample>>>()?;
    Ok(Sample {
        lasted: contention.lasts,
        tasks,
        handoffs: items.iter().flat_map(|item| item.section.handoffs()).collect(),
        violations: kind
            .is_lock()
            .then(|| items.iter().map(|item| item.section.violations()).sum()),
        commands,
    })
}

/// Makes an instance and takes an unshared lock once: that opens its connections and loads the scripts.
async fn connect(kind: &dyn LockKind, url: &str) -> Result<Arc<dyn Lock>> {
    let lock = kind.connect(url).await?;
    lock.lock(&leftovers::new_name()).await?.release().await?;
    Ok(lock)
}

/// An item with its own lock.
struct Item {
    name: String,
    section: CriticalSection,
}

impl Item {
    fn new(run: &str, number: usize) -> Self {
        Self {
            name: format!("{run}-{number}"),
            section: CriticalSection::default(),
        }
    }

    /// Enters and leaves the section. It yields in between, so that a second task that a broken lock lets in is seen.
    async fn inside(&self, held: &dyn Held) {
        self.section.enter(held.fence());
        yield_now().await;
        self.section.leave();
    }
}

struct Task {
    lock: Arc<dyn Lock>,
    items: Arc<[Item]>,
    contention: Contention,
}

impl Task {
    async fn contend(self) -> Result<TaskSample> {
        let ends = Instant::now() + self.contention.lasts;
        let mut sample = TaskSample::default();
        while Instant::now() < ends {
            let item = &self.items[rand::random_range(0..self.items.len())];
            let asked = Instant::now();
            let waiting = item.section.wait();
            let locked = timeout_at(ends + self.contention.lingers, self.lock.lock(&item.name)).await;
            drop(waiting);
            let now = Instant::now();
            // A wait that failed counts, too.
            sample.longest_wait = sample.longest_wait.max(now - asked);
            let Ok(held) = locked else { break };
            let held = held?;
            sample.acquisitions += 1;
            sample.in_time += u64::from(now < ends);
            item.inside(&*held).await;
            held.release().await?;
            if !self.contention.think.is_zero() {
                sleep_until((Instant::now() + self.contention.think).min(ends)).await;
            }
        }
        Ok(sample)
    }
}
