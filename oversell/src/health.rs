//! `oversell health`: the health check of a container that holds nothing but this program.

use anyhow::Result;
use loadtest::shop::{client, is_ready};

use crate::exit::{AS_DESIGNED, UNREACHABLE};

/// Asks once.
pub fn health(url: &str) -> Result<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let is_ready = runtime.block_on(is_ready(&client()?, url.trim_end_matches('/')));
    Ok(if is_ready { AS_DESIGNED } else { UNREACHABLE })
}
