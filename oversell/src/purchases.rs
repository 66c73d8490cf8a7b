//! `oversell buy` and `oversell crowd`: purchases at the shop that is up.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt, stream};
use loadtest::check::{Purchase, Received, Requests};
use loadtest::facts::{Facts, LedgerReader};
use loadtest::shop::catalogue::{self, Strategy};
use loadtest::shop::response::ResponseKind;
use loadtest::shop::{Address, MAX_CATALOGUE};
use loadtest::text::{MAX_NAME, one_line};
use loadtest::trust::Trust;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::console;
use crate::exit::AS_DESIGNED;
use crate::options::{BuyOptions, CrowdOptions};
use crate::running_shop::RunningShop;
use crate::selection::strategy_called;

/// The item of the shop.
const ITEM: &str = "sku-1";

/// Units that a crowd finds.
const STOCK: i64 = 100;

/// Buyers of a crowd that ask at the same time.
const AT_ONCE: usize = 32;

/// Business time of each purchase of a crowd: long enough for several buyers to read the same stock.
const WORK_MS: u64 = 50;

/// Buys one unit and prints the answer.
pub fn buy(options: &BuyOptions) -> Result<u8> {
    let shop = RunningShop::find()?;
    Runtime::new()?.block_on(async {
        let requests = requests(&shop)?;
        let strategy = match &options.strategy {
            Some(asked) => Some(strategy(&requests, asked).await?.name),
            None => None,
        };
        let received = requests.buy(&purchase(strategy, 0)).await?;
        console::print(&format!("{}\n", answer(&received)))?;
        Ok(AS_DESIGNED)
    })
}

/// Opens the sale, lets the buyers come, and prints their answers and the ledger.
pub fn crowd(options: &CrowdOptions) -> Result<u8> {
    let shop = RunningShop::find()?;
    Runtime::new()?.block_on(async {
        let requests = requests(&shop)?;
        let strategy = strategy(&requests, &options.strategy).await?;
        let opened = requests.open(ITEM, STOCK, true).await?;
        ensure!(opened.status == 200, "the sale cannot be opened: {}", opened.shown());
        if let Some(fault) = &options.fault {
            let armed = requests.fault(fault).await?;
            ensure!(
                armed.status.is_success(),
                "the shop refuses the fault: {}",
                armed.shown()
            );
        }
        let name = &strategy.name;
        console::print(&format!("{} buyers, {STOCK} units of {ITEM}, {name}\n", options.buyers))?;
        let answers = stream::iter(0..options.buyers)
            .map(
                async |_| match requests.buy(&purchase(Some(name.clone()), WORK_MS)).await {
                    Ok(received) => format!("{} {}", received.status.as_u16(), word(received.reply.kind)),
                    Err(_) => "no answer".to_owned(),
                },
            )
            .buffer_unordered(AT_ONCE);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for answer in answers.collect::<Vec<_>>().await {
            *counts.entry(answer).or_default() += 1;
        }
        let counted: String = counts
            .iter()
            .map(|(answer, count)| format!("{count:>6}  {answer}\n"))
            .collect();
        console::print(&counted)?;
        let stores = [strategy.store.stock, strategy.store.orders];
        if stores.iter().all(|store| shop.urls.contains_key(store)) {
            let reader = LedgerReader::connect(&shop.urls).await?;
            let limit = options.buyers as usize * 2;
            let facts = reader.settled(strategy.store, ITEM, limit).await?;
            console::print(&format!("in {}: {}\n", strategy.store, ledger(&facts)))?;
        }
        Ok(AS_DESIGNED)
    })
}

fn requests(shop: &RunningShop) -> Result<Requests> {
    Requests::to(Address {
        host: shop.host.clone(),
        admin: shop.admins.first().cloned().unwrap_or_default(),
        admin_token: shop.admin_token.clone(),
        trust: Trust::System,
    })
}

/// Returns the strategy of the shop that `asked` means.
async fn strategy(requests: &Requests, asked: &str) -> Result<Strategy> {
    let received = requests.get("/strategies", MAX_CATALOGUE).await?;
    let catalogue = catalogue::parse(&received.body)?;
    let names: Vec<_> = catalogue.iter().map(|strategy| strategy.name.as_str()).collect();
    let name = strategy_called(asked, &names)?;
    let found = catalogue.iter().find(|strategy| strategy.name == name);
    found.cloned().context("the strategy is in the catalogue")
}

fn purchase(strategy: Option<String>, work_ms: u64) -> Purchase {
    let key = Uuid::new_v4().simple().to_string();
    Purchase {
        strategy,
        item: ITEM.to_owned(),
        quantity: 1,
        buyer: format!("b-{}", &key[..8]),
        key,
        work_ms,
    }
}

fn word(word: ResponseKind) -> &'static str {
    match word {
        ResponseKind::Sold => "sold",
        ResponseKind::SoldOut => "sold out",
        ResponseKind::Busy => "busy",
        ResponseKind::Rejected => "rejected",
        ResponseKind::Unknown => "unknown",
    }
}

/// Returns an answer on one line.
fn answer(received: &Received) -> String {
    let head = format!("{} {}", received.status.as_u16(), word(received.reply.kind));
    let field = |name| received.field(name);
    match (received.reply.kind, field("order")) {
        (ResponseKind::Sold, Some(order)) => {
            let left = field("remaining").map_or(String::new(), |left| format!(", {left} left"));
            let by = received
                .reply
                .instance
                .as_ref()
                .map_or(String::new(), |by| format!(", by {}", one_line(by, MAX_NAME)));
            format!("{head}: order {order}{left}{by}")
        }
        _ => match field("detail").or(field("title")) {
            Some(detail) => format!("{head}: {detail}"),
            None => head,
        },
    }
}

/// Returns the units that the ledger has, on one line.
fn ledger(facts: &Facts) -> String {
    let recorded: i64 = facts.orders.iter().map(|order| order.quantity).sum();
    let left = facts
        .stock_left
        .map_or("no counter".to_owned(), |left| format!("{left} left"));
    let oversold = match recorded - STOCK {
        units @ 1.. => format!(": oversold by {units}"),
        _ => String::new(),
    };
    format!("{recorded} of {STOCK} units sold, {left}{oversold}")
}
