//! Processor time of processes.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use nix::unistd::{SysconfVar, sysconf};

/// Fields of /proc/PID/stat, counted from the one after the name of the program.
const GROUP: usize = 2;
const USER: usize = 11;
const SYSTEM: usize = 12;

/// Processor time in microseconds by name. It includes threads and the kernel.
pub type CpuUs = BTreeMap<&'static str, f64>;

/// The measured processes: a name and the leader of a process group for each. A name may have several groups.
#[derive(Clone)]
pub struct Processes(Vec<(&'static str, u32)>);

impl Processes {
    pub fn new(leaders: Vec<(&'static str, u32)>) -> Self {
        Self(leaders)
    }

    /// Returns the time that each process has used since its start.
    ///
    /// # Errors
    /// When /proc is not readable.
    pub fn used(&self) -> Result<CpuUs> {
        let mut used: CpuUs = self.0.iter().map(|(name, _)| (*name, 0.0)).collect();
        let ticks = ticks_per_s()?;
        for process in fs::read_dir("/proc").context("processor time is read from /proc")? {
            // A process that ended meanwhile is not one of the measured processes: those keep running.
            let Ok(text) = fs::read_to_string(process?.path().join("stat")) else {
                continue;
            };
            let Some(stat) = Stat::parse(&text) else { continue };
            for (name, leader) in &self.0 {
                if stat.group == *leader {
                    *used.entry(name).or_default() += stat.ticks / ticks * 1e6;
                }
            }
        }
        Ok(used)
    }
}

/// Returns the time that this thread has used, in microseconds.
///
/// # Errors
/// When /proc is not readable.
pub fn of_this_thread() -> Result<f64> {
    let text = fs::read_to_string("/proc/thread-self/stat").context("processor time is read from /proc")?;
    let stat = Stat::parse(&text).context("/proc/thread-self/stat has an unknown form")?;
    Ok(stat.ticks / ticks_per_s()? * 1e6)
}

fn ticks_per_s() -> Result<f64> {
    let ticks = sysconf(SysconfVar::CLK_TCK)?;
    Ok(ticks.context("the system does not report the length of a tick")? as f64)
}

struct Stat {
    group: u32,
    ticks: f64,
}

impl Stat {
    fn parse(text: &str) -> Option<Self> {
        // The name of a program may contain spaces and brackets.
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
        Some(Self {
            group: fields.get(GROUP)?.parse().ok()?,
            ticks: ticks(USER)? + ticks(SYSTEM)?,
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use std::io::Read;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn group_and_time_are_found_after_a_name_with_spaces_and_brackets() {
        let text = "42 (a ) b) S 1 77 42 0 -1 4194560 2098 0 0 0 150 25 0 0 20 0 8 0 1234 0 0\n";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.group, stat.ticks), (77, 175.0));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_time_of_a_process_counts_for_its_group_only() {
        // A group of its own: other programs of the test's own group end meanwhile, and take their time with them.
        let mut busy = Command::new("sh")
            .args([
                "-c",
                "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo; read end",
            ])
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        busy.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        let used = Processes::new(vec![("busy", busy.id()), ("nobody", u32::MAX)])
            .used()
            .unwrap();
        drop(busy.stdin.take());
        busy.wait().unwrap();
        assert!(used["busy"] > 0.0);
        assert_eq!(used["nobody"], 0.0);
    }
}
