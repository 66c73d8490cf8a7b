//! Many holders and waiters at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use baton::Settings;

use crate::world::{World, lock, patient};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_two_holders_are_inside_at_once_and_fences_rise() {
    let mut world = World::start().await;
    for batch in [1, 4] {
        let inside = Arc::new(AtomicU64::new(0));
        let highest = Arc::new(AtomicU64::new(0));
        let mut tasks = Vec::new();
        for _ in 0..3 {
            let process = world.process(Settings { batch, ..patient() }).await;
            for _ in 0..6 {
                let (process, inside, highest) = (process.clone(), inside.clone(), highest.clone());
                tasks.push(tokio::spawn(async move {
                    for _ in 0..40 {
                        let held = lock(&process).await;
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "another holder is inside");
                        let before = highest.swap(held.fence(), Ordering::SeqCst);
                        assert!(held.fence() > before, "{} after {before}", held.fence());
                        tokio::task::yield_now().await;
                        inside.fetch_sub(1, Ordering::SeqCst);
                        held.release().await.unwrap();
                    }
                }));
            }
        }
        for task in tasks {
            task.await.unwrap();
        }
        world.free().await;
        world.queued(0).await;
    }
}
