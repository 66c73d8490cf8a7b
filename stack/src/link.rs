//! The connection from a replica to its primary: Redis and MariaDB replicate only over TCP, and a primary listens only on a Unix
//! socket.

use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use anyhow::Result;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::oneshot;

use crate::loopback::require_up;

/// Forwards one connection from a loopback port to the socket of a primary, until it is dropped. It accepts no second one: no
/// other user of this machine finds an open port once the replica is connected.
pub(crate) struct Link {
    pub(crate) port: u16,
    cut: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Link {
    /// Starts to listen.
    ///
    /// # Errors
    ///
    /// When it cannot listen, the loopback interface is down, or the system gives no thread.
    pub(crate) fn to(primary: PathBuf) -> Result<Link> {
        require_up(Ipv4Addr::LOCALHOST.into())?;
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (cut, is_cut) = oneshot::channel();
        let thread = thread::Builder::new().name("link".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    // An error shows on the other side: the replica does not catch up.
                    _ = forward(listener, primary) => {}
                    _ = is_cut => {}
                }
            });
        })?;
        Ok(Link {
            port,
            cut: Some(cut),
            thread: Some(thread),
        })
    }
}

impl Drop for Link {
    /// Returns when nothing passes any more.
    fn drop(&mut self) {
        drop(self.cut.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn forward(listener: StdListener, primary: PathBuf) -> Result<()> {
    let (mut replica, _) = TcpListener::from_std(listener)?.accept().await?;
    let mut primary = UnixStream::connect(primary).await?;
    copy_bidirectional(&mut replica, &mut primary).await?;
    Ok(())
}
