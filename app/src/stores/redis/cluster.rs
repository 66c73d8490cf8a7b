//! The connections to the nodes of a Redis Cluster. The client knows which node serves a key, and learns when that changes.

use std::collections::HashMap;

use redis::aio::{ConnectionLike, PubSub};
use redis::cluster::{ClusterClient, ClusterClientBuilder, ClusterConfig, NodeAddress};
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{
    MultipleNodeRoutingInfo, ResponsePolicy, Route, RoutingInfo, SingleNodeRoutingInfo, SlotAddr,
};
use redis::{Arg, Client, Cmd, ErrorKind, Pipeline, ProtocolVersion, RedisFuture, RedisResult, Value, cmd, pipe};

use super::super::{ANSWER_WITHIN, CONNECT_WITHIN};
use super::redirect::{To, Tries};
use super::wire::tcp;

/// The parameter by which a URL names the node that it leads to, where that knows itself by another address.
const NODE: &str = "?node=";

/// The nodes of a cluster. The type has no `Debug`: a URL may hold a password.
#[derive(Clone)]
pub(super) struct Cluster {
    client: ClusterClient,
    nodes: Vec<Client>,
    /// The addresses that nodes have here, by those that they know themselves by.
    mapped: HashMap<NodeAddress, NodeAddress>,
}

/// A connection to each node. Clones share them.
#[derive(Clone)]
pub(super) struct Following {
    nodes: ClusterConnection,
    /// Whether one purchase uses it alone, for WATCH.
    watches: bool,
    /// Leads to the key that it watched last.
    watched: Option<Route>,
}

impl Cluster {
    pub(super) fn at<'a>(urls: impl Iterator<Item = &'a str>) -> RedisResult<Self> {
        let (mut nodes, mut mapped) = (Vec::new(), HashMap::new());
        for url in urls {
            let (url, node) = url
                .split_once(NODE)
                .map_or((url, None), |(url, node)| (url, Some(node)));
            let client = Client::open(url)?;
            if let Some(node) = node {
                let at = NodeAddress::try_from(client.get_connection_info().addr())?;
                mapped.insert(NodeAddress::try_from(node)?, at);
            }
            nodes.push(client);
        }
        let client = following(&nodes, &mapped).build()?;
        Ok(Self { client, nodes, mapped })
    }

    /// Returns a client for connections on which the nodes send messages by themselves.
    pub(super) fn for_messages(&self) -> RedisResult<ClusterClient> {
        let client = following(&self.nodes, &self.mapped);
        client.use_protocol(ProtocolVersion::RESP3).build()
    }

    /// Opens the connections that all purchases share, at their first command.
    pub(super) fn share(&self) -> Following {
        let nodes = self
            .client
            .get_pending_async_connection_with_config(ClusterConfig::new());
        Following::new(nodes, false)
    }

    /// Opens connections for one purchase at a time.
    pub(super) async fn connect(&self) -> RedisResult<Following> {
        let nodes = self.client.get_async_connection().await?;
        Ok(Following::new(nodes, true))
    }

    /// Opens a connection for messages to the first node that answers.
    pub(super) async fn listen(&self) -> RedisResult<PubSub> {
        let mut last = None;
        for node in &self.nodes {
            match node.get_async_pubsub().await {
                Ok(listener) => return Ok(listener),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| (ErrorKind::InvalidClientConfig, "a cluster has nodes").into()))
    }
}

fn following(nodes: &[Client], mapped: &HashMap<NodeAddress, NodeAddress>) -> ClusterClientBuilder {
    let infos = nodes.iter().map(|node| node.get_connection_info().clone());
    ClusterClient::builder(infos)
        .retries(0)
        .connection_timeout(CONNECT_WITHIN)
        .response_timeout(ANSWER_WITHIN)
        .overall_response_timeout(Some(ANSWER_WITHIN))
        .tcp_settings(tcp())
        .node_address_map(mapped.clone())
}

/// Returns where a command goes that names no key.
fn without_key(command: &Cmd) -> Option<RoutingInfo> {
    let mut words = command.args_iter().map(|word| match word {
        Arg::Simple(word) => word,
        _ => b"",
    });
    match (words.next(), words.next()) {
        (Some(b"TIME"), None) => Some(RoutingInfo::SingleNode(SingleNodeRoutingInfo::RandomPrimary)),
        // A replica may be away without harm, and the client would ask all nodes.
        (Some(b"SCRIPT"), Some(b"LOAD")) => {
            let all = (MultipleNodeRoutingInfo::AllMasters, Some(ResponsePolicy::AllSucceeded));
            Some(RoutingInfo::MultiNode(all))
        }
        _ => None,
    }
}

