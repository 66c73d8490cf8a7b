//! How the world turns against a strategy. One file each; [`all`] is the one list.

mod crashed_holder;
mod crowd;
mod one_buyer;
mod second_instance;

use crate::plan::Load;

/// A condition under which a strategy is tried.
pub trait Threat: Send + Sync {
    /// Its name, which is also how a strategy claims to survive it.
    fn name(&self) -> &'static str;

    /// The head of its column in a table.
    fn title(&self, instances: usize) -> String;

    /// A control is no threat: it shows that a strategy is worth a trial at all.
    fn is_control(&self) -> bool {
        false
    }

    /// At which of the instance counts it is played.
    fn instances(&self, counts: &[usize]) -> Vec<usize>;

    /// Its load, made from the one that was asked for.
    fn load(&self, asked: Load) -> Load {
        asked
    }

    /// The fault that one purchase of the first wave carries, and which one: its place in the order of sending, from 0
    /// and less than the number of buyers.
    fn fault(&self, _load: &Load) -> Option<(usize, &'static str)> {
        None
    }
}

/// Every threat, in the order of the columns.
pub fn all() -> [&'static dyn Threat; 4] {
    [
        &one_buyer::OneBuyer,
        &crowd::Crowd,
        &second_instance::SecondInstance,
        &crashed_holder::CrashedHolder,
    ]
}

/// The threat of that name.
pub fn find(name: &str) -> Option<&'static dyn Threat> {
    all().into_iter().find(|threat| threat.name() == name)
}

/// The smallest count of two or more.
fn smallest_crowd_of_instances(counts: &[usize]) -> Option<usize> {
    counts.iter().copied().filter(|count| *count >= 2).min()
}
