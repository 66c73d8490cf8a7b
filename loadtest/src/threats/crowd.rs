//! Many buyers at once on one instance: what a lock inside the process still survives.

use super::Threat;

pub(super) struct Crowd;

impl Threat for Crowd {
    fn name(&self) -> &'static str {
        "crowd"
    }

    fn title(&self, _instances: usize) -> String {
        "1 instance".to_owned()
    }

    fn instances(&self, counts: &[usize]) -> Vec<usize> {
        counts.iter().copied().filter(|count| *count == 1).collect()
    }
}
