//! Where a server listens: at a socket in a folder, or at a TCP address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceLocation {
    /// A Unix socket.
    Socket(PathBuf),
    /// A TCP address.
    Port(SocketAddr),
    /// A name and a port, such as `redis:6379`: the address may change.
    Name(String),
}

/// A stream of bytes in both directions.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl ServiceLocation {
    /// The socket, where it is one.
    pub fn socket(&self) -> Option<&Path> {
        match self {
            Self::Socket(path) => Some(path),
            Self::Port(_) | Self::Name(_) => None,
        }
    }

    /// The port, where it is one.
    pub fn port(&self) -> Option<SocketAddr> {
        match self {
            Self::Socket(_) | Self::Name(_) => None,
            Self::Port(address) => Some(*address),
        }
    }

    pub(crate) async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Socket(path) => Box::new(UnixStream::connect(path).await?),
            Self::Port(address) => Box::new(without_delay(TcpStream::connect(address).await?)?),
            Self::Name(name) => Box::new(without_delay(TcpStream::connect(name.as_str()).await?)?),
        })
    }
}

impl From<PathBuf> for ServiceLocation {
    fn from(path: PathBuf) -> Self {
        Self::Socket(path)
    }
}

impl From<SocketAddr> for ServiceLocation {
    fn from(address: SocketAddr) -> Self {
        Self::Port(address)
    }
}

/// A listener at a location.
pub(crate) enum Listener {
    Socket(UnixListener),
    Port(TcpListener),
}

impl Listener {
    /// Listens at `socket` if the target is a socket, else at a free port. Needs a runtime around it.
    pub(crate) fn like(target: &ServiceLocation, socket: PathBuf) -> io::Result<(Self, ServiceLocation)> {
        Ok(match target {
            ServiceLocation::Socket(_) => (Self::Socket(UnixListener::bind(&socket)?), socket.into()),
            ServiceLocation::Port(_) | ServiceLocation::Name(_) => {
                let (listener, address) = bound((Ipv4Addr::LOCALHOST, 0).into())?;
                (Self::Port(listener), address.into())
            }
        })
    }

    /// Listens at this address. Needs a runtime around it.
    pub(crate) fn at(address: SocketAddr) -> io::Result<Self> {
        Ok(Self::Port(bound(address)?.0))
    }

    /// Returns the next connection, and the address of its client where it has one.
    pub(crate) async fn accept(&self) -> io::Result<(Box<dyn Stream>, Option<IpAddr>)> {
        Ok(match self {
            Self::Socket(listener) => (Box::new(listener.accept().await?.0), None),
            Self::Port(listener) => {
                let (stream, client) = listener.accept().await?;
                (Box::new(without_delay(stream)?), Some(client.ip()))
            }
        })
    }
}

fn bound(address: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = std::net::TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((TcpListener::from_std(listener)?, address))
}

/// Sends small pieces at once: a relay that kept them back would add a delay of its own.
fn without_delay(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    Ok(stream)
}
