//! The shop and its stores: those that already run elsewhere, and those that are started here.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use loadtest::facts::Urls;

use crate::values::between;

/// A shop that is already running.
#[derive(Args, Clone, Default)]
pub struct RemoteOptions {
    /// Base URL of a shop that is already running; nothing is started then
    #[arg(long, value_name = "URL", requires_all = ["admin", "admin_token"])]
    pub host: Option<String>,
    #[command(flatten)]
    pub operator: OperatorOptions,
    #[command(flatten)]
    pub faults: FaultServiceOptions,
    #[command(flatten)]
    pub tls: TlsOptions,
}

/// The service that strikes the servers of a shop that is already running.
#[derive(Args, Clone, Default)]
pub struct FaultServiceOptions {
    /// Name and port of the service for faults beside the servers of that shop (`oversell faults`)
    #[arg(long, value_name = "HOST:PORT", env = "OVERSELL_FAULTS")]
    pub faults: Option<String>,
    /// The token of that service
    #[arg(long, value_name = "TOKEN", env = "OVERSELL_FAULTS_TOKEN", hide_env_values = true)]
    pub faults_token: Option<String>,
    /// Base URL of the public listeners of all instances of that shop, past the proxy
    #[arg(long, value_name = "URL", env = "OVERSELL_PUBLIC")]
    pub public: Option<String>,
}

/// The admin listeners of a shop that is already running.
#[derive(Args, Clone, Default)]
pub struct OperatorOptions {
    /// Base URL of the admin listener of that shop, once for each instance; one name may stand for several
    #[arg(long, value_name = "URL", requires = "host")]
    pub admin: Vec<String>,
    /// The bearer token of its admin listener
    #[arg(long, value_name = "TOKEN", env = "OVERSELL_ADMIN_TOKEN", hide_env_values = true)]
    pub admin_token: Option<String>,
}

/// The certificates of a shop whose URLs begin with `https://`.
#[derive(Args, Clone, Default)]
pub struct TlsOptions {
    /// Trust the certificates of this PEM file, too, for https:// URLs of that shop
    #[arg(long, value_name = "FILE", requires = "host", conflicts_with = "insecure")]
    pub ca_file: Option<PathBuf>,
    /// Check no certificate of that shop. The result says so
    #[arg(long, requires = "host")]
    pub insecure: bool,
}

/// The stores, and how missing servers are found.
#[derive(Args, Clone)]
pub struct StackOptions {
    #[command(flatten)]
    pub stores: StoreOptions,
    /// Never download a missing server, not even into the private cache
    #[arg(long)]
    pub no_fetch: bool,
}

/// What is looked for.
#[derive(Args)]
pub struct DoctorOptions {
    /// Fetch what the labs of the workshop need, and try whether they can be played here, also without a network
    #[arg(long)]
    pub workshop: bool,
    #[command(flatten)]
    pub stack: StackOptions,
}

/// The stores that are already running.
#[derive(Args, Clone)]
pub struct StoreOptions {
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
    /// A PostgreSQL that is already running, for strategies that sell from it
    #[arg(long, value_name = "URL", env = "OVERSELL_PG_URL", hide_env_values = true)]
    pub pg: Option<String>,
    /// A node of a Redis Cluster that is already running, for strategies that sell from it
    #[arg(long, value_name = "URL", env = "OVERSELL_CLUSTER_URL", hide_env_values = true)]
    pub cluster: Option<String>,
}

impl StoreOptions {
    /// Returns the URLs that were given, by the names of the stores. One node of a cluster tells of all others.
    pub fn urls(&self) -> Urls {
        let nodes = self.cluster_nodes();
        let all = [
            ("redis", self.redis.as_deref()),
            ("sql", self.sql.as_deref()),
            ("sql-2", self.sql_2.as_deref()),
            ("pg", self.pg.as_deref()),
            ("cluster", nodes.first().map(String::as_str)),
        ];
        let given = all
            .into_iter()
            .filter_map(|(store, url)| Some((store, url?.to_owned())));
        given.collect()
    }

