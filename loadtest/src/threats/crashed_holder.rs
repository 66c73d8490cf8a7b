//! An instance is killed (SIGKILL, by itself) after it has taken its turn and before it writes the sale, while others
//! buy. It comes back at once; what it held does not come back by itself.

use super::{Threat, smallest_crowd_of_instances};
use crate::plan::Load;

/// Buyers of a crash: each of them may have to wait out a lease.
const BUYERS: usize = 16;

pub(super) struct CrashedHolder;

impl Threat for CrashedHolder {
    fn name(&self) -> &'static str {
        "crashed-holder"
    }

    fn title(&self, _instances: usize) -> String {
        "holder crashes".to_owned()
    }

    fn instances(&self, counts: &[usize]) -> Vec<usize> {
        smallest_crowd_of_instances(counts).into_iter().collect()
    }

    /// Two waves: the first has the crash in it and cannot sell everything, the second wants more than is left.
    fn load(&self, asked: Load) -> Load {
        let buyers = asked.buyers.min(BUYERS);
        Load {
            buyers,
            requests: buyers * 2,
            stock: (buyers + buyers / 4) as i64 * i64::from(asked.quantity),
            ..asked
        }
    }

    fn fault(&self, load: &Load) -> Option<(usize, &'static str)> {
        Some((load.buyers / 2, "crash@write"))
    }
}
