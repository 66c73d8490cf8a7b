//! What a URL on the command line leads to, looked at before anything is sent there: a mistake in one is said at once,
//! by the name of its option and without its password.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use url::Url;

use crate::exit::Usage;

/// How long somebody may take to answer a connection. Nobody who is there takes a tenth of it.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// The kinds of URLs that are asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A shop's listener.
    Http,
    /// A Redis.
    Redis,
    /// A MariaDB.
    MariaDb,
}

/// Where a URL leads to.
pub struct Place {
    option: &'static str,
    kind: Kind,
    at: At,
}

enum At {
    Tcp(String, u16),
    Unix(PathBuf),
}

impl Kind {
    fn schemes(self) -> &'static [&'static str] {
        match self {
            Self::Http => &["http"],
            Self::Redis => &["redis", "valkey", "redis+unix", "valkey+unix", "unix"],
            Self::MariaDb => &["mysql", "mariadb"],
        }
    }

    fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Redis => 6379,
            Self::MariaDb => 3306,
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Http => "http://127.0.0.1:8080",
            Self::Redis => "redis://:PASSWORD@127.0.0.1:6379",
            Self::MariaDb => "mysql://USER:PASSWORD@127.0.0.1:3306/DATABASE",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Http => "shop",
            Self::Redis => "Redis",
            Self::MariaDb => "MariaDB",
        }
    }
}

impl Place {
    /// Reads the URL that was given to an option.
    ///
    /// # Errors
    /// When it is none of that kind. The text is not repeated: who forgot the scheme may have written a password.
    pub fn parse(option: &'static str, kind: Kind, text: &str) -> Result<Self, Usage> {
        let wrong = || Usage(format!("{option} must be a URL such as {}", kind.example()));
        let url = Url::parse(text).map_err(|_| wrong())?;
        if !kind.schemes().contains(&url.scheme()) {
            return Err(wrong());
        }
        let socket = url.query_pairs().find(|(name, _)| name == "socket");
        let at = match (kind, socket) {
            (Kind::MariaDb, Some((_, path))) => At::Unix(path.into_owned().into()),
            (Kind::Redis, _) if url.scheme().contains("unix") => At::Unix(url.to_file_path().map_err(|()| wrong())?),
            _ => {
                let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
                let host = host.trim_matches(['[', ']']).to_owned();
                At::Tcp(host, url.port().unwrap_or(kind.default_port()))
            }
        };
        Ok(Self { option, kind, at })
    }

    /// Looks whether somebody of that kind is there; a shop is asked by whoever knows its contract.
    ///
    /// # Errors
    /// When not; the message names the option and what to do next.
    pub async fn check(&self) -> Result<()> {
        let (option, name) = (self.option, self.kind.name());
        let answered = timeout(ANSWERS_WITHIN, self.ask()).await;
        let answered = answered.unwrap_or_else(|_| Err(anyhow!("no answer within {ANSWERS_WITHIN:?}")));
        answered.with_context(|| format!("{option}: there is no {name} at {}", self.shown()))
    }

    async fn ask(&self) -> Result<()> {
        match &self.at {
            At::Tcp(host, port) => self.greet(TcpStream::connect((host.as_str(), *port)).await?).await,
            At::Unix(path) => self.greet(UnixStream::connect(path).await?).await,
        }
    }

    /// MariaDB speaks first, Redis when it is asked; before a password is given, both say no more than who they are.
    async fn greet(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Result<()> {
        /// How MariaDB's first packet goes on behind its length and number: a version of the protocol, or a refusal.
        const GREETING: [u8; 2] = [10, 0xff];
        match self.kind {
            Kind::Http => {}
            Kind::Redis => {
                stream.write_all(b"PING\r\n").await?;
                let mut answer = [0; 4];
                stream.read_exact(&mut answer).await?;
                let known = [&b"+PON"[..], b"-NOA", b"-LOA", b"-DEN", b"-ERR"];
                ensure!(known.contains(&&answer[..]), "what listens there is something else");
            }
            Kind::MariaDb => {
                let mut packet = [0; 5];
                stream.read_exact(&mut packet).await?;
                ensure!(GREETING.contains(&packet[4]), "what listens there is something else");
            }
        }
        Ok(())
    }

    /// Where it is, and the command that shows whether it is there.
    fn shown(&self) -> String {
        match (self.kind, &self.at) {
            (Kind::Http, At::Tcp(host, port)) => format!("http://{host}:{port} (try `curl -i http://{host}:{port}/`)"),
            (Kind::Redis, At::Tcp(host, port)) => format!("{host}:{port} (try `redis-cli -h {host} -p {port} ping`)"),
            (Kind::MariaDb, At::Tcp(host, port)) => {
                format!("{host}:{port} (try `mariadb-admin -h {host} -P {port} ping`)")
            }
            (Kind::MariaDb, At::Unix(path)) => format!("{0} (try `mariadb-admin -S {0} ping`)", path.display()),
            (_, At::Unix(path)) => format!("{0} (try `redis-cli -s {0} ping`)", path.display()),
        }
    }
}
