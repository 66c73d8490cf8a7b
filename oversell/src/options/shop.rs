//! Which shop and which stores: those that run elsewhere, and those that are started here.

use clap::Args;
use loadtest::facts::Urls;

use crate::values::between;

/// A shop that is already running.
#[derive(Args)]
pub struct ForeignOptions {
    /// Base URL of a shop that is already running; nothing is started then
    #[arg(long, value_name = "URL", requires_all = ["admin", "redis", "sql", "admin_token"])]
    pub host: Option<String>,
    /// Base URL of its admin listener, once per instance; one name may stand for several
    #[arg(long, value_name = "URL", requires = "host")]
    pub admin: Vec<String>,
    /// The bearer token of its admin listener
    #[arg(long, value_name = "TOKEN", env = "OVERSELL_ADMIN_TOKEN", hide_env_values = true)]
    pub admin_token: Option<String>,
}

/// What the stack is made of.
#[derive(Args, Clone)]
pub struct StackOptions {
    /// A Redis that is already running
    #[arg(long, value_name = "URL", env = "OVERSELL_REDIS_URL", hide_env_values = true)]
    pub redis: Option<String>,
    /// A MariaDB that is already running
    #[arg(long, value_name = "URL", env = "OVERSELL_SQL_URL", hide_env_values = true)]
    pub sql: Option<String>,
    /// A second MariaDB that is already running, for strategies over two
    #[arg(
        long = "sql-2",
        value_name = "URL",
        env = "OVERSELL_SQL_2_URL",
        hide_env_values = true
    )]
    pub sql_2: Option<String>,
    /// Never download a missing server, not even into the private cache
    #[arg(long)]
    pub no_fetch: bool,
}

impl StackOptions {
    /// The URLs that were given, by the names of the stores.
    pub fn urls(&self) -> Urls {
        let all = [("redis", &self.redis), ("sql", &self.sql), ("sql-2", &self.sql_2)];
        let given = all.into_iter().filter_map(|(store, url)| Some((store, url.clone()?)));
        given.collect()
    }
}

/// What to leave up.
#[derive(Args)]
pub struct UpOptions {
    /// Instances behind nginx
    #[arg(long, value_name = "N", default_value_t = 2, allow_negative_numbers = true, value_parser = between::<u8>(1..=16))]
    pub instances: u8,
    /// Port of nginx on 127.0.0.1; 0, or none, takes a free one
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    #[command(flatten)]
    pub stack: StackOptions,
}

/// What to show.
#[derive(Args)]
pub struct DemoOptions {
    /// A strategy
    #[arg(default_value = "none@redis")]
    pub strategy: String,
    #[command(flatten)]
    pub stack: StackOptions,
}

/// What to ask a store.
#[derive(Args)]
pub struct ClientOptions {
    /// The store's URL [default: OVERSELL_REDIS_URL or OVERSELL_SQL_URL, else that of the one shop that is up]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// What to send
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}
