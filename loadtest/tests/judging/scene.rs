//! A round that went well, to be spoiled by one row of a table each.

use std::time::{Duration, Instant};

use loadtest::audit::{Judgement, Stake, Verdict, judge};
use loadtest::facts::{Facts, Order};
use loadtest::told::{Answer, SecondClick, Told, Word};

/// The length of every answer in a scene.
pub const ANSWER: Duration = Duration::from_millis(10);

/// What the verdict is made of.
pub struct Scene {
    pub stake: Stake,
    pub told: Told,
    pub facts: Facts,
    start: Instant,
}

/// A row: its name, how it spoils the round, and what has to be found.
pub struct Row {
    pub name: &'static str,
    pub spoil: fn(&mut Scene),
    pub verdict: Verdict,
    pub findings: &'static [(&'static str, i64)],
    pub explained: i64,
    pub reason: Option<&'static str>,
}

impl Scene {
    /// Buyers 0 and 1 got orders o-0 and o-1, the whole stock; buyer 2 was told sold out. All three met.
    pub fn exact() -> Self {
        Self::of(1)
    }

    /// The same with purchases of that many units.
    pub fn of(quantity: i64) -> Self {
        let mut scene = Self {
            stake: Stake {
                stock: 2 * quantity,
                quantity,
                contended: true,
                instances: 2,
                fault: None,
            },
            told: Told::default(),
            facts: Facts::default(),
            start: Instant::now(),
        };
        scene.sold(0, Some("o-0"));
        scene.sold(1, Some("o-1"));
        scene.say(2, Word::SoldOut);
        scene.record("o-0", quantity, Some("k-0"));
        scene.record("o-1", quantity, Some("k-1"));
        scene
    }

    /// An answer to the purchase with key `k-{place}`.
    pub fn answer(&self, place: usize, word: Word, order: Option<&str>) -> Answer {
        let sold = word == Word::Sold;
        Answer {
            key: format!("k-{place}"),
            word,
            order: order.map(str::to_owned),
            instance: sold.then(|| ["a", "b"][place % 2].to_owned()),
            intended: self.start,
            sent: self.start,
            ended: self.start + ANSWER,
        }
    }

    pub fn sold(&mut self, place: usize, order: Option<&str>) {
        let answer = self.answer(place, Word::Sold, order);
        self.told.answers.push(answer);
    }

    pub fn say(&mut self, place: usize, word: Word) {
        let answer = self.answer(place, word, None);
        self.told.answers.push(answer);
    }

    /// Every answer of the attack is `word`, and no order was recorded.
    pub fn all(&mut self, word: Word) {
        self.told.answers.clear();
        (0..3).for_each(|place| self.say(place, word));
        self.facts.orders.clear();
        self.facts.stock_left = self.stake.stock;
    }

    pub fn last_buyer(&mut self, word: Word) {
        self.told.last_buyer = Some(self.answer(9, word, None));
    }

    /// A second click is answered with `word` and `order`; the first was sold as `o-0`.
    pub fn click_again(&mut self, word: Word, order: Option<&str>, recorded: i64) {
        self.told.second_click = Some(SecondClick {
            first: self.answer(0, Word::Sold, Some("o-0")),
            second: self.answer(0, word, order),
            recorded,
        });
    }

    pub fn record(&mut self, id: &str, quantity: i64, key: Option<&str>) {
        self.facts.orders.push(Order {
            id: id.to_owned(),
            quantity,
            key: key.map(str::to_owned),
        });
    }

    pub fn unrecord(&mut self, id: &str) {
        self.facts.orders.retain(|order| order.id != id);
    }

    pub fn judge(&self) -> Judgement {
        judge(&self.stake, &self.told, &self.facts)
    }
}

/// Something is found, and the round is violated.
pub fn violated(name: &'static str, findings: &'static [(&'static str, i64)], spoil: fn(&mut Scene)) -> Row {
    Row {
        name,
        spoil,
        verdict: Verdict::Violated,
        findings,
        explained: 0,
        reason: None,
    }
}

/// Nothing is found, and the round proves nothing.
pub fn inconclusive(name: &'static str, reason: &'static str, spoil: fn(&mut Scene)) -> Row {
    Row {
        name,
        spoil,
        verdict: Verdict::Inconclusive,
        findings: &[],
        explained: 0,
        reason: Some(reason),
    }
}

/// Nothing is found, and the round is a pass.
pub fn holds(name: &'static str, spoil: fn(&mut Scene)) -> Row {
    Row {
        name,
        spoil,
        verdict: Verdict::Holds,
        findings: &[],
        explained: 0,
        reason: None,
    }
}

/// Spoils a round for each row, and says of all rows at once where the judge was wrong.
pub fn check(rows: &[Row], scene: fn() -> Scene) {
    let mut wrong = Vec::new();
    for row in rows {
        let mut scene = scene();
        (row.spoil)(&mut scene);
        let judged = scene.judge();
        let found = (
            judged.verdict,
            judged.findings.named(),
            judged.explained,
            judged.inconclusive.as_deref(),
        );
        let expected = (row.verdict, row.findings.to_vec(), row.explained, row.reason);
        if found != expected {
            wrong.push(format!("{}:\n     found {found:?}\n  expected {expected:?}", row.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
