//! The servers behind the URLs of a command line. Each is asked for a connection before anything else is sent: an error
//! names the option, and never shows a password.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use stack::loopback;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use url::Url;

use crate::exit::Usage;

/// The longest wait for a connection. A server that is there takes less than a tenth of it.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// The kinds of servers that a URL can lead to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The public listener of a shop, or a proxy before it.
    Shop,
    /// The admin listener of an instance.
    Admin,
    /// A Redis server.
    Redis,
    /// A MariaDB server.
    MariaDb,
    /// A PostgreSQL server.
    Postgres,
}

/// The server behind the URL of one option.
pub struct Endpoint {
    option: &'static str,
    kind: Kind,
    scheme: String,
    at: At,
}

enum At {
    Tcp(String, u16),
    Unix(PathBuf),
}

impl Kind {
    fn schemes(self) -> &'static [&'static str] {
        match self {
            Self::Shop | Self::Admin => &["http", "https"],
            Self::Redis => &["redis", "valkey", "redis+unix", "valkey+unix", "unix"],
            Self::MariaDb => &["mysql", "mariadb"],
            Self::Postgres => &["postgres", "postgresql"],
        }
    }

    fn default_port(self) -> u16 {
        match self {
            Self::Shop | Self::Admin => 80,
            Self::Redis => 6379,
            Self::MariaDb => 3306,
            Self::Postgres => 5432,
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Shop => "http://127.0.0.1:8080",
            Self::Admin => "http://127.0.0.1:9090",
            Self::Redis => "redis://:PASSWORD@127.0.0.1:6379",
            Self::MariaDb => "mysql://USER:PASSWORD@127.0.0.1:3306/DATABASE",
            Self::Postgres => "postgres://USER:PASSWORD@127.0.0.1:5432/DATABASE",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Shop => "shop",
            Self::Admin => "admin listener",
            Self::Redis => "Redis",
            Self::MariaDb => "MariaDB",
            Self::Postgres => "PostgreSQL",
        }
    }
}

impl Endpoint {
    /// Reads the URL of an option.
    ///
    /// # Errors
    /// When the URL is not of that kind. The message does not repeat it: a URL without its scheme may begin with a password.
    pub fn parse(option: &'static str, kind: Kind, text: &str) -> Result<Self, Usage> {
        let wrong = || Usage(format!("{option} must be a URL such as {}", kind.example()));
        let url = Url::parse(text).map_err(|_| wrong())?;
        if !kind.schemes().contains(&url.scheme()) {
            return Err(wrong());
        }
        let named = |name| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value);
        let at = match (kind, named("socket"), named("host")) {
            (Kind::MariaDb, Some(path), _) => At::Unix(path.into_owned().into()),
            (Kind::Postgres, _, Some(folder)) if folder.starts_with('/') => {
                let port = named("port").unwrap_or("5432".into());
                At::Unix(PathBuf::from(&*folder).join(format!(".s.PGSQL.{port}")))
            }
            (Kind::Redis, ..) if url.scheme().contains("unix") => At::Unix(url.to_file_path().map_err(|()| wrong())?),
            _ => {
                let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(wrong)?;
                let host = host.trim_matches(['[', ']']).to_owned();
                At::Tcp(host, url.port_or_known_default().unwrap_or(kind.default_port()))
            }
        };
        let scheme = url.scheme().to_owned();
        Ok(Self {
            option,
            kind,
            scheme,
            at,
        })
    }

    /// Checks that a server of that kind accepts a connection. An HTTP listener is asked nothing yet.
    ///
    /// # Errors
    /// When none does; the message names the option and the command to try next.
    pub async fn check(&self) -> Result<()> {
        let (option, name) = (self.option, self.kind.name());
        let answered = timeout(ANSWERS_WITHIN, self.ask()).await;
        let answered = answered.unwrap_or_else(|_| Err(anyhow!("no answer within {ANSWERS_WITHIN:?}")));
        answered.with_context(|| format!("{option}: there is no {name} at {}", self.shown()))
    }

    async fn ask(&self) -> Result<()> {
        match &self.at {
            At::Tcp(host, port) => {
                if let Ok(address) = host.parse() {
                    loopback::require_up(address)?;
                }
                self.greet(TcpStream::connect((host.as_str(), *port)).await?).await
            }
            At::Unix(path) => self.greet(UnixStream::connect(path).await?).await,
        }
    }

    /// Checks the kind of a store without a password: MariaDB greets first, Redis answers to PING, and PostgreSQL says with one
    /// letter whether it would go on with TLS.
    async fn greet(&self, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Result<()> {
        /// The byte of MariaDB's first packet behind its length and number: the protocol version, or a refusal.
        const GREETING: [u8; 2] = [10, 0xff];
        /// The length of the message, and the number that asks for TLS.
        const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
        match self.kind {
            Kind::Shop | Kind::Admin => {}
            Kind::Redis => {
                stream.write_all(b"PING\r\n").await?;
                let mut answer = [0; 4];
                stream.read_exact(&mut answer).await?;
                let known = [&b"+PON"[..], b"-NOA", b"-LOA", b"-DEN", b"-ERR"];
                ensure!(known.contains(&&answer[..]), "another kind of server listens there");
            }
            Kind::Postgres => {
                stream.write_all(&SSL_REQUEST).await?;
                let answer = stream.read_u8().await?;
                ensure!(b"SN".contains(&answer), "another kind of server listens there");
            }
            Kind::MariaDb => {
                let mut packet = [0; 5];
                stream.read_exact(&mut packet).await?;
                ensure!(GREETING.contains(&packet[4]), "another kind of server listens there");
            }
        }
        Ok(())
    }

    /// Returns its address, and a command that tries it.
    fn shown(&self) -> String {
        match (self.kind, &self.at) {
            (Kind::Shop | Kind::Admin, At::Tcp(host, port)) => {
                format!("{0}://{host}:{port} (try `curl -i {0}://{host}:{port}/`)", self.scheme)
            }
            (Kind::Redis, At::Tcp(host, port)) => format!("{host}:{port} (try `redis-cli -h {host} -p {port} ping`)"),
            (Kind::MariaDb, At::Tcp(host, port)) => {
                format!("{host}:{port} (try `mariadb-admin -h {host} -P {port} ping`)")
            }
            (Kind::Postgres, At::Tcp(host, port)) => format!("{host}:{port} (try `pg_isready -h {host} -p {port}`)"),
            (Kind::Postgres, At::Unix(path)) => format!("{}", path.display()),
            (Kind::MariaDb, At::Unix(path)) => format!("{0} (try `mariadb-admin -S {0} ping`)", path.display()),
            (_, At::Unix(path)) => format!("{0} (try `redis-cli -s {0} ping`)", path.display()),
        }
    }
}
