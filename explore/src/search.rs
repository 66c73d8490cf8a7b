//! A search through the schedules of a strategy.

use anyhow::Result;
use loadtest::shop::response::ResponseKind;

use crate::bounds::Bounds;
use crate::choice::Cost;
use crate::depth_first::DepthFirst;
use crate::estimate::estimate;
use crate::play::{Play, Player};
use crate::random::Random;

/// The end of a schedule: each response, those to second arrivals last, and name and size of each finding.
pub type End = (Vec<ResponseKind>, Vec<(&'static str, i64)>);

/// The result of a search.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The schedules that were played to their end.
    pub schedules: u64,
    /// Those of them that violate a promise.
    pub violated: u64,
    /// The schedules without an event at whose end a purchase tries again in vain, although all others are over.
    pub in_vain: u64,
    /// The schedules that were ended early, because they differ from others only in the order of steps that commute.
    pub ended_early: u64,
    /// Whether no schedule within the bounds is left.
    pub is_exhausted: bool,
    /// About how many schedules are within the bounds, where some are left and all count.
    pub about: Option<u64>,
    /// The different ends of the schedules that were played to their end.
    pub ends: Vec<End>,
    /// Whether a schedule that was played to its end had an event.
    pub has_event: bool,
    /// The violation with the fewest events, then with the fewest preemptions, then with the fewest steps.
    pub shortest: Option<Violation>,
}

/// A schedule that violates a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The schedule.
    pub play: Play,
    /// Its preemptions and events.
    pub cost: Cost,
}

/// Plays every schedule within the bounds. If there are too many, it estimates how many there are, unless the search is reduced.
///
/// # Errors
/// When a store fails, or the bounds exclude each other.
pub async fn search(player: &mut Player, bounds: &Bounds) -> Result<Found> {
    let mut found = search_until(player, bounds, |_| false).await?;
    if !found.is_exhausted && !bounds.is_reduced {
        found.about = Some(estimate(player, bounds).await?);
    }
    Ok(found)
}

/// Does the same, and ends when `is_enough` was found.
///
/// # Errors
/// When a store fails, or the bounds exclude each other.
pub async fn search_until(player: &mut Player, bounds: &Bounds, is_enough: impl Fn(&Found) -> bool) -> Result<Found> {
    let mut found = Found::default();
    let mut search = DepthFirst::within(bounds.clone())?;
    while found.schedules < bounds.schedules && !is_enough(&found) {
        match player.play(&mut search).await? {
            Some(play) => found.take(Violation {
                cost: search.cost(),
                play,
            }),
            None => found.ended_early += 1,
        }
        if !search.next()? {
            found.is_exhausted = true;
            break;
        }
    }
    Ok(found)
}

/// Plays so many random schedules.
///
/// # Errors
/// When a store fails.
pub async fn sample(player: &mut Player, random: &mut Random, schedules: u64) -> Result<Found> {
    let mut found = Found::default();
    for _ in 0..schedules {
        if let Some(play) = player.play(random).await? {
            found.take(Violation {
                cost: random.cost(),
                play,
            });
        }
        random.next();
    }
    Ok(found)
}

impl Found {
    fn take(&mut self, played: Violation) {
        self.schedules += 1;
        self.has_event |= played.cost.events > 0;
        self.in_vain += u64::from(played.play.tries_in_vain && played.cost.events == 0);
        let Play {
            told,
            told_again,
            findings,
            ..
        } = &played.play;
        let again = told_again.iter().map(|(_, told)| *told);
        let end = (told.iter().copied().chain(again).collect(), findings.clone());
        if !self.ends.contains(&end) {
            self.ends.push(end);
        }
        if played.play.findings.is_empty() {
            return;
        }
        self.violated += 1;
        if self
            .shortest
            .as_ref()
            .is_none_or(|known| played.length() < known.length())
        {
            self.shortest = Some(played);
        }
    }
}

impl Violation {
    fn length(&self) -> (usize, usize, usize) {
        (self.cost.events, self.cost.preemptions, self.play.choices.len())
    }
}
