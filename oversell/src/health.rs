//! `oversell health`: the health check of a container that holds nothing but this program.

use std::net::SocketAddr;

use anyhow::Result;
use stack::Ready;

use crate::exit::AS_DESIGNED;

/// Asks the instance at `address` once whether it can sell.
pub fn health(address: SocketAddr) -> Result<u8> {
    Ready::Http(address).check()?;
    Ok(AS_DESIGNED)
}
