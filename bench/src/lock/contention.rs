//! Many tasks contend for one lock, for some time.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use tokio::sync::Barrier;
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::commands::CommandCounter;
use super::contenders::{Held, Kind, Lock};
use super::critical_section::CriticalSection;
use super::leftovers;
use super::seen::{Seen, TaskSeen};

/// How long whoever is asked to end may take: more than any lock takes to be released.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// How hard, how long and for what is contended.
#[derive(Clone, Copy, Debug)]
pub struct Contention {
    /// Instances, each with connections of its own.
    pub instances: usize,
    /// Tasks of each instance.
    pub tasks: usize,
    /// Items with a lock of their own, of which a task draws one each time; at least one.
    pub items: usize,
    /// How long a task stays away after each release.
    pub think: Duration,
    /// How long they come.
    pub lasts: Duration,
    /// How long those may still be served who wait then. Whoever is sent away has cost commands and got nothing for them.
    pub lingers: Duration,
}

/// Lets a lock be contended for at `url`. Commands are counted at `counter`, which is another way to the same Redis.
///
/// # Errors
/// When Redis does not answer.
pub async fn contend(kind: &dyn Kind, contention: Contention, url: &str, counter: &mut CommandCounter) -> Result<Seen> {
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
    let tasks = ended.await.context("a lock did not come back")?;
    let commands = counter.so_far().await? - before;
    let tasks = tasks.into_iter().collect::<Result<Vec<TaskSeen>>>()?;
    Ok(Seen {
        lasted: contention.lasts,
        tasks,
        handoffs: items.iter().flat_map(|item| item.section.handoffs()).collect(),
        violations: kind
            .is_lock()
            .then(|| items.iter().map(|item| item.section.violations()).sum()),
        commands,
    })
}

/// An instance that has had a lock of its own: by that its connections are made, and scripts are loaded.
async fn connect(kind: &dyn Kind, url: &str) -> Result<Arc<dyn Lock>> {
    let lock = kind.connect(url).await?;
    lock.lock(&leftovers::new_name()).await?.release().await?;
    Ok(lock)
}

/// What can be locked.
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

    /// It gives way once, so that another one who is let in by mistake can be seen.
    async fn inside(&self, held: &dyn Held) {
        self.section.enter(held.fence());
        yield_now().await;
        self.section.leave();
    }
}

/// One of those who contend.
struct Task {
    lock: Arc<dyn Lock>,
    items: Arc<[Item]>,
    contention: Contention,
}

impl Task {
    async fn contend(self) -> Result<TaskSeen> {
        let ends = Instant::now() + self.contention.lasts;
        let mut seen = TaskSeen::default();
        while Instant::now() < ends {
            let item = &self.items[rand::random_range(0..self.items.len())];
            let came = Instant::now();
            let waiting = item.section.wait();
            let locked = timeout_at(ends + self.contention.lingers, self.lock.lock(&item.name)).await;
            drop(waiting);
            let now = Instant::now();
            // Who was sent away has waited, too.
            seen.longest_wait = seen.longest_wait.max(now - came);
            let Ok(held) = locked else { break };
            let held = held?;
            seen.acquisitions += 1;
            seen.in_time += u64::from(now < ends);
            item.inside(&*held).await;
            held.release().await?;
            if !self.contention.think.is_zero() {
                sleep_until((Instant::now() + self.contention.think).min(ends)).await;
            }
        }
        Ok(seen)
    }
}
