//! `oversell isolation`: what each isolation level of MariaDB and PostgreSQL lets happen, beside Hermitage's published table.

mod page;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use explore::isolation::{AtLevel, Explored, explore, play};
use serde::{Deserialize, Serialize};
use stack::ServiceKind;

use crate::console;
use crate::exit::AS_DESIGNED;
use crate::explore::{started, until_interrupted};
use crate::options::IsolationOptions;

/// The file of the results.
const FILE: &str = "isolation.json";

/// All that was seen.
#[derive(Serialize, Deserialize)]
struct Isolation {
    anomalies: Vec<AtLevel>,
    mechanisms: Vec<Explored>,
}

/// Plays the anomalies at every level, and six mechanisms at every level, and prints both as a page.
pub fn isolation(options: IsolationOptions) -> Result<u8> {
    let fetch = !options.no_fetch;
    until_interrupted(async move {
        let stores = started(&[ServiceKind::Pg.name()], fetch).await?;
        let anomalies = play(&stores).await?;
        let mut mechanisms = explore(ServiceKind::Sql, &stores).await?;
        mechanisms.extend(explore(ServiceKind::Pg, &stores).await?);
        let isolation = Isolation { anomalies, mechanisms };
        let page = page::page(&isolation);
        if let Some(folder) = &options.results {
            let written = || {
                fs::create_dir_all(folder)?;
                anyhow::Ok(fs::write(
                    folder.join(FILE),
                    serde_json::to_string_pretty(&isolation)? + "\n",
                )?)
            };
            written().with_context(|| format!("cannot write into {}", folder.display()))?;
        }
        console::print(&page)?;
        Ok(AS_DESIGNED)
    })
}

/// Returns the page of what is kept in this file. Returns `None` where it keeps something else.
///
/// # Errors
/// When it cannot be read.
pub fn page_of(kept: &Path) -> Result<Option<String>> {
    if kept.file_name() != Some(FILE.as_ref()) {
        return Ok(None);
    }
    let cannot = || format!("cannot read {}", kept.display());
    let isolation: Isolation = serde_json::from_slice(&fs::read(kept).with_context(cannot)?).with_context(cannot)?;
    Ok(Some(page::page(&isolation)))
}
