//! Many tasks at once. Their connections are cut again and again, and many tasks give up while they wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use baton::{Baton, Held, Settings};
use tokio::time::{sleep, timeout};

use crate::world::{LOCK, LONG, World};

/// How often each task asks for the lock.
const TIMES: usize = 60;

/// The longest wait of a task that gives up.
const SOON_MS: u64 = 20;

/// Waits for the lock in one of three ways. None without the lock.
async fn acquired(process: &Baton) -> Option<Held> {
    let soon = Duration::from_millis(rand::random_range(0..=SOON_MS));
    // The result of a cut command may stay unknown. The task asks again.
    match rand::random_range(0..4) {
        0 => process.lock_within(LOCK, soon, None).await.ok().flatten(),
        1 => timeout(soon, process.lock(LOCK)).await.ok()?.ok(),
        _ => timeout(LONG, process.lock(LOCK))
            .await
            .expect("the lock did not come")
            .ok(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_holder_that_has_not_lost_the_lock_is_alone_and_nobody_waits_for_ever() {
    let mut world = World::start().await;
    for batch in [1, 4] {
        let highest = Arc::new(AtomicU64::new(0));
        let mut tasks = Vec::new();
        for _ in 0..3 {
            let settings = Settings {
                batch,
                ..Settings::default()
            };
            let process = world.process(settings).await;
            for _ in 0..8 {
                let (process, highest) = (process.clone(), highest.clone());
                tasks.push(tokio::spawn(async move {
                    for _ in 0..TIMES {
                        let Some(held) = acquired(&process).await else { continue };
                        let before = highest.fetch_max(held.fence(), Ordering::SeqCst);
                        assert!(
                            before < held.fence() || held.is_lost(),
                            "{} after {before}",
                            held.fence()
                        );
                        sleep(Duration::from_micros(rand::random_range(0..500))).await;
                        let now = highest.load(Ordering::SeqCst);
                        assert!(now == held.fence() || held.is_lost(), "{now} beside {}", held.fence());
                        if rand::random() {
                            let _ = held.release().await;
                        }
                    }
                }));
            }
        }
        while tasks.iter().any(|task| !task.is_finished()) {
            world.cut("pubsub").await;
            world.cut("normal").await;
            sleep(Duration::from_millis(SOON_MS)).await;
        }
        for task in tasks {
            task.await.unwrap();
        }
        world.free().await;
    }
}
