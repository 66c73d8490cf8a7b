//! The list of all labs.

use std::sync::OnceLock;

use anyhow::{Context, Result};

use crate::lab::Lab;

/// Names each lab with its pages.
macro_rules! labs {
    ($($name:literal),+ $(,)?) => {
        &[$((
            $name,
            include_str!(concat!("../../docs/workshop/", $name, ".md")),
            include_str!(concat!("../../docs/workshop/zh-CN/", $name, ".md")),
        )),+]
    };
}

const LABS: &[(&str, &str, &str)] = labs![
    "01-no-lock",
    "02-two-instances",
    "03-setnx-and-a-crash",
    "04-setnx-then-expire",
    "05-lease-shorter-than-the-work",
    "06-someone-elses-lock",
    "07-check-then-delete",
    "08-watchdog",
    "09-fencing",
    "10-unlock-before-commit",
    "11-optimistic",
    "12-watch-on-a-hot-hash",
    "13-row-locks",
    "14-isolation",
    "15-redis-failover",
    "16-clocks",
    "17-no-answer",
    "18-dual-write",
    "19-distributed-transactions",
    "20-skipped-release",
    "21-measurement",
    "22-real-shop",
    "23-delete-the-lock",
];

/// Returns all labs, in their order.
///
/// # Errors
/// When a page is not as the others are. A test says so before.
pub fn all() -> Result<&'static [Lab]> {
    static ALL: OnceLock<Vec<Lab>> = OnceLock::new();
    let read = |(name, english, chinese): &(&'static str, &str, &str)| {
        Lab::parse(name, english, chinese).with_context(|| format!("docs/workshop/{name}.md"))
    };
    match ALL.get() {
        Some(all) => Ok(all),
        None => {
            let labs: Result<Vec<_>> = LABS.iter().map(read).collect();
            let labs = labs?;
            Ok(ALL.get_or_init(|| labs))
        }
    }
}
