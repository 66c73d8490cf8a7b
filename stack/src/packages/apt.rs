//! apt-get with a private state: it resolves and downloads as usual, but changes nothing on the system.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, anyhow, bail};

use crate::server_kind::ServerKind;

pub(super) fn is_here() -> bool {
    ["apt-get", "dpkg"].iter().all(|tool| {
        Command::new(tool)
            .arg("--version")
            .output()
            .is_ok_and(|o| o.status.success())
    })
}

/// Downloads the servers' packages, and whatever these need that the system does not have. Returns the archives.
pub(super) fn download(staging: &Path, wanted: &[ServerKind]) -> Result<Vec<PathBuf>> {
    // The distribution's own sources first: others on the machine may be unreachable, or offer a package of their own.
    try_download(staging, wanted, Sources::OfTheDistribution).or_else(|first| {
        let every = try_download(staging, wanted, Sources::All);
        every.map_err(|second| anyhow!("{first:#}\nand with every apt source of this machine: {second:#}"))
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sources {
    OfTheDistribution,
    All,
}

fn try_download(staging: &Path, wanted: &[ServerKind], sources: Sources) -> Result<Vec<PathBuf>> {
    for folder in ["lists/partial", "cache/archives/partial", "state", "parts", "sources"] {
        fs::create_dir_all(staging.join(folder)).context("could not prepare a private state for apt-get")?;
    }
    write_configuration(staging, sources)?;
    // An update in which one source failed may still have fetched the needed one: the download decides.
    let update = run(apt("apt-get", staging).args(["-qq", "update"]));
    let packages = wanted
        .iter()
        .flat_map(|kind| kind.packages())
        .map(|plain| name_in_this_release(staging, plain))
        .collect::<Result<Vec<_>>>();
    let install = packages.and_then(|packages| {
        let flags = ["-qq", "-y", "--no-install-recommends", "--download-only", "install"];
        run(apt("apt-get", staging).args(flags).args(&packages))
    });
    if let Err(error) = install {
        let update = update
            .err()
            .map(|why| format!("\n`apt-get update` before it: {why:#}"))
            .unwrap_or_default();
        bail!("{error:#}{update}");
    }
    let entries = fs::read_dir(staging.join("cache/archives")).context("could not read what apt-get downloaded")?;
    let paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .collect())
}

/// Some releases number the package, as in `mariadb-server-core-10.6`.
fn name_in_this_release(staging: &Path, plain: &str) -> Result<String> {
    let output = run(apt("apt-cache", staging).args(["pkgnames", plain]))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbered = |name: &&str| {
        let rest = name.strip_prefix(plain).and_then(|rest| rest.strip_prefix('-'));
        rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    let names: Vec<&str> = text.lines().collect();
    let found = names
        .iter()
        .find(|name| **name == plain)
        .or_else(|| names.iter().find(|name| numbered(name)));
    found
        .map(|name| (*name).to_owned())
        .ok_or_else(|| anyhow!("no apt source offers a package {plain}"))
}

/// Keeps only the access to mirrors (proxies, credentials) of the machine's configuration: its hooks must not run here.
fn write_configuration(staging: &Path, sources: Sources) -> Result<()> {
    let dump = run(Command::new("apt-config").arg("dump"))?;
    let dump = String::from_utf8_lossy(&dump.stdout);
    let wanted = |line: &&str| line.starts_with("Acquire::") && !line.starts_with("Acquire::IndexTargets");
    let mut lines: Vec<String> = dump.lines().filter(wanted).map(str::to_owned).collect();
    let at = |folder: &str| staging.join(folder).display().to_string();
    let mut set = |key: &str, value: &str| lines.push(format!("{key} \"{value}\";"));
    set("Dir::State", &at("state"));
    set("Dir::State::Lists", &at("lists"));
    set("Dir::State::status", "/var/lib/dpkg/status");
    set("Dir::Cache", &at("cache"));
    set("Dir::Etc::Parts", &at("parts"));
    set("Dir::Etc::Main", "/dev/null");
    set("Debug::NoLocking", "1");
    // Without root there is no other user to become, and with root the private folder is closed to it.
    set("APT::Sandbox::User", "");
    // A source that does not answer costs seconds, not the minutes of the defaults.
    set("Acquire::Retries", "1");
    set("Acquire::http::Timeout", "10");
    set("Acquire::https::Timeout", "10");
    set("Acquire::Languages", "none");
    // A mirror that cannot be reached is only a warning otherwise, and then the reason is missing from our error.
    set("APT::Update::Error-Mode", "any");
    if sources == Sources::OfTheDistribution {
        set("Dir::Etc::SourceParts", &at("sources"));
        for name in ["debian.sources", "ubuntu.sources"] {
            // The link may be there from an earlier attempt, or lead nowhere: apt-get skips what it cannot read.
            let _ = symlink(
                Path::new("/etc/apt/sources.list.d").join(name),
                staging.join("sources").join(name),
            );
        }
    }
    fs::write(staging.join("apt.conf"), lines.join("\n") + "\n").context("could not write a configuration for apt-get")
}

fn apt(tool: &str, staging: &Path) -> Command {
    let mut command = Command::new(tool);
    command
        .env("APT_CONFIG", staging.join("apt.conf"))
        .env("HOME", staging)
        .env("LC_ALL", "C");
    command
}

/// Runs a tool to its end.
///
/// # Errors
///
/// When it cannot be started or fails; the message ends with what the tool said.
pub(super) fn run(command: &mut Command) -> Result<Output> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("could not run `{name}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        bail!("`{name}` failed ({}): {said}", output.status);
    }
    Ok(output)
}
