//! TCP ports for programs that must keep theirs over a restart.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;

use anyhow::{Context, Result, bail};

/// Below this lie the ports of well-known services.
const LOWEST: u16 = 10_000;
const TRIES_PER_PORT: usize = 100;

/// Returns different ports that are free now, outside the range from which the kernel takes ports for outgoing connections.
/// From that range any client could take the port of an instance while it is down.
///
/// # Errors
///
/// When nearly all ports are taken.
pub(crate) fn free(count: usize) -> Result<Vec<u16>> {
    let range = below_ephemeral();
    // All are held until the last is found, so that no port is given twice.
    let mut held = Vec::with_capacity(count);
    for _ in 0..count * TRIES_PER_PORT {
        if held.len() == count {
            break;
        }
        held.extend(TcpListener::bind((Ipv4Addr::LOCALHOST, random_in(&range))));
    }
    if held.len() < count {
        bail!("could not find {count} free TCP ports in {range:?}; `ss -ltn` lists what listens");
    }
    let ports = held
        .iter()
        .map(|listener| listener.local_addr().map(|address| address.port()));
    ports
        .collect::<Result<_, _>>()
        .context("could not read the port of a listener")
}

/// Checks that a requested port can be used.
///
/// # Errors
///
/// When it is taken or not allowed.
pub(crate) fn require_free(port: u16) -> Result<()> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .map(drop)
        .with_context(|| format!("port {port} cannot be used; choose another, or find its owner with `ss -ltnp`"))
}

fn below_ephemeral() -> Range<u16> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let first = text.split_whitespace().next().and_then(|first| first.parse().ok());
    match first {
        Some(first) if first > LOWEST + 1000 => LOWEST..first,
        // Linux's default, for a system that does not say or leaves too little room.
        _ => LOWEST..32_768,
    }
}

fn random_in(range: &Range<u16>) -> u16 {
    // Every new state of the standard hasher is seeded by the system, which is random enough to avoid neighbours.
    let random = RandomState::new().build_hasher().finish();
    let offset = random % u64::from(range.end - range.start);
    range.start + u16::try_from(offset).expect("the remainder is smaller than a difference of two u16")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_differ_and_lie_outside_the_range_of_outgoing_connections() {
        let mut ports = free(50).unwrap();
        let range = below_ephemeral();
        assert!(ports.iter().all(|port| range.contains(port)));
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 50);
    }
}
