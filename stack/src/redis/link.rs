//! The way from a replica to its primary: Redis replicates over TCP alone, and the primary listens on a Unix socket alone.

use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};

use anyhow::Result;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::oneshot;

/// Carries one connection from a port on the loopback to the socket of a primary, until it is dropped. There is no second
/// one: no user of this machine finds an open port once the replica is connected.
pub(super) struct Link {
    pub(super) port: u16,
    cut: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Link {
    /// Listens.
    ///
    /// # Errors
    ///
    /// When it cannot, or the system gives no thread.
    pub(super) fn to(primary: PathBuf) -> Result<Link> {
        let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (cut, is_cut) = oneshot::channel();
        let thread = thread::Builder::new().name("link".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    // What was not carried is seen on the other side: the replica does not come as far as its primary.
                    _ = carry(listener, primary) => {}
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
    /// Comes back when nothing passes any more.
    fn drop(&mut self) {
        drop(self.cut.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn carry(listener: StdListener, primary: PathBuf) -> Result<()> {
    let (mut replica, _) = TcpListener::from_std(listener)?.accept().await?;
    let mut primary = UnixStream::connect(primary).await?;
    copy_bidirectional(&mut replica, &mut primary).await?;
    Ok(())
}