/// Returns the way to the key that the commands watch, if they watch one.
fn watched(commands: &Pipeline) -> Option<Route> {
    commands.cmd_iter().find_map(|command| {
        let mut words = command.args_iter();
        match (words.next(), words.next()) {
            (Some(Arg::Simple(b"WATCH")), Some(Arg::Simple(key))) => Some(Route::with_key(key, SlotAddr::Master)),
            _ => None,
        }
    })
}

fn at(node: &str) -> RedisResult<SingleNodeRoutingInfo> {
    let node = NodeAddress::try_from(node)?;
    Ok(SingleNodeRoutingInfo::ByAddress {
        host: node.host().to_owned(),
        port: node.port(),
    })
}

impl Following {
    fn new(nodes: ClusterConnection, watches: bool) -> Self {
        Self {
            nodes,
            watches,
            watched: None,
        }
    }

    async fn send(&mut self, command: &Cmd) -> RedisResult<Value> {
        let mut tries = Tries::begin();
        let mut to = To::Owner;
        loop {
            let answer = match (&to, without_key(command)) {
                (_, Some(routing)) => self.nodes.route_command(command.clone(), routing).await,
                // After MOVED the client asks which node serves each slot before it sends anything else.
                (To::Owner | To::Moved(_), _) => self.nodes.req_packed_command(command).await,
                (To::Asked(node), _) => self.ask(node, &[cmd("ASKING"), command.clone()]).await,
            };
            match answer {
                Ok(value) => return Ok(value),
                Err(error) => to = tries.next(error).await?,
            }
        }
    }

    /// Sends a transaction. All its commands are about one slot.
    async fn send_transaction(&mut self, pipeline: &Pipeline, offset: usize, count: usize) -> RedisResult<Vec<Value>> {
        let mut tries = Tries::begin();
        let mut to = To::Owner;
        loop {
            let answer = match &to {
                To::Owner => self.nodes.req_packed_commands(pipeline, offset, count).await,
                // The client asks for no map after a refused transaction.
                To::Moved(node) => {
                    let node = at(node)?;
                    self.nodes.route_pipeline(pipeline.clone(), offset, count, node).await
                }
                To::Asked(node) => {
                    let commands = pipeline.cmd_iter().cloned();
                    let whole: Vec<Cmd> = [cmd("ASKING"), cmd("MULTI")]
                        .into_iter()
                        .chain(commands)
                        .chain([cmd("EXEC")])
                        .collect();
                    self.ask(node, &whole).await.map(|executed| vec![executed])
                }
            };
            match answer {
                Ok(values) => return Ok(values),
                Err(error) => to = tries.next(error).await?,
            }
        }
    }

    /// Sends the commands to that node, and returns the answer to the last one.
    async fn ask(&mut self, node: &str, commands: &[Cmd]) -> RedisResult<Value> {
        let mut whole = pipe();
        for command in commands {
            whole.add_command(command.clone());
        }
        let answers = self.nodes.route_pipeline(whole, 0, commands.len(), at(node)?).await?;
        answers.into_iter().last().unwrap_or(Value::Nil).extract_error()
    }

    /// Sends commands that only read, so that those which were answered may be sent again where another one was refused.
    async fn send_reads(&mut self, pipeline: &Pipeline, offset: usize, count: usize) -> RedisResult<Vec<Value>> {
        let answer = self.nodes.req_packed_commands(pipeline, offset, count).await;
        match answer {
            Err(error) if To::after(&error).is_some() => {
                let mut answers = Vec::new();
                for command in pipeline.cmd_iter() {
                    answers.push(self.send(command).await?);
                }
                Ok(answers)
            }
            answer => answer,
        }
    }

    /// Sends commands to the node of the key that is watched. UNWATCH names no key, and would go to any node. The commands are
    /// not split, and a transaction is not sent anywhere else: without its WATCH it would overwrite what it has not seen.
    async fn send_watching(&mut self, pipeline: &Pipeline, offset: usize, count: usize) -> RedisResult<Vec<Value>> {
        self.watched = watched(pipeline).or(self.watched);
        let to = SingleNodeRoutingInfo::from(self.watched);
        let mut tries = Tries::begin();
        loop {
            match self
                .nodes
                .route_pipeline(pipeline.clone(), offset, count, to.clone())
                .await
            {
                Err(error) if !pipeline.is_transaction() => drop(tries.next(error).await?),
                answer => return answer,
            }
        }
    }
}

impl ConnectionLike for Following {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(self.send(command))
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match (self.watches, pipeline.is_transaction()) {
            (true, _) => Box::pin(self.send_watching(pipeline, offset, count)),
            (false, true) => Box::pin(self.send_transaction(pipeline, offset, count)),
            (false, false) => Box::pin(self.send_reads(pipeline, offset, count)),
        }
    }

    fn get_db(&self) -> i64 {
        0
    }
}
