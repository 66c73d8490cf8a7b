//! nginx before the instances, from the same template that the containers use.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::{Context, Result};

use crate::launch::Launch;
use crate::program::Program;
use crate::ready::Ready;
use crate::server_kind::ServerKind;
use crate::service::Service;

const TEMPLATE: &str = include_str!("../../nginx/nginx.conf");

/// The retry rule of the template, and that of a proxy that resends every failed request.
const RETRIES: [&str; 2] = [
    "proxy_next_upstream error timeout;",
    "proxy_next_upstream error timeout invalid_header http_500 http_502 http_503 http_504 non_idempotent;",
];

/// The servers behind nginx.
pub(crate) enum Upstream {
    /// The instances. A request that one of them may have received is never sent to another.
    Instances(Vec<SocketAddr>),
    /// The relays before the instances. A request that failed at one is sent to the next.
    Retrying(Vec<SocketAddr>),
}

/// Starts nginx. `folder` becomes its prefix, which holds its temp files and its pid.
pub(crate) fn start(program: &Program, folder: &Path, port: u16, upstream: &Upstream) -> Result<Service> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let path = folder.join("nginx.conf");
    fs::write(&path, configuration(address, upstream))
        .with_context(|| format!("could not write {}", path.display()))?;
    let mut launch = Launch::from(program).arg("-p").arg(folder).arg("-c").arg(path);
    if can_redirect_early_errors(program) {
        launch = launch.args(["-e", "stderr"]);
    }
    // One process: the parent-death signal is not passed on to workers.
    let launch = launch.args(["-g", "daemon off; master_process off;"]);
    Service::start("nginx", launch, Ready::Http(address), folder)
}

fn configuration(listen: SocketAddr, upstream: &Upstream) -> String {
    let (servers, retries) = match upstream {
        Upstream::Instances(instances) => (instances, RETRIES[0]),
        Upstream::Retrying(before) => (before, RETRIES[1]),
    };
    let servers: Vec<String> = servers
        .iter()
        .map(|server| format!("server {server} max_fails=0;"))
        .collect();
    TEMPLATE
        .replace("${OVERSELL_LISTEN}", &listen.to_string())
        .replace("${OVERSELL_RESOLVER}", "")
        .replace("${OVERSELL_UPSTREAM}", &servers.join("\n        "))
        .replace(RETRIES[0], retries)
}

/// Whether nginx knows `-e`, which came with 1.19.5. Without it nginx tries the system's log first, and only prints a warning.
fn can_redirect_early_errors(program: &Program) -> bool {
    debug_assert_eq!(program.kind, ServerKind::Nginx);
    let version = program.version().unwrap_or_default();
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    let mut next = || -> u32 { numbers.next().unwrap_or(0) };
    (next(), next(), next()) >= (1, 19, 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_no_gap_that_is_left_open() {
        let upstream = Upstream::Instances(vec!["127.0.0.1:81".parse().unwrap()]);
        let filled = configuration("127.0.0.1:80".parse().unwrap(), &upstream);
        assert!(filled.contains("listen 127.0.0.1:80;"));
        assert!(filled.contains("server 127.0.0.1:81 max_fails=0;"));
        let open = filled
            .lines()
            .find(|line| !line.trim_start().starts_with('#') && line.contains("${"));
        assert_eq!(open, None);
    }

    #[test]
    fn a_post_is_repeated_by_a_retrying_proxy_alone() {
        let instances = vec!["127.0.0.1:81".parse().unwrap()];
        let both = [Upstream::Instances(instances.clone()), Upstream::Retrying(instances)];
        let repeats = both.map(|upstream| {
            let filled = configuration("127.0.0.1:80".parse().unwrap(), &upstream);
            filled.contains("http_504 non_idempotent;")
        });
        assert_eq!(repeats, [false, true]);
    }
}
