//! The interleaving at the head of a mechanism's file can be played, step by step, and ends as it says.

use std::collections::VecDeque;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use app::probe::{Role, Step};
use app::strategies::Entry;
use explore::{Arrivals, Choice, Choose, EventKind, Moment, Player, Schedule, Turns, columns};
use stack::Stores;

use crate::{STARTED, TWO, started, strategies};

/// Mechanisms whose interleaving this test cannot play, each with the reason.
const EXCEPT: [(&str, &str); 10] = [
    ("at", "the stores refuse no order"),
    ("at-for-update", "the stores refuse no order"),
    ("combining", "four purchases meet at one instance"),
    ("expiry-value", "its lock has no time to live"),
    ("expiry-value-mixed-units", "2 ms pass, and no lease ends"),
    ("getset-time", "two clocks differ"),
    ("interval", "3 ms pass, and no lease ends"),
    ("redlock", "three of five servers fail"),
    ("setnx-no-finally", "the store fails"),
    ("token-count", "the purchases are of two items"),
];

/// The steps that an interleaving need not name.
const UNNAMED: [&str; 11] = [
    "connect",
    "find",
    "begin",
    "isolate",
    "work",
    "pause",
    "yield",
    "wait",
    "xa-start",
    "read-left",
    "rollback",
];

/// What an interleaving says of its end, and the finding that stands for it.
const ENDS: [(&str, &str); 3] = [
    ("oversold", "oversold"),
    ("nobody ever sells again", "stuck"),
    ("the unit is lost", "drift"),
];

/// What happens next in an interleaving.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Move {
    /// The purchase of this number, from 0, takes the steps that these words name.
    Steps(usize, Vec<String>),
    Event(Choice),
    /// Background workers have taken the steps that these words name.
    Work(Vec<String>),
}

/// Returns the interleaving at the head of a file.
fn interleaving(header: &str) -> Option<&str> {
    let (_, rest) = header.split_once("```text\n")?;
    Some(rest.split_once("\n```")?.0)
}

/// Returns the moves of an interleaving. A line begins with the purchase, or with the worker; `;` stands between moves, and
/// two dashes before a remark.
fn moves(text: &str) -> Result<Vec<Move>> {
    let mut moves = Vec::new();
    for line in text.lines() {
        let line = line.split("--").next().unwrap_or_default().trim();
        let (actor, words) = line.split_once(": ").unwrap_or(("", line));
        for words in words.split(';').map(str::trim).filter(|words| !words.is_empty()) {
            moves.push(a_move(actor, words)?);
        }
    }
    Ok(moves)
}

fn a_move(actor: &str, words: &str) -> Result<Move> {
    let purchase = ["A", "B", "C"].iter().position(|called| *called == actor);
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let split = || words.split(|letter| !is_part(letter)).map(str::to_owned).collect();
    Ok(match (purchase, words) {
        (Some(purchase), "(killed)") => Move::Event(Choice::Crash(purchase)),
        (_, "(the lease ends)") => Move::Event(Choice::LeaseEnds),
        (_, "(Redis loses the lock)") => Move::Event(Choice::RedisEmpties),
        (Some(purchase), _) => Move::Steps(purchase, split()),
        (None, _) if !actor.is_empty() => Move::Work(split()),
        (None, _) => bail!("nobody does: {words}"),
    })
}

/// Returns whether a word names the step, by its name, its role or a command.
fn is_name(word: &str, step: &Step) -> bool {
    let is_role = match step.role {
        Some(Role::Record) => word == "order",
        Some(role) => word == role.name(),
        None => false,
    };
    word == step.name || (!UNNAMED.contains(&step.name) && (is_role || step.sends.contains(&word)))
}

/// Makes the moves of an interleaving, and after them the first choice that is possible.
struct Follow {
    turns: Arc<Turns>,
    /// Every step of the strategy.
    steps: Vec<Step>,
    moves: VecDeque<Move>,
    /// The steps that were taken of the move that comes next.
    taken: Vec<Step>,
}

impl Choose for Follow {
    fn may(&self, event: EventKind, _events: usize) -> bool {
        let is_that = |next: &Move| matches!(next, Move::Event(choice) if choice.event() == Some(event));
        self.moves.iter().any(is_that)
    }

    fn choose(&mut self, moment: &Moment) -> Result<Option<Choice>> {
        loop {
            let Some(next) = self.moves.pop_front() else {
                return Ok(moment.possible.first().map(|possible| possible.choice));
            };
            let chosen = match next {
                Move::Event(event) => Some(event),
                Move::Work(words) => {
                    self.check_work(&words)?;
                    None
                }
                Move::Steps(purchase, words) => self.step(purchase, words, moment)?,
            };
            if let Some(chosen) = chosen {
                let is_possible = moment.possible.iter().any(|possible| possible.choice == chosen);
                ensure!(is_possible, "{chosen:?} is not possible");
                return Ok(Some(chosen));
            }
        }
    }
}

