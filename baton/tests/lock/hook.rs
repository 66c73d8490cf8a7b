//! A hook sees each operation.

use std::sync::{Arc, Mutex};

use baton::{Hook, Operation, PendingOperation, Settings};

use crate::world::{LOCK, LONG, World, patient};

#[derive(Default)]
pub struct Recorder(Mutex<Vec<(Operation, String)>>);

impl Hook for Recorder {
    fn run<'a>(&'a self, operation: Operation, _key: &'a str, pending: PendingOperation<'a>) -> PendingOperation<'a> {
        Box::pin(async move {
            let summary = pending.await;
            self.0.lock().unwrap().push((operation, summary.text().to_owned()));
            summary
        })
    }
}

impl Recorder {
    pub fn operations(&self) -> Vec<Operation> {
        self.0.lock().unwrap().iter().map(|(operation, _)| *operation).collect()
    }
}

#[tokio::test]
async fn the_operations_of_a_holder_and_those_in_the_background_have_separate_hooks() {
    let world = World::start().await;
    let (background, own) = (Arc::new(Recorder::default()), Recorder::default());
    let settings = Settings {
        hook: Some(background.clone()),
        ..patient()
    };
    let process = world.process(settings).await;
    let held = process.lock_within(LOCK, LONG, Some(&own)).await.unwrap().unwrap();
    held.release_observed(&own).await.unwrap();
    assert_eq!(own.operations(), [Operation::Acquire, Operation::Release]);
    assert_eq!(background.operations(), [Operation::Subscribe]);
    let words: Vec<_> = own.0.lock().unwrap().iter().map(|(_, words)| words.clone()).collect();
    assert!(words[0].starts_with("taken, fence "), "{words:?}");
    assert_eq!(words[1], "released");
}
