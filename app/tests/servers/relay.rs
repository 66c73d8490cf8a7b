//! A relay before a store, whose connections can go silent: still open, and nothing comes through any more.

use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// Passes bytes on between a socket of its own and a store's.
pub struct Relay {
    socket: PathBuf,
    silenced: watch::Sender<u64>,
}

impl Relay {
    /// Listens in `folder` for what shall go to the store at `target`.
    pub fn start(folder: &Path, target: PathBuf) -> Self {
        let socket = folder.join("relay.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let (silenced, hush) = watch::channel(0);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let mut hush = hush.clone();
                hush.mark_unchanged();
                let store = UnixStream::connect(&target).await.unwrap();
                tokio::spawn(pass(client, store, hush));
            }
        });
        Self { socket, silenced }
    }

    /// The URL of the store by way of this relay.
    pub fn url(&self, direct: &str, target: &Path) -> String {
        let [target, socket] = [target, &self.socket].map(|path| path.to_str().unwrap());
        assert!(direct.contains(target), "{direct} does not lead to {target}");
        direct.replace(target, socket)
    }

    /// From now on nothing passes on any connection that is open. New ones are served.
    pub fn silence(&self) {
        self.silenced.send_modify(|times| *times += 1);
    }
}

async fn pass(mut client: UnixStream, mut store: UnixStream, mut hush: watch::Receiver<u64>) {
    tokio::select! {
        _ = tokio::io::copy_bidirectional(&mut client, &mut store) => {}
        _ = hush.changed() => std::future::pending().await,
    }
}
