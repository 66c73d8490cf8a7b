//! Reads the ledgers and traces of a round that goes on, and shows them.

use std::sync::Arc;
use std::time::Duration;

use loadtest::experiment::WatchedRound;
use tokio::time::sleep;

use super::Shared;

/// The pause between two looks at the ledgers and at what buyers were told.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// The pause between two looks at the traces, which are longer.
const TRACES_EVERY: Duration = Duration::from_millis(500);

/// Watches a round until it is dropped. A store that does not answer, or an instance that stands still, holds up only what
/// is read from it.
pub async fn watch(shared: Arc<Shared>, place: usize, open: WatchedRound) {
    let told = async {
        loop {
            shared.state.change(place, |side| side.told = open.told());
            sleep(LOOK_EVERY).await;
        }
    };
    let ledgers = async {
        loop {
            if let Ok(ledgers) = open.ledgers().await {
                shared.state.change(place, |side| {
                    side.left = ledgers.left;
                    side.recorded = ledgers.recorded;
                });
            }
            sleep(LOOK_EVERY).await;
        }
    };
    let overlaps = async {
        loop {
            let overlaps = open.overlaps().await;
            shared
                .state
                .change(place, |side| side.overlaps = overlaps.or(side.overlaps));
            sleep(TRACES_EVERY).await;
        }
    };
    tokio::join!(told, ledgers, overlaps);
}
