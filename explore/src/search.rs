//! The search through the schedules, depth first: each is played from its beginning.

use anyhow::Result;

use crate::choice::{Choice, Cost, Point};
use crate::play::{Play, Player};

/// The bounds of a search.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most preemptions and the most events of a schedule.
    pub cost: Cost,
    /// The most schedules.
    pub schedules: u64,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Found {
    /// The schedules that were played.
    pub schedules: u64,
    /// Those of them that violate a promise.
    pub violated: u64,
    /// Whether no schedule within the bounds is left.
    pub is_exhausted: bool,
    /// The violation with the fewest events, then with the fewest preemptions, then with the fewest steps.
    pub shortest: Option<Play>,
}

/// Plays every schedule within the bounds.
///
/// # Errors
/// When a store fails.
pub async fn search(player: &mut Player, bounds: Bounds) -> Result<Found> {
    let mut found = Found {
        schedules: 0,
        violated: 0,
        is_exhausted: false,
        shortest: None,
    };
    let mut choices = Vec::new();
    while found.schedules < bounds.schedules {
        let play = player.play(&choices, bounds.cost).await?;
        found.schedules += 1;
        let next = next(&play.points, bounds.cost);
        if !play.findings.is_empty() {
            found.violated += 1;
            if found
                .shortest
                .as_ref()
                .is_none_or(|known| length(&play) < length(known))
            {
                found.shortest = Some(play);
            }
        }
        let Some(next) = next else {
            found.is_exhausted = true;
            break;
        };
        choices = next;
    }
    Ok(found)
}

fn length(play: &Play) -> (usize, usize, usize) {
    let cost = Cost::of(&play.points);
    (cost.events, cost.preemptions, play.points.len())
}

/// Returns the choices of the next schedule: at the deepest point where another choice was possible within the bounds, that
/// one is made.
fn next(points: &[Point], bounds: Cost) -> Option<Vec<Choice>> {
    for (depth, point) in points.iter().enumerate().rev() {
        let before = &points[..depth];
        let fits = |other: &&Choice| {
            let mut cost = Cost::of(before);
            cost.add(point, **other);
            cost.is_within(bounds)
        };
        let tried = point.options.iter().position(|option| *option == point.chosen)?;
        if let Some(other) = point.options[tried + 1..].iter().find(fits) {
            let choices = before.iter().map(|point| point.chosen);
            return Some(choices.chain([*other]).collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schedules of two purchases with two steps each, by the search alone.
    fn all(preemptions: usize) -> Vec<Vec<usize>> {
        let bounds = Cost { preemptions, events: 0 };
        let (mut played, mut choices) = (Vec::new(), Vec::new());
        loop {
            let (mut left, mut points, mut last): ([usize; 2], Vec<Point>, Option<usize>) = ([2, 2], Vec::new(), None);
            while left != [0, 0] {
                let mut ready: Vec<usize> = (0..2).filter(|number| left[*number] > 0).collect();
                ready.sort_by_key(|number| Some(*number) != last);
                let options: Vec<Choice> = ready.iter().map(|number| Choice::Step(*number)).collect();
                let chosen = choices.get(points.len()).copied().unwrap_or(options[0]);
                let Choice::Step(purchase) = chosen else {
                    unreachable!("no event is possible")
                };
                points.push(Point {
                    options,
                    chosen,
                    going_on: last.filter(|last| left[*last] > 0),
                });
                left[purchase] -= 1;
                last = Some(purchase);
            }
            played.push(points.iter().filter_map(purchase_of).collect());
            match next(&points, bounds) {
                Some(next) => choices = next,
                None => return played,
            }
        }
    }

    fn purchase_of(point: &Point) -> Option<usize> {
        match point.chosen {
            Choice::Step(purchase) => Some(purchase),
            Choice::LeaseEnds | Choice::Crash(_) => None,
        }
    }

    #[test]
    fn every_schedule_within_the_bound_is_played_once() {
        for (bound, expected) in [(0, 2), (1, 4), (2, 6), (9, 6)] {
            let mut played = all(bound);
            played.sort();
            let length = played.len();
            played.dedup();
            assert_eq!((played.len(), length), (expected, expected), "bound {bound}");
        }
    }
}