    /// Returns the URLs of the nodes of a cluster that were given. The variable that an instance reads too may name several, each
    /// with the address that the cluster has for it.
    pub fn cluster_nodes(&self) -> Vec<String> {
        let nodes = self.cluster.iter().flat_map(|nodes| nodes.split_whitespace());
        let urls = nodes.map(|node| node.split_once("?node=").map_or(node, |(url, _)| url));
        urls.map(str::to_owned).collect()
    }
}

/// The shop to leave up.
#[derive(Args)]
pub struct UpOptions {
    /// Instances behind nginx
    #[arg(long, value_name = "N", default_value_t = 2, allow_negative_numbers = true, value_parser = between::<u8>(1..=16))]
    pub instances: u8,
    /// Port of nginx on 127.0.0.1; 0, or none, takes a free one
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    #[command(flatten)]
    pub page: PageOptions,
    #[command(flatten)]
    pub stack: StackOptions,
}

/// The live page.
#[derive(Args, Clone)]
pub struct PageOptions {
    /// Serve the live page at this address; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    pub page: SocketAddr,
    /// The token that a visitor needs to start a run: 16 to 256 letters, digits and - . _ [default: a random one, which is printed]
    #[arg(long, value_name = "TOKEN", env = "OVERSELL_PAGE_TOKEN", hide_env_values = true)]
    pub page_token: Option<String>,
    /// Write the results of runs on that page into folders below this one
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results: PathBuf,
}

/// The live page alone, for a shop that is already running or for shops that are started here.
#[derive(Args)]
pub struct LiveOptions {
    #[command(flatten)]
    pub page: PageOptions,
    #[command(flatten)]
    pub remote: RemoteOptions,
    #[command(flatten)]
    pub stack: StackOptions,
}

/// The strategy to show.
#[derive(Args)]
pub struct DemoOptions {
    /// A strategy such as token@redis, or a mechanism that has one strategy alone
    #[arg(default_value = "none@redis")]
    pub strategy: String,
    #[command(flatten)]
    pub stack: StackOptions,
}

/// One purchase.
#[derive(Args)]
pub struct BuyOptions {
    /// A strategy such as token@redis [default: that of the shop]
    pub strategy: Option<String>,
}

/// Many purchases at once.
#[derive(Args)]
pub struct CrowdOptions {
    /// A strategy such as token@redis
    #[arg(default_value = "none@redis")]
    pub strategy: String,
    /// Buyers, each of which asks for one unit
    #[arg(long, value_name = "N", default_value_t = 150, allow_negative_numbers = true, value_parser = between::<u32>(1..=5_000))]
    pub buyers: u32,
    /// A fault that strikes one of the purchases, such as crash@write
    #[arg(long, value_name = "FAULT")]
    pub fault: Option<String>,
}

/// The shop to compare with the contract.
#[derive(Args)]
pub struct CheckOptions {
    /// Base URL of the shop
    #[arg(value_name = "URL")]
    pub host: String,
    #[command(flatten)]
    pub operator: OperatorOptions,
    #[command(flatten)]
    pub tls: TlsOptions,
    #[command(flatten)]
    pub stores: StoreOptions,
}

/// A command for a store.
#[derive(Args)]
pub struct ClientOptions {
    /// The store's URL [default: OVERSELL_REDIS_URL or OVERSELL_SQL_URL, else that of the one shop that is up]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The command or statement
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_of_an_instance_names_each_node_of_a_cluster() {
        let nodes = "redis://:p@relays:6391?node=cluster-1:6379 redis://:p@cluster-2:6379";
        let given = StoreOptions {
            redis: None,
            sql: None,
            sql_2: None,
            pg: None,
            cluster: Some(nodes.to_owned()),
        };
        assert_eq!(
            given.cluster_nodes(),
            ["redis://:p@relays:6391", "redis://:p@cluster-2:6379"]
        );
        assert_eq!(given.urls()["cluster"], "redis://:p@relays:6391");
    }
}
