//! Who stands around each act sees all of them.

use std::sync::{Arc, Mutex};

use baton::{Act, Around, Going, Settings};

use crate::world::{LOCK, LONG, World, patient};

#[derive(Default)]
pub struct Seen(Mutex<Vec<(Act, String)>>);

impl Around for Seen {
    fn carry<'a>(&'a self, act: Act, _key: &'a str, going: Going<'a>) -> Going<'a> {
        Box::pin(async move {
            let said = going.await;
            self.0.lock().unwrap().push((act, said.words().to_owned()));
            said
        })
    }
}

impl Seen {
    pub fn acts(&self) -> Vec<Act> {
        self.0.lock().unwrap().iter().map(|(act, _)| *act).collect()
    }
}

#[tokio::test]
async fn what_is_done_for_a_holder_and_what_is_done_beside_are_seen_apart() {
    let world = World::start().await;
    let (beside, own) = (Arc::new(Seen::default()), Seen::default());
    let settings = Settings {
        around: Some(beside.clone()),
        ..patient()
    };
    let process = world.process(settings).await;
    let held = process.lock_within(LOCK, LONG, Some(&own)).await.unwrap().unwrap();
    held.release_around(&own).await.unwrap();
    assert_eq!(own.acts(), [Act::Acquire, Act::Release]);
    assert_eq!(beside.acts(), [Act::Subscribe]);
    let words: Vec<_> = own.0.lock().unwrap().iter().map(|(_, words)| words.clone()).collect();
    assert!(words[0].starts_with("taken, fence "), "{words:?}");
    assert_eq!(words[1], "released");
}
