//! `oversell check`: a running shop beside the contract, point by point.

use anyhow::Result;
use loadtest::check::{Checked, check as walk};
use tokio::runtime::Runtime;

use crate::exit::{AS_DESIGNED, NOT_AS_DESIGNED};
use crate::options::CheckOptions;
use crate::{console, deployment, trust};

/// Prints each point that the shop meets, and the first one that it does not meet.
pub fn check(options: &CheckOptions) -> Result<u8> {
    let CheckOptions {
        host,
        operator,
        tls,
        stores,
    } = options;
    let trust = trust::of(tls)?;
    let (urls, token) = (stores.urls(), operator.admin_token.as_deref());
    Runtime::new()?.block_on(async {
        let (host, admins) = deployment::reachable(host, operator, stores).await?;
        let shop = Checked {
            host: &host,
            admins: &admins,
            admin_token: token,
            trust: &trust,
            urls: &urls,
        };
        let mut printed = Ok(());
        let walked = walk(&shop, |point| {
            if printed.is_ok() {
                printed = console::print(&format!("ok   {point}\n"));
            }
        });
        let walked = walked.await;
        printed?;
        match walked {
            Ok(()) => {
                let program = console::program();
                let admins: String = admins.iter().map(|admin| format!(" --admin {admin}")).collect();
                console::print(&format!(
                    "\nThe shop is ready for a trial:\n\n  {program} run --host {host}{admins}\n\n\
                     with the same --admin-token and the same stores.\n"
                ))?;
                Ok(AS_DESIGNED)
            }
            Err(missed) => {
                console::print(&format!(
                    "no   {}\n     seen:  {}\n     build: {}\n     docs/contract.md has the details.\n",
                    missed.point, missed.seen, missed.build
                ))?;
                Ok(NOT_AS_DESIGNED)
            }
        }
    })
}
