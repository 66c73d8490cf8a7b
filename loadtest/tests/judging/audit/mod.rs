//! What the judge finds.

mod numbers;
mod orders;
mod selling;
