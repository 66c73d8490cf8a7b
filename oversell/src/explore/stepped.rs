//! The schedule of a lab, whose steps a reader chooses.

use anyhow::{Context, Result};
use explore::{Arrivals, Bounds, EventKind, Player, Schedule, search};
use workshop::Schedule as Wanted;

use super::asker::{Asker, Talk};
use super::{stores, told};

/// Lets the reader choose until no purchase can go on. Returns what came of it, and the shortest schedule that breaks a promise.
///
/// # Errors
/// When the strategy or the event is not known, or a store fails.
pub async fn stepped(wanted: &Wanted, fetch: bool, talk: &mut dyn Talk) -> Result<String> {
    let strategy = wanted.strategy.as_str();
    let kinds = match &wanted.event {
        None => Vec::new(),
        Some(name) => {
            let known = EventKind::ALL.into_iter().find(|kind| kind.name() == name);
            vec![known.with_context(|| format!("there is no event {name}"))?]
        }
    };
    let arrivals = |wanted: &Wanted| Arrivals {
        purchases: wanted.purchases.into(),
        instances: wanted.instances.into(),
    };
    let bounds = Bounds {
        preemptions: Some(Wanted::PREEMPTIONS),
        events: kinds.len(),
        kinds,
        is_reduced: false,
        are_alike: false,
        schedules: 100_000,
    };
    let stores = stores(strategy, fetch).await?;
    let mut player = Player::open(strategy, arrivals(wanted), bounds.possible_kinds(), &stores).await?;
    let mut asker = Asker::new(player.turns(), bounds.events, bounds.kinds.clone(), talk);
    let Some(play) = player.play(&mut asker).await? else {
        return Ok("ended before all purchases were over".to_owned());
    };
    let own = told(&Schedule::of(strategy, &play));
    // Its instances end before others use the stores.
    drop(asker);
    drop(player);
    let mut player = Player::open(strategy, arrivals(&wanted.of_two()), bounds.possible_kinds(), &stores).await?;
    let shortest = search(&mut player, &bounds).await?.shortest;
    let shortest = shortest.map(|found| told(&Schedule::of(strategy, &found.play)));
    Ok(format!(
        "{own}\n\nThe shortest way:\n\n{}\n",
        shortest.unwrap_or_else(|| "none was found".to_owned())
    ))
}
