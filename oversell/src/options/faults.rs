//! The options of the service for faults.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use stack::FaultRelay;

/// The service for faults. Its token comes from the environment, which `ps` does not show.
#[derive(Args)]
pub struct FaultsOptions {
    /// Listen for a load test at this address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    pub listen: SocketAddr,
    /// The token of the load test: 16 to 256 letters, digits and - . _
    #[arg(long, value_name = "TOKEN", env = "OVERSELL_FAULTS_TOKEN", hide_env_values = true)]
    pub faults_token: String,
    /// The folder in which each server that may be killed has the pipes of its `supervised`
    #[arg(long, value_name = "DIR", default_value = "/faults")]
    pub folder: PathBuf,
    /// Be a relay before a server, such as redis=0.0.0.0:6379=redis:6379: its name, where to listen, and where it is (may be repeated)
    #[arg(long, value_name = "NAME=ADDRESS=TARGET", value_parser = relay)]
    pub relay: Vec<FaultRelay>,
}

fn relay(text: &str) -> Result<FaultRelay, String> {
    let wrong = || "must be such as redis=0.0.0.0:6379=redis:6379".to_owned();
    let (server, rest) = text.split_once('=').ok_or_else(wrong)?;
    let (listen, target) = rest.split_once('=').ok_or_else(wrong)?;
    let is_name = !server.is_empty() && server.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let listen = listen.parse().ok().filter(|_| is_name && target.contains(':'));
    Ok(FaultRelay {
        server: server.to_owned(),
        listen: listen.ok_or_else(wrong)?,
        target: target.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_has_a_name_a_listener_and_a_target() {
        let read = relay("redis-nodes-1=0.0.0.0:6381=redis-node-1:6379").expect("it is one");
        assert_eq!(
            (read.server.as_str(), read.target.as_str()),
            ("redis-nodes-1", "redis-node-1:6379")
        );
        assert_eq!(read.listen.port(), 6381);
        for wrong in [
            "",
            "redis",
            "redis=0.0.0.0:1",
            "redis=x=redis:1",
            "=0.0.0.0:1=redis:1",
            "a b=0.0.0.0:1=redis:1",
        ] {
            assert!(relay(wrong).is_err(), "{wrong}");
        }
    }
}
