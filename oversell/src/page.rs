//! `oversell page`: the live page alone.

use anyhow::{Context, Result};

use crate::exit::INTERRUPTED;
use crate::interrupt::Stop;
use crate::live::Live;
use crate::options::LiveOptions;
use crate::{console, interrupt, stdout};

/// Serves the live page until it is asked to stop.
pub fn page(options: LiveOptions) -> Result<u8> {
    // The buyers would write there.
    let mut stdout = stdout::keep_aside().context("stdout cannot be kept aside for the address")?;
    let serve = |stop: Stop| async move {
        let live = Live::open(options.page, options.remote, options.stack).await?;
        console::print_to(&mut stdout, &format!("{}\n", live.url()?))?;
        live.serve(stop).await.map(|()| INTERRUPTED)
    };
    interrupt::unless_interrupted(serve).unwrap_or(Ok(INTERRUPTED))
}
