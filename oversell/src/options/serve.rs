//! The options of one instance.

use std::net::SocketAddr;

use clap::Args;

use crate::values::between;

/// The longest wait for a lock. After it and the longest work, an instance still answers before the proxy gives up.
const LONGEST_WAIT_MS: u64 = 8_000;

/// One instance. Its secrets come from the environment, which `ps` does not show.
#[derive(Args)]
pub struct ServeOptions {
    /// Address of the public listener
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "OVERSELL_LISTEN",
        default_value = "127.0.0.1:8080"
    )]
    pub listen: SocketAddr,
    /// Address of the admin listener; never put it behind a proxy
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "OVERSELL_ADMIN_LISTEN",
        default_value = "127.0.0.1:9090"
    )]
    pub admin_listen: SocketAddr,
    /// The instance's name
    #[arg(long, value_name = "NAME", env = "OVERSELL_INSTANCE", default_value = "app-1")]
    pub instance: String,
    /// Redis
    #[arg(long, value_name = "URL", env = "OVERSELL_REDIS_URL", hide_env_values = true)]
    pub redis: String,
    /// MariaDB
    #[arg(long, value_name = "URL", env = "OVERSELL_SQL_URL", hide_env_values = true)]
    pub sql: String,
    /// Bearer token of the admin listener and of faults
    #[arg(long, value_name = "TOKEN", env = "OVERSELL_ADMIN_TOKEN", hide_env_values = true)]
    pub admin_token: String,
    /// Lab mode: buyers choose strategy, work time and (with the token) faults by header
    #[arg(long, env = "OVERSELL_LAB")]
    pub lab: bool,
    /// The strategy of a purchase that names none
    #[arg(long, value_name = "NAME", env = "OVERSELL_STRATEGY", default_value = "lua@redis")]
    pub strategy: String,
    /// The item of /deduct_stock
    #[arg(long, value_name = "NAME", env = "OVERSELL_ITEM", default_value = "sku-1")]
    pub item: String,
    /// Units the item is opened with, if no sale of it is open yet
    #[arg(long, value_name = "UNITS", env = "OVERSELL_STOCK", default_value_t = 100)]
    pub stock: u32,
    /// How long a buyer waits for a lock before the answer is busy
    #[arg(long, value_name = "MS", env = "OVERSELL_WAIT_MS", default_value_t = 1_500, allow_negative_numbers = true, value_parser = between::<u64>(1..=LONGEST_WAIT_MS))]
    pub wait_ms: u64,
    /// How long a lock outlives a holder that no longer renews it
    #[arg(long, value_name = "MS", env = "OVERSELL_LEASE_MS", default_value_t = 1_000, allow_negative_numbers = true, value_parser = between::<u64>(10..=600_000))]
    pub lease_ms: u64,
    /// How long to go on serving after a request to stop, while each answer closes its connection: longer than a proxy keeps an
    /// idle one
    #[arg(long, value_name = "MS", env = "OVERSELL_DRAIN_MS", default_value_t = 0, allow_negative_numbers = true, value_parser = between::<u64>(0..=60_000))]
    pub drain_ms: u64,
}

/// The instance to ask.
#[derive(Args)]
pub struct HealthOptions {
    /// Its public listener
    #[arg(default_value = "127.0.0.1:8080")]
    pub address: SocketAddr,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_purchase_is_over_before_nginx_gives_it_up() {
        let nginx = include_str!("../../../nginx/nginx.conf");
        let (_, rest) = nginx.split_once("proxy_read_timeout ").expect("nginx has a limit");
        let (seconds, _) = rest.split_once("s;").expect("the limit is in seconds");
        let gives_up_ms = 1000 * seconds.parse::<u64>().expect("the limit is a number");
        assert!(LONGEST_WAIT_MS + app::http::MAX_WORK_MS < gives_up_ms);
    }
}
