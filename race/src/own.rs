//! Whether a shop is on this machine or in a private network. Any other shop has to be the user's own.

use std::net::IpAddr;

use url::{Host, Url};

/// Returns whether every address of the URL's host is of this machine or private. A name that has no address is not.
pub async fn is_private(url: &Url) -> bool {
    let port = url.port_or_known_default().unwrap_or_default();
    match url.host() {
        Some(Host::Ipv4(address)) => is_private_address(address.into()),
        Some(Host::Ipv6(address)) => is_private_address(address.into()),
        Some(Host::Domain(name)) => {
            let Ok(found) = tokio::net::lookup_host((name, port)).await else {
                return false;
            };
            let all: Vec<IpAddr> = found.map(|found| found.ip()).collect();
            !all.is_empty() && all.into_iter().all(is_private_address)
        }
        None => false,
    }
}

/// Returns whether an address is of this machine or private.
pub fn is_private_address(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_loopback() || address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_addresses_of_this_machine_and_of_private_networks_are_private() {
        for (url, expected) in [
            ("http://127.0.0.1:8000", true),
            ("http://localhost", true),
            ("http://10.1.2.3", true),
            ("http://[::1]:80", true),
            ("http://[::ffff:127.0.0.1]", true),
            ("http://[fd00::1]", true),
            ("http://8.8.8.8", false),
            ("http://[2001:4860:4860::8888]", false),
            ("http://no-such-host.invalid", false),
        ] {
            assert_eq!(is_private(&Url::parse(url).unwrap()).await, expected, "{url}");
        }
    }
}
