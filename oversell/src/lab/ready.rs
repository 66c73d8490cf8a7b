//! `oversell doctor --workshop`: whether this machine can play every lab, also without a network.

use std::fs;
use std::path::Path;

use anyhow::Result;
use nix::sys::statvfs::statvfs;
use stack::ServerKind;
use workshop::Language;

use super::again;
use crate::console;
use crate::exit::{AS_DESIGNED, UNREACHABLE};

/// What a laptop needs, so that runs are not decided by its load.
const LEAST_CORES: usize = 2;
const LEAST_MEMORY_MB: u64 = 2_000;
const LEAST_DISK_MB: u64 = 1_000;

/// The commands that are tried, each with what it prints when it works.
const TRIED: [(&str, &str, &str); 2] = [
    ("demo", "demo", "2 sold of 1"),
    ("explore", "explore none@redis --events 0", "oversold 1"),
];

/// Fetches what is missing, unless that is forbidden, and plays a sale and every interleaving of another one. The status is 0 if
/// all is there.
pub fn ready(fetch: bool) -> Result<u8> {
    let mut is_ready = true;
    let mut tell = |what: &str, found: Result<String, String>| {
        let (mark, words) = match &found {
            Ok(words) => ("✓", words),
            Err(words) => ("✗", words),
        };
        is_ready &= found.is_ok();
        console::print(&format!("{mark} {what:<9} {words}\n"))
    };
    for kind in ServerKind::ALL.into_iter().filter(|kind| !kind.is_optional()) {
        let found = stack::locate(kind, fetch);
        let found = found.map(|program| program.path.display().to_string());
        tell(&kind.to_string(), found.map_err(|error| format!("{error:#}")))?;
    }
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    tell("cores", at_least(cores, LEAST_CORES, ""))?;
    tell("memory", at_least(free_memory_mb(), LEAST_MEMORY_MB, " MB free"))?;
    let disk = statvfs(Path::new(".")).map_or(0, |disk| disk.blocks_available() * disk.fragment_size());
    tell(
        "disk",
        at_least(disk / 1_000_000, LEAST_DISK_MB, " MB free in this folder"),
    )?;
    for (what, command, shown) in TRIED {
        let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        words.extend((!fetch).then(|| "--no-fetch".to_owned()));
        let ran = again::read(words, Language::English)?;
        let works = ran.stdout.contains(shown);
        tell(
            what,
            if works {
                Ok("works".to_owned())
            } else {
                Err("does not end as it should".to_owned())
            },
        )?;
    }
    Ok(if is_ready { AS_DESIGNED } else { UNREACHABLE })
}

fn at_least<T: PartialOrd + std::fmt::Display>(found: T, least: T, unit: &str) -> Result<String, String> {
    if found >= least {
        Ok(format!("{found}{unit}"))
    } else {
        Err(format!("{found}{unit}: at least {least} are needed"))
    }
}

/// Returns the memory that is free, in MB; 0 where the system does not say.
fn free_memory_mb() -> u64 {
    let known = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = known.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() / 1_000
}
