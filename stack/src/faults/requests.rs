//! The requests of a load test, and what carries them out.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, bail, ensure};

use super::INSTANCE;
use super::supervised::{Command, Library, Supervised};
use crate::relay::Gate;

/// The relays and supervised servers of one shop.
pub(super) struct Parts {
    /// The folder with the pipes of supervised servers.
    folder: PathBuf,
    /// The relays, by the servers behind them.
    gates: BTreeMap<String, Arc<Gate>>,
    /// Two servers that have changed places, and the targets of their relays before.
    swapped: Mutex<Option<Swap>>,
}

struct Swap {
    servers: [String; 2],
    targets: [String; 2],
}

impl Parts {
    pub(super) fn new(folder: PathBuf, gates: BTreeMap<String, Arc<Gate>>) -> Parts {
        Parts {
            folder,
            gates,
            swapped: Mutex::default(),
        }
    }

    /// Carries out one request, and returns its value.
    pub(super) async fn answer(&self, request: &str) -> Result<String> {
        let words: Vec<&str> = request.splitn(4, ' ').collect();
        match words.as_slice() {
            ["servers"] => Ok(self.servers(|_| true)),
            ["journals"] => Ok(self.servers(Supervised::keeps_journal)),
            ["clocks"] => Ok(self.servers(|server| server.has(Library::Clock))),
            ["disks"] => Ok(self.servers(|server| server.has(Library::Disk))),
            ["relays"] => Ok(self.gates.keys().map(String::as_str).collect::<Vec<_>>().join(" ")),
            ["process", server, command] => {
                let supervised = self.server(server)?;
                let command = Command::find(command).context("no such command")?;
                supervised.ask(command).await
            }
            ["relay", server, client, change] => {
                let (gate, client) = (self.gate(server)?, address(client)?);
                gate.change(client, change.parse()?)?;
                Ok(String::new())
            }
            ["swap", server, other] => {
                self.swap([server, other])?;
                Ok(String::new())
            }
            ["forward", server, target] => {
                ensure!(
                    server.starts_with(INSTANCE),
                    "only a relay before an instance can be directed"
                );
                let target: SocketAddr = target.parse().context("no address of an instance")?;
                self.gate(server)?.forward_to(target.to_string());
                Ok(String::new())
            }
            ["affected", server, client] => Ok(self.gate(server)?.affected(address(client)?).to_string()),
            [what, server, setting @ ..] => {
                let library = Library::find(what).context("no such request")?;
                let numbers = self.server(server)?.numbers(library)?;
                match setting {
                    [] => Ok(format!("{} {}", numbers.setting()?, numbers.count()?)),
                    [setting] => {
                        numbers.set(setting.parse().context("the setting is no number")?)?;
                        Ok(String::new())
                    }
                    _ => bail!("no such request"),
                }
            }
            _ => bail!("no such request"),
        }
    }

    /// Lets everything pass and every server run, sets every clock right and makes room on every disk. Returns where that fails, each
    /// with the reason.
    pub(super) async fn undo(&self) -> Vec<String> {
        self.gates.values().for_each(|gate| gate.pass_all());
        self.swap_back();
        let mut failed = Vec::new();
        for (server, supervised) in Supervised::all(&self.folder) {
            for library in Library::ALL.into_iter().filter(|library| supervised.has(*library)) {
                if let Err(error) = supervised.numbers(library).and_then(|numbers| numbers.set(0)) {
                    failed.push(format!("the {library} of {server} is not as before: {error:#}"));
                }
            }
            if let Err(error) = supervised.ask(Command::Restore).await {
                failed.push(format!("{server} does not run again: {error:#}"));
            }
        }
        failed
    }

    /// Returns the names of the servers of one kind, separated by blanks.
    fn servers(&self, is_kind: fn(&Supervised) -> bool) -> String {
        let all = Supervised::all(&self.folder).into_iter();
        let names: Vec<String> = all
            .filter_map(|(name, supervised)| is_kind(&supervised).then_some(name))
            .collect();
        names.join(" ")
    }

    /// Returns the server that has the place of this one.
    fn server(&self, server: &str) -> Result<Supervised> {
        Supervised::of(&self.folder, &self.at_place_of(server)).context("no such server")
    }

    /// Lets two servers change places: each then has the name of the other, and the connections that go to it. They change back
    /// when they are named once more.
    fn swap(&self, servers: [&str; 2]) -> Result<()> {
        let gates = [self.gate(servers[0])?, self.gate(servers[1])?];
        let servers = servers.map(str::to_owned);
        let mut swapped = self.swapped();
        if let Some(earlier) = swapped.as_ref() {
            ensure!(earlier.servers == servers, "two other servers have changed places");
            drop(swapped);
            self.swap_back();
            return Ok(());
        }
        let targets = gates.map(Gate::target);
        for (gate, target) in gates.iter().zip(targets.iter().rev()) {
            gate.forward_to(target.clone());
        }
        *swapped = Some(Swap { servers, targets });
        Ok(())
    }

    fn swap_back(&self) {
        let Some(Swap { servers, targets }) = self.swapped().take() else {
            return;
        };
        for (server, target) in servers.iter().zip(targets) {
            if let Some(gate) = self.gates.get(server) {
                gate.forward_to(target);
            }
        }
    }

    /// Returns the name of the server that has the place of this one.
    fn at_place_of(&self, server: &str) -> String {
        let swapped = self.swapped();
        let place = swapped.as_ref().and_then(|swap| match &swap.servers {
            [one, other] if one == server => Some(other),
            [one, other] if other == server => Some(one),
            _ => None,
        });
        place.map_or(server, String::as_str).to_owned()
    }

    fn swapped(&self) -> MutexGuard<'_, Option<Swap>> {
        self.swapped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gate(&self, server: &str) -> Result<&Gate> {
        let gate = self.gates.get(server).context("no relay before such a server")?;
        Ok(gate)
    }
}

fn address(client: &str) -> Result<IpAddr> {
    client.parse().context("no address of a client")
}
