//! `oversell demo`: one unit, two buyers, two instances, and then the cure.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use loadtest::demo::play;
use loadtest::deployment::Deployment;
use loadtest::facts::LedgerReader;
use loadtest::shop::catalogue::Strategy;

use crate::exit::{AS_DESIGNED, INTERRUPTED};
use crate::interrupt::Stop;
use crate::options::DemoOptions;
use crate::selection::select;
use crate::{deployment, interrupt, say};

/// Two buyers, an instance for each.
const INSTANCES: usize = 2;

/// Shows what the strategy does with two buyers of one unit; where it sells it twice, what another one does.
pub fn demo(options: DemoOptions) -> Result<u8> {
    let shown = |stop: Stop| async move {
        tokio::select! {
            shown = show(options) => shown,
            _ = stop.wait() => bail!("interrupted"),
        }
    };
    interrupt::unless_interrupted(shown).unwrap_or(Ok(INTERRUPTED))
}

async fn show(options: DemoOptions) -> Result<u8> {
    let mut deployment = Deployment::Local(Box::new(deployment::local(options.stack, Vec::new()).await?));
    let shop = deployment.running(INSTANCES, &[])?;
    shop.heal().await?;
    let reader = Arc::new(LedgerReader::connect(&deployment.urls()).await?);
    let catalogue = shop.client.strategies().await?;
    let usable: Vec<_> = catalogue.iter().filter(|strategy| strategy.missing.is_none()).collect();
    let names: Vec<_> = usable.iter().map(|strategy| strategy.name.as_str()).collect();
    let named = select("strategy", &[options.strategy], &names)?;
    let shown = usable.iter().find(|strategy| named.contains(&strategy.name.as_str()));
    let shown = shown.context("no strategy was named")?;
    say::result(&format!("One unit, two buyers, two instances: {}\n\n", shown.name))?;
    let disease = play(&shop, &reader, shown, "demo-1").await?;
    say::result(&disease.text)?;
    if let Some(cure) = cure(shown, &usable).filter(|_| disease.is_oversold) {
        say::result(&format!("\nThe same with {}\n\n", cure.name))?;
        say::result(&play(&shop, &reader, cure, "demo-2").await?.text)?;
    }
    let (program, mechanism) = (say::program(), shown.mechanism());
    say::result(&format!("\nHow it works: {program} strategies {mechanism}\n"))?;
    Ok(AS_DESIGNED)
}

/// On the same store, the first of those that claim most.
fn cure<'a>(disease: &Strategy, usable: &[&'a Strategy]) -> Option<&'a Strategy> {
    let others = usable.iter().filter(|strategy| strategy.store == disease.store);
    others.copied().rev().max_by_key(|strategy| strategy.claims.len())
}
