//! TCP ports for programs that must keep theirs over a restart.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::ops::Range;
use std::os::fd::OwnedFd;

use anyhow::{Context, Result, bail};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};

use crate::loopback::require_up;

/// Below this lie the ports of well-known services.
const LOWEST: u16 = 10_000;
const TRIES_PER_PORT: usize = 100;

/// Ports that no other reservation takes while this one exists, also while no program listens there. Only a program that may
/// reuse an address can listen there: each of the servers does.
#[derive(Debug, Default)]
pub(crate) struct ReservedPorts {
    /// Each port, with a socket that is bound to it and never listens.
    held: Vec<(u16, OwnedFd)>,
}

impl ReservedPorts {
    /// Reserves ports outside the range from which the kernel takes ports for outgoing connections. From that range any
    /// client could take the port of an instance while it is down.
    ///
    /// # Errors
    ///
    /// When nearly all ports are taken, or the loopback interface is down.
    pub(crate) fn new(count: usize) -> Result<ReservedPorts> {
        require_up(Ipv4Addr::LOCALHOST.into())?;
        let range = below_ephemeral();
        let mut reserved = ReservedPorts::default();
        for _ in 0..count * TRIES_PER_PORT {
            if reserved.held.len() == count {
                break;
            }
            let port = random_in(&range);
            reserved.held.extend(hold(port).map(|socket| (port, socket)));
        }
        if reserved.held.len() < count {
            bail!("could not find {count} free TCP ports in {range:?}; `ss -ltn` lists what listens");
        }
        Ok(reserved)
    }

    /// Returns the ports, each one different.
    pub(crate) fn all(&self) -> Vec<u16> {
        self.held.iter().map(|(port, _)| *port).collect()
    }
}

/// Binds a socket to a port that no other socket is bound to. From then on a socket that may reuse an address can be bound
/// there, too.
fn hold(port: u16) -> rustix::io::Result<OwnedFd> {
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    Ok(socket)
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
    fn reserved_ports_differ_and_lie_outside_the_range_of_outgoing_connections() {
        let reserved = ReservedPorts::new(50).unwrap();
        let range = below_ephemeral();
        let mut ports = reserved.all();
        assert!(ports.iter().all(|port| range.contains(port)));
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 50);
    }

    #[test]
    fn a_reserved_port_is_not_given_again_before_during_and_after_the_run_of_a_listener() {
        let reserved = ReservedPorts::new(1).unwrap();
        let port = reserved.all()[0];
        assert!(hold(port).is_err(), "nobody listened yet");
        for _ in 0..2 {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
            assert!(hold(port).is_err(), "a program listened");
            drop(listener);
            assert!(hold(port).is_err(), "a program had listened");
        }
        drop(reserved);
        hold(port).unwrap();
    }

    #[test]
    fn a_port_where_a_program_listens_cannot_be_reserved() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(hold(listener.local_addr().unwrap().port()).is_err());
    }
}
