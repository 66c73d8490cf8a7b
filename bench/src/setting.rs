//! On what something is measured.

use loadtest::deployment::Local;

/// Is told how many are done of how many, in a line what belongs together, and what begins.
pub type Begins = dyn Fn(usize, usize, &str, &str) + Send + Sync;

/// On what it is measured, how often, and who is told how far it has come.
pub struct Setting {
    /// The stores, and the instances that can be started.
    pub local: Local,
    /// How many runs each figure is the median of, at least one.
    pub repeat: u32,
    /// Who is told before each run.
    pub begins: Box<Begins>,
    /// Who is told, in a line, what is left out and why.
    pub says: Box<dyn Fn(&str) + Send + Sync>,
}
