//! A story as a picture: moments from top to bottom, a column for each purchase and one for the stores. Bars show when a
//! purchase holds the lock, and when it only believes that it does.

use serde::{Serialize, Serializer};

use super::wrong_write::{wrong_write, wrote};
use crate::report::story::{self, fate, letter};
use crate::text::one_line;
use crate::trace::{IncidentKind, Role, StepValue, Story, StoryStep};

/// The longest name that is shown.
const LONGEST: usize = 64;

/// A story that can be drawn.
#[derive(Serialize)]
pub(super) struct Timeline {
    lanes: Vec<Lane>,
    rows: Vec<Row>,
    words: String,
}

/// The column of a purchase: its letter, its buyer, its instance, and the response to the buyer.
#[derive(Serialize)]
struct Lane(char, String, String, &'static str);

/// A moment: the time in microseconds, the place of the purchase, the words, the mark, the state of each purchase, and the
/// news in the stores. The last purchases have no state where none of them has the lock, and empty texts at the end of a row are
/// left out: a run has thousands of rows.
struct Row(i64, Option<usize>, String, Mark, String, String);

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(at_us, purchase, words, mark, states, news) = self;
        match [mark.name(), states, news] {
            ["", "", ""] => (at_us, purchase, words).serialize(serializer),
            [mark, "", ""] => (at_us, purchase, words, mark).serialize(serializer),
            [mark, states, ""] => (at_us, purchase, words, mark, states).serialize(serializer),
            [mark, states, news] => (at_us, purchase, words, mark, states, news).serialize(serializer),
        }
    }
}

/// The kind of a moment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// No step ends here that matters for the stock.
    None,
    /// Something that is no step of a purchase.
    Event,
    Read,
    Write,
    /// The first write that takes away the units of another purchase, leaves less than nothing, or comes without the lock; or
    /// the step of a worker that sells units which another purchase has taken.
    WrongWrite,
}

impl Mark {
    fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Event => "event",
            Self::Read => "read",
            Self::Write => "write",
            Self::WrongWrite => "wrong",
        }
    }
}

/// The time for which a purchase takes itself for the holder of the lock, in microseconds.
pub(super) struct Hold {
    purchase: usize,
    from_us: i64,
    /// The end of its release.
    until_us: i64,
    /// The moment from which the store no longer has the lock for it.
    lost_us: i64,
}

impl Timeline {
    /// Draws a story, which these words tell.
    pub(super) fn of(story: &Story, words: String) -> Self {
        let lanes = story.purchases.iter().enumerate().map(|(place, purchase)| {
            let [buyer, instance] = [&purchase.buyer, &purchase.instance].map(|name| one_line(name, LONGEST));
            Lane(letter(place), buyer, instance, fate(purchase))
        });
        Self {
            lanes: lanes.collect(),
            rows: rows(story),
            words,
        }
    }
}

fn rows(story: &Story) -> Vec<Row> {
    let lines = story::lines(story);
    let holds = holds(story);
    let last_of = |purchase| {
        let own = lines.iter().filter(|line| line.purchase == Some(purchase));
        own.map(|line| line.at_us).max().unwrap_or(i64::MIN)
    };
    let ends: Vec<i64> = (0..story.purchases.len()).map(last_of).collect();
    let wrong = wrong_write(story, &holds);
    let mut holder = None;
    let rows = lines.iter().map(|line| {
        let step = line.ends.and_then(|place| story.steps.get(place));
        let lanes = ends.iter().enumerate();
        let states = lanes.map(|(purchase, end)| {
            let is_alive = line.at_us <= *end;
            let hold = holds.iter().find(|hold| is_alive && hold.is_of(purchase, line.at_us));
            hold.map_or('.', |hold| if hold.is_true(line.at_us) { 'h' } else { 'b' })
        });
        let mut states: String = states.collect();
        states.truncate(states.trim_end_matches('.').len());
        let mut news = Vec::new();
        let now = holds
            .iter()
            .find(|hold| hold.is_stored(line.at_us))
            .map(|hold| hold.purchase);
        if now != holder {
            holder = now;
            news.push(now.map_or_else(
                || "lock free".to_owned(),
                |purchase| format!("lock: {}", letter(purchase)),
            ));
        }
        if let Some(left) = step.and_then(wrote) {
            news.push(format!("stock {left}"));
        }
        let mark = match (line.purchase, step.and_then(|step| step.role)) {
            (None, _) => Mark::Event,
            _ if line.ends.is_some() && line.ends == wrong => Mark::WrongWrite,
            (_, Some(Role::Read)) => Mark::Read,
            (_, Some(Role::Write)) => Mark::Write,
            _ => Mark::None,
        };
        Row(
            line.at_us,
            line.purchase,
            line.text.clone(),
            mark,
            states,
            news.join(", "),
        )
    });
    rows.collect()
}

/// Returns when each purchase believes that it holds the lock.
fn holds(story: &Story) -> Vec<Hold> {
    let mut holds: Vec<Hold> = Vec::new();
    for purchase in 0..story.purchases.len() {
        let mut from = None;
        for step in story.steps.iter().filter(|step| step.purchase == purchase) {
            let Some(ended_us) = step.ended_us.map(signed) else {
                continue;
            };
            if is_taken(step) {
                from = from.or(Some(ended_us));
            } else if step.role == Some(Role::Release)
                && let Some(from_us) = from.take()
            {
                holds.push(Hold::new(purchase, from_us, ended_us));
            }
        }
        if let Some(from_us) = from {
            holds.push(Hold::new(purchase, from_us, i64::MAX));
        }
    }
    let taken: Vec<(usize, i64)> = holds.iter().map(|hold| (hold.purchase, hold.from_us)).collect();
    for hold in &mut holds {
        let ended = story
            .events
            .iter()
            .filter(|event| event.what == IncidentKind::LeaseEnded);
        let ended = ended
            .filter(|event| event.purchase == Some(hold.purchase))
            .map(|event| event.began_us);
        let others = taken
            .iter()
            .filter(|(purchase, _)| *purchase != hold.purchase)
            .map(|(_, from_us)| *from_us);
        let meanwhile = ended
            .chain(others)
            .filter(|at_us| (hold.from_us..hold.until_us).contains(at_us));
        hold.lost_us = meanwhile.min().unwrap_or(hold.until_us);
    }
    holds
}

fn is_taken(step: &StoryStep) -> bool {
    let is_taken = matches!(step.value, Some(StepValue::Taken(true) | StepValue::Fence(_)));
    step.role == Some(Role::Lock) && is_taken
}

impl Hold {
    fn new(purchase: usize, from_us: i64, until_us: i64) -> Self {
        Self {
            purchase,
            from_us,
            until_us,
            lost_us: until_us,
        }
    }

    /// Whether this purchase believes at that moment that it holds the lock.
    pub(super) fn is_of(&self, purchase: usize, at_us: i64) -> bool {
        self.purchase == purchase && (self.from_us..=self.until_us).contains(&at_us)
    }

    /// Whether that belief is true at that moment.
    pub(super) fn is_true(&self, at_us: i64) -> bool {
        at_us < self.lost_us || self.lost_us == self.until_us
    }

    /// Whether the store has the lock for it at that moment.
    fn is_stored(&self, at_us: i64) -> bool {
        (self.from_us..self.lost_us).contains(&at_us)
    }
}

pub(super) fn signed(at_us: u64) -> i64 {
    i64::try_from(at_us).unwrap_or(i64::MAX)
}
