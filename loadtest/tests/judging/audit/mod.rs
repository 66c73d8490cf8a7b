//! The findings of the judge.

mod numbers;
mod orders;
mod selling;
