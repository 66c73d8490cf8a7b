//! `oversell demo`: one unit, two buyers, two instances, and then a strategy that prevents the oversell.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use app::strategies::Entry;
use loadtest::demo::play;
use loadtest::deployment::Deployment;
use loadtest::facts::LedgerReader;
use loadtest::shop::catalogue::Strategy;

use crate::exit::{AS_DESIGNED, INTERRUPTED};
use crate::interrupt::Stop;
use crate::options::{DemoOptions, StackOptions};
use crate::selection::strategy_called;
use crate::{console, deployment, interrupt};

/// One instance for each of the two buyers.
const INSTANCES: usize = 2;

/// Shows a strategy with two buyers of one unit, and another strategy where the first one sells the unit twice.
pub fn demo(options: DemoOptions) -> Result<u8> {
    let entries = Entry::all();
    let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let name = strategy_called(&options.strategy, &names)?.to_owned();
    let entry = entries.into_iter().find(|entry| entry.name == name);
    let entry = entry.context("the strategy is in the catalogue")?;
    let shown = |stop: Stop| async move {
        tokio::select! {
            shown = show(&entry, options.stack) => shown,
            _ = stop.wait() => bail!("interrupted"),
        }
    };
    interrupt::unless_interrupted(shown).unwrap_or(Ok(INTERRUPTED))
}

async fn show(entry: &Entry, stack: StackOptions) -> Result<u8> {
    let local = deployment::local(stack, entry.needs.clone()).await?;
    let mut deployment = Deployment::Local(Box::new(local));
    let shop = deployment.running(INSTANCES, &[])?;
    shop.heal().await?;
    let reader = Arc::new(LedgerReader::connect(&deployment.urls()).await?);
    let catalogue = shop.client.strategies().await?;
    let shown = catalogue.iter().find(|strategy| strategy.name == entry.name);
    let shown = shown.with_context(|| format!("the shop does not offer {}", entry.name))?;
    if let Some(why) = &shown.missing {
        bail!("{} cannot be shown here: {why}", shown.name);
    }
    console::print(&format!("One unit, two buyers, two instances: {}\n\n", shown.name))?;
    let first = play(&shop, &reader, shown, "demo-1").await?;
    console::print(&first.text)?;
    if let Some(cure) = cure(shown, &catalogue).filter(|_| first.is_oversold) {
        console::print(&format!("\nThe same with {}\n\n", cure.name))?;
        console::print(&play(&shop, &reader, cure, "demo-2").await?.text)?;
    }
    let (program, mechanism) = (console::program(), shown.mechanism());
    console::print(&format!("\nHow it works: {program} strategies {mechanism}\n"))?;
    Ok(AS_DESIGNED)
}

/// Returns the strategy on the same store that claims most, the first of equals.
fn cure<'a>(shown: &Strategy, catalogue: &'a [Strategy]) -> Option<&'a Strategy> {
    let usable = catalogue.iter().filter(|strategy| strategy.missing.is_none());
    let others = usable.filter(|strategy| strategy.store == shown.store);
    others.rev().max_by_key(|strategy| strategy.claims.len())
}
