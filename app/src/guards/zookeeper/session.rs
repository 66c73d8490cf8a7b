//! The session that all purchases of an instance share, and its requests. The client sends its heartbeats.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::Mutex;
use tokio::time::timeout;
use zookeeper_client::{Acls, Client, CreateMode, Error as Refusal, OneshotWatcher, SessionState};

use super::SERVICE;
use crate::domain::Error;
use crate::probe::{Command, Data, Probe, Role, Step};

pub(super) const CONNECT: Step = Step::command("connect", &["zookeeper/update"]).writes(Data::LOCK);
pub(super) const CREATE: Step = Step::command("create", &["zookeeper/update"])
    .writes(Data::LOCK)
    .plays(Role::Lock);
pub(super) const CREATE_QUEUE: Step = Step::command("create-queue", &["zookeeper/update"]).writes(Data::LOCK);
pub(super) const CHILDREN: Step = Step::command("children", &["zookeeper/read"])
    .reads(Data::LOCK)
    .plays(Role::Lock);
pub(super) const WATCH: Step = Step::command("watch", &["zookeeper/read"]).reads(Data::LOCK);
pub(super) const DELETE: Step = Step::command("delete", &["zookeeper/update"])
    .writes(Data::LOCK)
    .plays(Role::Release);

/// How long a server may take to answer before the outcome counts as unknown.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The shortest session timeout. Two fifths of it without a response count as a lost connection, also on a busy host.
const SHORTEST: Duration = Duration::from_secs(1);

/// The current session. One that has ended is replaced, and never comes back.
pub(super) struct Sessions {
    /// `host:port`; several are separated by commas.
    servers: String,
    lease: Duration,
    current: ArcSwap<Client>,
    connecting: Mutex<()>,
}

impl Sessions {
    /// Opens the first session. It survives a silence of this instance for `lease`, for at least a second, and as far
    /// as the server allows that.
    pub(super) async fn open(urls: &[String], lease: Duration) -> Result<Self, Error> {
        let hosts = urls.iter().map(|url| url.strip_prefix("zookeeper://").unwrap_or(url));
        let servers = hosts.collect::<Vec<_>>().join(",");
        let current = ArcSwap::from_pointee(connect(&servers, lease).await?);
        Ok(Self {
            servers,
            lease,
            current,
            connecting: Mutex::default(),
        })
    }

    /// Returns the current session, or a new one if it has ended.
    pub(super) async fn current(&self, probe: &Probe) -> Result<Arc<Client>, Error> {
        let current = self.current.load_full();
        if !current.state().is_terminated() {
            return Ok(current);
        }
        let connecting = Command::new(self.anew_if_ended());
        probe.step(&CONNECT, &SERVICE, connecting, |_| "a new session").await
    }

    /// Returns the current session. If it has ended, one caller opens a new one for all purchases.
    pub(super) async fn anew_if_ended(&self) -> Result<Arc<Client>, Error> {
        let _one_at_a_time = self.connecting.lock().await;
        let current = self.current.load_full();
        if !current.state().is_terminated() {
            return Ok(current);
        }
        let anew = Arc::new(connect(&self.servers, self.lease).await?);
        self.current.store(anew.clone());
        Ok(anew)
    }
}

async fn connect(servers: &str, lease: Duration) -> Result<Client, Error> {
    let connector = Client::connector()
        .with_session_timeout(lease.max(SHORTEST))
        .with_fail_eagerly();
    let connected = timeout(ANSWER_WITHIN, connector.connect(servers)).await;
    let connected = connected.unwrap_or(Err(Refusal::Timeout));
    connected.map_err(|why| Error::no_connection(SERVICE, &why))
}

/// Whether a session is known to live.
pub(super) fn is_connected(session: &Client) -> bool {
    session.state() == SessionState::SyncConnected
}

/// Creates a node that ends with the session, and returns its name; `None` when the queue does not exist.
pub(super) async fn create(session: &Client, queue: &str, owner: &str) -> Result<Option<String>, Error> {
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let path = format!("{queue}/{owner}-");
    match answer(session.create(&path, &[], &options)).await {
        Ok((_, number)) => Ok(Some(format!("{owner}-{number}"))),
        Err(Refusal::NoNode) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

/// Creates a queue, unless it exists. The server deletes it some time after its last use.
pub(super) async fn create_queue(session: &Client, queue: &str) -> Result<(), Error> {
    let options = CreateMode::Container.with_acls(Acls::anyone_all());
    match answer(session.create(queue, &[], &options)).await {
        Ok(_) | Err(Refusal::NodeExists) => Ok(()),
        Err(why) => Err(why.into()),
    }
}

/// Returns the nodes of a queue, in no order. A queue that does not exist has none.
pub(super) async fn children(session: &Client, queue: &str) -> Result<Vec<String>, Error> {
    match answer(session.list_children(queue)).await {
        Err(Refusal::NoNode) => Ok(Vec::new()),
        nodes => Ok(nodes?),
    }
}

/// Watches the end of a node; `None` when it is gone already. Unlike `exists` this leaves no watch behind then.
pub(super) async fn watch(session: &Client, queue: &str, node: &str) -> Result<Option<OneshotWatcher>, Error> {
    let path = format!("{queue}/{node}");
    match answer(session.get_and_watch_data(&path)).await {
        Ok((_, _, watcher)) => Ok(Some(watcher)),
        Err(Refusal::NoNode) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

/// Deletes a node. False when it was gone, also with the session.
pub(super) async fn delete(session: &Client, queue: &str, node: &str) -> Result<bool, Error> {
    let path = format!("{queue}/{node}");
    match answer(session.delete(&path, None)).await {
        Ok(()) => Ok(true),
        Err(Refusal::NoNode | Refusal::SessionExpired) => Ok(false),
        Err(why) => Err(why.into()),
    }
}

async fn answer<T>(request: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    timeout(ANSWER_WITHIN, request).await.unwrap_or(Err(Refusal::Timeout))
}

impl From<Refusal> for Error {
    fn from(why: Refusal) -> Self {
        Self::failed(SERVICE, why)
    }
}
