//! The loopback interface, by which the processes of this machine reach each other. In a network namespace of its own, as under
//! `unshare -n`, it is down at first.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use anyhow::{Result, bail};

/// Checks that an address can be reached as far as it is one of the loopback interface. Without this check a program there seems
/// never to be ready, or its port to be taken.
///
/// # Errors
///
/// When the address is one of the loopback interface, and that is down.
pub fn require_up(address: IpAddr) -> Result<()> {
    // To connect a UDP socket looks for the route, and sends nothing.
    let routed = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| socket.connect((Ipv4Addr::LOCALHOST, 9)));
    let is_down = |kind| matches!(kind, ErrorKind::NetworkUnreachable | ErrorKind::AddrNotAvailable);
    if address.is_loopback() && routed.is_err_and(|error| is_down(error.kind())) {
        bail!("the loopback interface is down, so nothing reaches {address}: bring it up with `ip link set lo up`");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_whose_tests_run_has_a_loopback_interface_that_is_up() {
        require_up(Ipv4Addr::LOCALHOST.into()).unwrap();
    }
}
