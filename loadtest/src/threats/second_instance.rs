//! Many buyers at once, spread over two or more instances: what no lock inside a process survives.

use super::Threat;

pub(super) struct SecondInstance;

impl Threat for SecondInstance {
    fn name(&self) -> &'static str {
        "second-instance"
    }

    fn title(&self, instances: usize) -> String {
        format!("{instances} instances")
    }

    fn instances(&self, counts: &[usize]) -> Vec<usize> {
        counts.iter().copied().filter(|count| *count >= 2).collect()
    }
}
