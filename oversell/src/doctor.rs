//! `oversell doctor`: what is found where.

use anyhow::Result;
use stack::{Origin, Part, locate};

use crate::exit::{AS_DESIGNED, UNREACHABLE};

/// Looks for every part without fetching anything, and says what to do about what is missing.
pub fn doctor() -> Result<u8> {
    let mut missing = Vec::new();
    for part in [Part::Redis, Part::MariaDb, Part::Nginx] {
        match locate(part, false) {
            Ok(program) => {
                let version = program
                    .version()
                    .unwrap_or_else(|error| format!("version unknown: {error:#}"));
                let origin = match program.origin {
                    Origin::Path => "on PATH",
                    Origin::Fetched => "in the private cache",
                };
                println!(
                    "{:<8} {version:<12} {origin:<22} {}",
                    part.to_string(),
                    program.path.display()
                );
            }
            Err(error) => {
                println!("{:<8} missing", part.to_string());
                missing.push(error);
            }
        }
    }
    println!("cores    {}", std::thread::available_parallelism()?);
    if missing.is_empty() {
        println!("\nAll there. Next: oversell run");
        return Ok(AS_DESIGNED);
    }
    for error in missing {
        println!("\n{error:#}");
    }
    Ok(UNREACHABLE)
}
