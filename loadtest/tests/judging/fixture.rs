//! A round that went well, to be spoiled by one row of a table each.

use std::time::{Duration, Instant};

use loadtest::answer::{Answer, Word};
use loadtest::audit::{Excuses, Expectation, FaultSeen, Judgement, Verdict, judge};
use loadtest::facts::{Facts, Look, Order};
use loadtest::told::Told;

/// The length of every answer in a fixture.
pub const ANSWER: Duration = Duration::from_millis(10);

/// What the verdict is made of.
pub struct Fixture {
    pub expected: Expectation,
    pub told: Told,
    /// What the last look shows.
    pub facts: Facts,
    /// Looks before it.
    pub earlier: Vec<Look>,
    pub start: Instant,
}

/// A row: its name, how it spoils the round, and what has to be found.
pub struct Row {
    pub name: &'static str,
    pub spoil: fn(&mut Fixture),
    pub verdict: Verdict,
    pub findings: &'static [(&'static str, i64)],
    pub explained: i64,
    pub reason: Option<&'static str>,
}

impl Fixture {
    /// Buyers 0 and 1 got orders o-0 and o-1, the whole stock; buyer 2 was told sold out. All three met.
    pub fn exact() -> Self {
        Self::of(1)
    }

    /// The same with purchases of that many units.
    pub fn of(quantity: i64) -> Self {
        let mut fixture = Self {
            expected: Expectation {
                stock: 2 * quantity,
                quantity,
                contended: true,
                instances: 2,
                fault: None,
            },
            told: Told::default(),
            facts: Facts {
                stock_left: Some(0),
                ..Facts::default()
            },
            earlier: Vec::new(),
            start: Instant::now(),
        };
        fixture.sold(0, Some("o-0"));
        fixture.sold(1, Some("o-1"));
        fixture.say(2, Word::SoldOut);
        fixture.record(0, quantity);
        fixture.record(1, quantity);
        fixture
    }

    /// An answer to purchase `place` of the attack, by instance a or b.
    pub fn answer(&self, place: usize, word: Word, order: Option<&str>) -> Answer {
        Answer {
            number: place,
            key: format!("k-{place}"),
            buyer: format!("b-{place}"),
            quantity: self.expected.quantity,
            word,
            order: order.map(str::to_owned),
            instance: (word != Word::Unknown).then(|| ["a", "b"][place % 2].to_owned()),
            intended: self.start,
            sent: self.start,
            ended: self.start + ANSWER,
            hung_up: false,
        }
    }

    /// The same, given `after` so many other answers.
    pub fn later(&self, place: usize, word: Word, order: Option<&str>, after: u32) -> Answer {
        let mut answer = self.answer(place, word, order);
        answer.intended += ANSWER * after + Duration::from_millis(1);
        answer.sent = answer.intended;
        answer.ended = answer.sent + ANSWER;
        answer
    }

    pub fn sold(&mut self, place: usize, order: Option<&str>) {
        let answer = self.answer(place, Word::Sold, order);
        self.told.attack.push(answer);
    }

    pub fn say(&mut self, place: usize, word: Word) {
        let answer = self.answer(place, word, None);
        self.told.attack.push(answer);
    }

    /// Every answer of the attack is `word`, and no order was recorded.
    pub fn all(&mut self, word: Word) {
        self.told.attack.clear();
        (0..3).for_each(|place| self.say(place, word));
        self.facts.orders.clear();
        self.facts.stock_left = Some(self.expected.stock);
    }

    /// A buyer who came alone after the attack.
    pub fn last_buyer(&mut self, word: Word) {
        let answer = self.later(9, word, None, 1);
        self.told.follow_up.push(answer);
    }

    /// Purchase 0, which was sold as o-0, is sent again after its answer.
    pub fn click_again(&mut self, word: Word, order: Option<&str>) {
        let answer = self.later(0, word, order, 1);
        self.told.repeats.push(answer);
    }

    /// The order of purchase `place`, as it was told.
    pub fn record(&mut self, place: usize, quantity: i64) {
        self.record_as(
            &format!("o-{place}"),
            quantity,
            Some(&format!("k-{place}")),
            &format!("b-{place}"),
        );
    }

    pub fn record_as(&mut self, id: &str, quantity: i64, key: Option<&str>, buyer: &str) {
        self.facts.orders.push(Order {
            id: id.to_owned(),
            quantity,
            buyer: Some(buyer.to_owned()),
            key: key.map(str::to_owned),
        });
    }

    pub fn unrecord(&mut self, id: &str) {
        self.facts.orders.retain(|order| order.id != id);
    }

    /// An earlier look that showed what the last one shows now, begun after so many answers.
    pub fn look(&mut self, after: u32, at_rest: bool) {
        self.earlier.push(Look {
            begun: self.start + ANSWER * after,
            at_rest,
            facts: self.facts.clone(),
        });
    }

    /// The fault that struck explains so much.
    pub fn excuses(&mut self, what: Excuses) {
        if let Some(FaultSeen::Struck { excuses, .. }) = &mut self.expected.fault {
            *excuses = what;
        }
    }

    /// The fault struck. Whoever got an answer came when everything was back, and whoever got none before that.
    pub fn struck(&mut self) {
        let healed = self.start + Duration::from_micros(1);
        self.expected.fault = Some(FaultSeen::Struck {
            healed,
            excuses: Excuses::Ignorance,
        });
        let told = &mut self.told;
        let answers = told
            .attack
            .iter_mut()
            .chain(&mut told.repeats)
            .chain(&mut told.follow_up);
        for answer in answers.filter(|answer| answer.word != Word::Unknown) {
            answer.sent = answer.sent.max(healed);
        }
    }

    pub fn judge(&self) -> Judgement {
        let mut looks = self.earlier.clone();
        looks.push(Look {
            begun: self.start + Duration::from_secs(60),
            at_rest: true,
            facts: self.facts.clone(),
        });
        judge(&self.expected, &self.told, &looks)
    }
}

/// Something is found, and the round is violated.
pub fn violated(name: &'static str, findings: &'static [(&'static str, i64)], spoil: fn(&mut Fixture)) -> Row {
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
pub fn inconclusive(name: &'static str, reason: &'static str, spoil: fn(&mut Fixture)) -> Row {
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
pub fn holds(name: &'static str, spoil: fn(&mut Fixture)) -> Row {
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
pub fn check(rows: &[Row], fixture: fn() -> Fixture) {
    let mut wrong = Vec::new();
    for row in rows {
        let mut fixture = fixture();
        (row.spoil)(&mut fixture);
        let judged = fixture.judge();
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
