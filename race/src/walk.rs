//! A walk through a shop file with one buyer, which shows each request, each answer and each value that is taken.

use anyhow::{Context, Result};
use loadtest::shop::response::ResponseKind;

use crate::description::{Item, Step};
use crate::judged::Orders;
use crate::reading::Reading;
use crate::sale::Sale;
use crate::session::Session;
use crate::trial::Trial;

/// What a walk found.
#[derive(Debug, PartialEq, Eq)]
pub enum Walked {
    /// The shop file fits one buyer who buys.
    Fits,
    /// What is wrong.
    Wrong(String),
    /// It was stopped.
    Stopped,
}

/// Walks through the shop file: opens a sale, lets one buyer buy, and looks at stock and orders. Each line is said as soon as it
/// is known. When `stop` ends first, the walk does, too. The sale is closed in any case.
///
/// # Errors
/// When a step fails: what was seen, and the part of the shop file.
pub async fn walk(trial: &Trial, mut say: impl FnMut(&str), stop: impl Future<Output = ()>) -> Result<Walked> {
    let sale = trial.next_sale();
    let walked = trial.closing(&sale, buy(trial, &sale, &mut say), stop).await?;
    Ok(match walked {
        None => Walked::Stopped,
        Some(None) => Walked::Fits,
        Some(Some(wrong)) => Walked::Wrong(wrong),
    })
}

/// Returns what is wrong, if something is.
async fn buy(trial: &Trial, sale: &Sale, say: &mut impl FnMut(&str)) -> Result<Option<String>> {
    let before = trial.open(sale).await?;
    say(&format!("the sale is open: {}", in_words(trial, &before)));
    let mut session = trial.arrive(sale)?;
    for step in &trial.description.buyer {
        let line = line(trial, step, &session);
        let (answer, headers) = session.send(step).await.with_context(|| format!("[[buyer]] {line}"))?;
        if step.tells_sold_out(&answer) {
            say(&format!("{line}\n    {}", trial.shown(&answer)));
            return Ok(Some(
                "the only buyer was told sold out: look at `sold_out` in [[buyer]]".to_owned(),
            ));
        }
        let accepted = session.accept(step, &answer, &headers);
        // A value that was taken may be the key to a session.
        let taken = step
            .take
            .keys()
            .filter_map(|name| Some((name, session.values.get(name)?)));
        let shown = taken.fold(trial.shown(&answer), |shown, (name, value)| {
            if value.is_empty() {
                shown
            } else {
                shown.replace(value.as_str(), &format!("{{{name}}}"))
            }
        });
        say(&format!("{line}\n    {shown}"));
        accepted.context("[[buyer]]")?;
        for name in step.take.keys() {
            let length = session.values.get(name).map_or(0, String::len);
            say(&format!("    {name}: {length} bytes"));
        }
    }
    let race = &trial.description.race;
    let (answer, _) = session.send(race).await.context("[race]")?;
    let kind = trial.description.answers.kind(&answer);
    say(&format!(
        "{}\n    {}\n    {}",
        line(trial, race, &session),
        trial.shown(&answer),
        if kind == ResponseKind::Unknown {
            "not known by [answers]"
        } else {
            kind.in_words()
        }
    ));
    let after = trial.settled(sale).await?;
    say(&format!("afterwards: {}", in_words(trial, &after)));
    if kind != ResponseKind::Sold {
        let why = "the only buyer was not told sold: look at [race] and at `sold` in [answers]";
        return Ok(Some(why.to_owned()));
    }
    let buyer = trial.tie(&session.values);
    let items = trial.description.item.iter().zip(before.iter().zip(&after));
    let mut wrong = items.filter_map(|(item, (before, after))| wrong(item, before, after, &buyer));
    Ok(wrong.next().map(|why| trial.hidden(&why)))
}

/// Returns what is wrong with an item after one buyer bought one unit of it.
fn wrong(item: &Item, before: &Reading, after: &Reading, buyer: &str) -> Option<String> {
    let (stock, orders) = (item.part("stock"), item.part("orders"));
    let fell = before.left - after.left;
    if fell != 1 {
        return Some(format!(
            "one unit was sold, and the stock fell by {fell}: look at `read` in {stock}"
        ));
    }
    match &after.orders.clone().since(&before.orders) {
        Orders::Counted(new) if *new != 1 => Some(format!(
            "one unit was sold, and {new} more are counted: look at `count` in {orders}"
        )),
        Orders::Tied(new) if *new != [(buyer.to_owned(), 1)] => {
            let seen: Vec<_> = new
                .iter()
                .take(3)
                .map(|(of, units)| format!("one of {of:?} with {units}"))
                .collect();
            let seen = if seen.is_empty() {
                "none".to_owned()
            } else {
                seen.join(", ")
            };
            Some(format!(
                "one order of {buyer:?} with 1 unit should be new, and {seen} is: look at {orders}, and at `buyer` there"
            ))
        }
        _ => None,
    }
}

fn line(trial: &Trial, step: &Step, session: &Session) -> String {
    trial.hidden(&step.request.hidden(&session.values))
}

fn in_words(trial: &Trial, readings: &[Reading]) -> String {
    let items = trial.description.item.iter().zip(readings);
    let items = items.map(|(item, Reading { left, orders })| {
        let of = if item.name.is_empty() {
            String::new()
        } else {
            format!(" of {}", item.name)
        };
        match orders {
            Orders::Tied(orders) => format!("{left} left{of}, {} orders", orders.len()),
            Orders::Counted(units) => format!("{left} left{of}, {units} units ordered"),
            Orders::NotRead => format!("{left} left{of}"),
        }
    });
    items.collect::<Vec<_>>().join("; ")
}
