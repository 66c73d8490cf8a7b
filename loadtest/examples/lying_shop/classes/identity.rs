//! Processes that are not what their names and silences say. The effect of a crash is in `fault`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use uuid::Uuid;

use super::faults;
use crate::answer::Answer;
use crate::lies::Lie;
use crate::lying_instance::Shop;
use crate::purchase::Purchase;

/// How long one name lasts where names change with time.
const NAME_LASTS_MS: u128 = 1;

/// How long a process that seems to stand still for three seconds does so.
const STANDS_STILL_FOR: Duration = Duration::from_secs(1);

/// A name in an answer that is not the own one of the process.
pub enum OtherName {
    /// None at all.
    Nobody,
    Is(&'static str),
}

pub async fn sell(purchase: &Purchase) -> Result<Answer> {
    let silent = &purchase.shop.admin_connections;
    if let Some(silence) = purchase.request.pause.filter(|_| is_silent_in_a_pause(purchase.lie())) {
        silent.silence(silence);
        tokio::time::sleep(silence).await;
        return purchase.plain().await;
    }
    match purchase.lie() {
        lie if faults::is_of_survivors(lie) => return faults::surviving(purchase).await,
        Lie::CrashFinishesFirst if !silent.silence_left().is_zero() => return Ok(Answer::Cut),
        Lie::PausesAndIsBusy if !silent.silence_left().is_zero() => return Ok(Answer::Busy),
        _ => {}
    }
    let answer = purchase.plain().await;
    let held_for = match (purchase.lie(), purchase.request.pause) {
        (Lie::CrashAnswersLater, _) => silent.silence_left(),
        (Lie::PausesForASecond, _) => silent.silence_left().saturating_sub(2 * STANDS_STILL_FOR),
        _ => Duration::ZERO,
    };
    tokio::time::sleep(held_for).await;
    answer
}

/// Returns whether a pause only silences the admin listener.
pub fn is_silent_in_a_pause(lie: Lie) -> bool {
    matches!(
        lie,
        Lie::PausesOnlyAdmin
            | Lie::PausesOnlyNamedAdmin
            | Lie::PausesNamesNobody
            | Lie::PausesSellsAsOther
            | Lie::PausesUnderOtherName
            | Lie::PausesForASecond
            | Lie::PausesAndIsBusy
    )
}

/// Returns the name of this process at its admin listener.
pub fn admin_name(shop: &Shop) -> &str {
    match shop.lie {
        Lie::CrashNamesOther | Lie::PausesUnderOtherName => other(shop),
        _ => &shop.instance,
    }
}

/// Returns the name in the answer to a purchase; `None` for the own one.
pub fn name(purchase: &Purchase) -> Option<OtherName> {
    let shop = &purchase.shop;
    let of_two = |bit: bool| OtherName::Is(if bit { "app-1" } else { "app-2" });
    match shop.lie {
        Lie::BothNames => Some(of_two(shop.turn().is_multiple_of(2))),
        Lie::NamesOfMany => Some(OtherName::Is(
            ["app-1", "app-2", "app-3", "app-4", "app-5"][shop.turn() % 5],
        )),
        Lie::NamesByBuyer => Some(of_two(is_even(&purchase.request.buyer))),
        Lie::NamesByKey => Some(of_two(is_even(&purchase.request.key))),
        Lie::NamesByTime => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Some(of_two((now.as_millis() / NAME_LASTS_MS).is_multiple_of(2)))
        }
        Lie::NamesByChance => Some(of_two(Uuid::new_v4().as_u128().is_multiple_of(2))),
        _ if shop.admin_connections.silence_left().is_zero() => None,
        Lie::CrashNamesNobody | Lie::PausesNamesNobody => Some(OtherName::Nobody),
        Lie::CrashSellsAsOther | Lie::PausesSellsAsOther | Lie::PausesForASecond | Lie::PausesAndIsBusy => {
            Some(OtherName::Is(other(shop)))
        }
        _ => None,
    }
}

fn is_even(text: &str) -> bool {
    text.bytes().map(usize::from).sum::<usize>().is_multiple_of(2)
}

fn other(shop: &Shop) -> &'static str {
    if shop.instance == "app-1" { "app-2" } else { "app-1" }
}
