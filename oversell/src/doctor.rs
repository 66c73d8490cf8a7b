//! `oversell doctor`: the servers that a run would use, and those that it would fetch.

use anyhow::{Context, Result};
use stack::{Origin, Program, ServerKind};

use crate::console;
use crate::exit::{AS_DESIGNED, UNREACHABLE};
use crate::lab;
use crate::options::{DoctorOptions, StackOptions};

/// Looks for every server without fetching it, and prints how to install the missing ones.
pub fn doctor(options: &DoctorOptions) -> Result<u8> {
    if options.workshop {
        return lab::ready(!options.stack.no_fetch);
    }
    let options = &options.stack;
    let elsewhere = |kind| match kind {
        ServerKind::Redis => options.stores.redis.is_some(),
        ServerKind::MariaDb => options.stores.sql.is_some(),
        ServerKind::Postgres => options.stores.pg.is_some(),
        ServerKind::Nginx | ServerKind::ZooKeeper | ServerKind::Etcd => false,
    };
    let mut lines = String::new();
    let (mut missing, mut optional, mut fetched) = (Vec::new(), Vec::new(), false);
    for kind in ServerKind::ALL {
        let found = if elsewhere(kind) {
            "runs elsewhere: nothing is started".to_owned()
        } else if let Some(program) = stack::find(kind) {
            describe(&program)
        } else {
            match fetched_to(kind, options) {
                Ok(place) if kind.is_optional() => format!("will be fetched when a strategy needs it  {place}"),
                Ok(place) => {
                    fetched = true;
                    format!("will be fetched at the first run  {place}")
                }
                Err(why) if kind.is_optional() => {
                    optional.push(why);
                    "missing: the strategies that need it are skipped".to_owned()
                }
                Err(why) => {
                    missing.push(why);
                    "missing".to_owned()
                }
            }
        };
        lines += &format!("{:<10} {found}\n", kind.to_string());
    }
    let cores = std::thread::available_parallelism();
    lines += &format!(
        "{:<10} {}\n",
        "cores",
        cores.map_or("unknown".to_owned(), |n| n.to_string())
    );
    for why in missing.iter().chain(&optional) {
        lines += &format!("\n{why:#}\n");
    }
    if missing.is_empty() {
        lines += match fetched {
            true => "\nNothing has to be installed. Next: oversell run\n",
            false => "\nAll there. Next: oversell run\n",
        };
    }
    console::print(&lines)?;
    Ok(if missing.is_empty() { AS_DESIGNED } else { UNREACHABLE })
}

fn describe(program: &Program) -> String {
    let version = program
        .version()
        .unwrap_or_else(|error| format!("version unknown: {error:#}"));
    let origin = match program.origin {
        Origin::Path => "on PATH",
        Origin::Fetched => "in the private cache",
        Origin::FetchedJars => "Java on PATH, its jars in the private cache",
    };
    format!("{version:<12} {origin:<22} {}", program.path.display())
}

/// Returns the folder into which a run would fetch it.
fn fetched_to(kind: ServerKind, options: &StackOptions) -> Result<String> {
    if options.no_fetch {
        // The server is missing, so this is the error with which a run would end.
        stack::locate(kind, false)?;
    }
    let place = stack::fetched_to(&[kind]);
    let place = place.with_context(|| format!("{kind} is not on this machine"))?;
    Ok(format!("into {}", place.display()))
}
