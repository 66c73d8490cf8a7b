//! The session that all purchases of an instance share, and what is asked in it. Its heartbeats are sent by the client.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::Mutex;
use tokio::time::timeout;
use zookeeper_client::{Acls, Client, CreateMode, Error as Refusal, OneshotWatcher, SessionState};

use super::SERVICE;
use crate::domain::Error;
use crate::probe::{Command, Probe, Role, Step};

pub(super) const CONNECT: Step = Step::command("connect", &["zookeeper/update"]);
pub(super) const CREATE: Step = Step::command("create", &["zookeeper/update"]).plays(Role::Lock);
pub(super) const CREATE_QUEUE: Step = Step::command("create-queue", &["zookeeper/update"]);
pub(super) const CHILDREN: Step = Step::command("children", &["zookeeper/read"]).plays(Role::Lock);
pub(super) const WATCH: Step = Step::command("watch", &["zookeeper/read"]);
pub(super) const DELETE: Step = Step::command("delete", &["zookeeper/update"]).plays(Role::Release);

/// How long a server may take to answer before the outcome counts as unknown.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The shortest session that is asked for. Two fifths of it without an answer count as a lost connection, also on a machine
/// that is busy.
const SHORTEST: Duration = Duration::from_secs(1);

/// One session after the other: one that has ended never comes back.
pub(super) struct Sessions {
    /// `host:port`, and more of them after commas.
    servers: String,
    lease: Duration,
    current: ArcSwap<Client>,
    connecting: Mutex<()>,
}

impl Sessions {
    /// Begins the first session. It outlives a silence of this instance by `lease`, at least by a second, and as far as the
    /// server allows that.
    pub(super) async fn open(url: &str, lease: Duration) -> Result<Self, Error> {
        let servers = url.strip_prefix("zookeeper://").unwrap_or(url).to_owned();
        let current = ArcSwap::from_pointee(connect(&servers, lease).await?);
        Ok(Self {
            servers,
            lease,
            current,
            connecting: Mutex::default(),
        })
    }

    /// The session of all purchases, as it is now.
    pub(super) async fn current(&self, probe: &Probe) -> Result<Arc<Client>, Error> {
        let current = self.current.load_full();
        if !current.state().is_terminated() {
            return Ok(current);
        }
        let connecting = Command::new(self.anew_if_ended());
        probe.step(&CONNECT, &SERVICE, connecting, |_| "a new session").await
    }

    /// The session of all purchases; a new one for all of them if the last one has ended.
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

/// Creates a node that ends with the session. Its name; none when there is no queue.
pub(super) async fn create(session: &Client, queue: &str, owner: &str) -> Result<Option<String>, Error> {
    let options = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
    let path = format!("{queue}/{owner}-");
    match answer(session.create(&path, &[], &options)).await {
        Ok((_, number)) => Ok(Some(format!("{owner}-{number}"))),
        Err(Refusal::NoNode) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

/// Creates a queue, unless somebody did meanwhile. The server takes it away some time after it was last used.
pub(super) async fn create_queue(session: &Client, queue: &str) -> Result<(), Error> {
    let options = CreateMode::Container.with_acls(Acls::anyone_all());
    match answer(session.create(queue, &[], &options)).await {
        Ok(_) | Err(Refusal::NodeExists) => Ok(()),
        Err(why) => Err(why.into()),
    }
}

/// The nodes of a queue, in no order; none when there is no queue.
pub(super) async fn children(session: &Client, queue: &str) -> Result<Vec<String>, Error> {
    match answer(session.list_children(queue)).await {
        Err(Refusal::NoNode) => Ok(Vec::new()),
        nodes => Ok(nodes?),
    }
}

/// What tells that a node is gone; none when it is gone already. Unlike the question whether a node exists, this one
/// leaves no watch behind then.
pub(super) async fn watch(session: &Client, queue: &str, node: &str) -> Result<Option<OneshotWatcher>, Error> {
    let path = format!("{queue}/{node}");
    match answer(session.get_and_watch_data(&path)).await {
        Ok((_, _, watcher)) => Ok(Some(watcher)),
        Err(Refusal::NoNode) => Ok(None),
        Err(why) => Err(why.into()),
    }
}

/// Deletes a node. False when it was gone, be it with the session.
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