impl Follow {
    /// Returns the step of a purchase that its next words name, or one before it that goes without saying. Returns `None`
    /// where the words name no more.
    fn step(&mut self, purchase: usize, mut words: Vec<String>, moment: &Moment) -> Result<Option<Choice>> {
        let choice = Choice::Step(purchase);
        let is_possible = moment.possible.iter().any(|possible| possible.choice == choice);
        let ready = self.turns.ready().into_iter().find(|(number, _)| *number == purchase);
        let next = ready.filter(|_| is_possible).map(|(_, step)| step);
        let names_more = self
            .steps
            .iter()
            .any(|step| words.iter().any(|word| is_name(word, step)));
        if let Some(step) = next {
            let named = words.iter().position(|word| is_name(word, &step));
            let goes_without_saying = UNNAMED.contains(&step.name) && (names_more || self.taken.is_empty());
            if named.is_some() || goes_without_saying {
                if let Some(named) = named {
                    words.remove(named);
                    self.taken.push(step);
                }
                self.moves.push_front(Move::Steps(purchase, words));
                return Ok(Some(choice));
            }
        }
        let waits = ["BLOCKS", "unblocked", "waits", "woken"];
        ensure!(
            !self.taken.is_empty() || words.iter().any(|word| waits.contains(&word.as_str())),
            "{words:?} names no step, the next one is {:?}",
            next.map(|step| step.name)
        );
        let sent: Vec<_> = self.taken.drain(..).flat_map(|step| step.sends).collect();
        let is_command = |word: &&String| word.len() > 2 && word.chars().all(|letter| letter.is_ascii_uppercase());
        // A script sends what it likes.
        for command in words.iter().filter(is_command).filter(|_| !sent.contains(&&"EVALSHA")) {
            let is_sent = sent.contains(&&command.as_str()) || command == "BLOCKS";
            ensure!(is_sent, "{command} is not sent, but {sent:?}");
        }
        Ok(None)
    }

    /// Checks that nothing is left: no step was asked for after the last one that the interleaving names.
    fn end(mut self) -> Result<()> {
        while let Some(next) = self.moves.pop_front() {
            match next {
                Move::Steps(..) if !self.taken.is_empty() => self.taken.clear(),
                Move::Work(words) => self.check_work(&words)?,
                next => bail!("{next:?} is not played"),
            }
        }
        Ok(())
    }

    fn check_work(&self, words: &[String]) -> Result<()> {
        let work = self.turns.work();
        let named = self
            .steps
            .iter()
            .filter(|step| words.iter().any(|word| word == step.name));
        for step in named.clone() {
            ensure!(
                work.iter().any(|work| work.step == *step),
                "no worker took {}",
                step.name
            );
        }
        ensure!(named.count() > 0, "{words:?} names no step");
        Ok(())
    }
}

#[tokio::test]
async fn the_interleaving_at_the_head_of_a_mechanism_is_played_and_ends_as_it_says() {
    let services = [STARTED, &["pg"]].concat();
    let stores = started(&services);
    let mut played = Vec::new();
    let mut wrong = Vec::new();
    for entry in strategies(&services) {
        let mechanism = entry.mechanism.name;
        let header = entry.mechanism.header();
        let Some(text) = interleaving(&header) else { continue };
        // Redis can lose its data only where the sale is elsewhere.
        let is_playable = entry.store == "sql" || !text.contains("Redis loses");
        let is_excepted = EXCEPT.iter().any(|(except, _)| *except == mechanism);
        if !is_playable || is_excepted || played.contains(&mechanism) {
            continue;
        }
        played.push(mechanism);
        if let Err(error) = follow(&entry, text, &stores).await {
            wrong.push(format!("{}: {error:#}\n{text}", entry.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

async fn follow(entry: &Entry, text: &str, stores: &Stores) -> Result<()> {
    let moves = moves(text)?;
    let purchases = moves.iter().filter_map(|next| match next {
        Move::Steps(purchase, _) => Some(purchase + 1),
        Move::Event(_) | Move::Work(_) => None,
    });
    let purchases = purchases.max().unwrap_or_default().max(2);
    let mut player = Player::open(&entry.name, Arrivals { purchases, ..TWO }, &[], stores).await?;
    let mut follow = Follow {
        turns: player.turns(),
        steps: entry.steps.clone(),
        moves: moves.into(),
        taken: Vec::new(),
    };
    let play = player.play(&mut follow).await?;
    let Some(play) = play else {
        bail!("the schedule ended early")
    };
    let schedule = columns(&Schedule::of(&entry.name, &play));
    follow.end().with_context(|| format!("at the end of\n{schedule}"))?;
    for (words, finding) in ENDS {
        let is_found = play.findings.iter().any(|(found, _)| *found == finding);
        ensure!(!text.contains(words) || is_found, "{finding} is not found\n{schedule}");
    }
    Ok(())
}
