//! `oversell health`: the health check of a container that holds nothing but this program.

use std::net::SocketAddr;

use anyhow::Result;
use stack::Ready;

use crate::exit::AS_DESIGNED;

/// Asks once whether the instance at `address` can sell.
pub fn health(address: SocketAddr) -> Result<u8> {
    Ready::Http(address).check()?;
    Ok(AS_DESIGNED)
}
