//! A round without errors, which each row of a table then spoils.

use std::time::{Duration, Instant};

use loadtest::audit::{Expectation, ExplainedUnknowns, FaultSeen, Judgement, Verdict, judge};
use loadtest::facts::{Facts, Observation, Order};
use loadtest::responses::Responses;
use loadtest::shop::response::{Response, ResponseKind};

/// The length of every answer in a fixture.
pub const ANSWER: Duration = Duration::from_millis(10);

/// The input of the verdict.
pub struct Fixture {
    pub expected: Expectation,
    pub responses: Responses,
    /// The facts of the last observation.
    pub facts: Facts,
    /// The observations before it.
    pub earlier: Vec<Observation>,
    pub start: Instant,
}

/// A row: its name, the way it spoils the round, and the expected judgement.
pub struct Row {
    pub name: &'static str,
    pub spoil: fn(&mut Fixture),
    pub verdict: Verdict,
    pub findings: &'static [(&'static str, i64)],
    pub explained: i64,
    pub reason: Option<&'static str>,
}

impl Fixture {
    /// Buyers 0 and 1 got orders o-0 and o-1, the whole stock; the answer to buyer 2 was sold out. All three met.
    pub fn exact() -> Self {
        Self::of(1)
    }

    /// The same, with purchases of `quantity` units.
    pub fn of(quantity: i64) -> Self {
        let mut fixture = Self {
            expected: Expectation {
                stock: 2 * quantity,
                quantity,
                contended: true,
                instances: 2,
                fault: None,
                absent: Vec::new(),
                is_atomic: true,
                failed_looks: Vec::new(),
            },
            responses: Responses::default(),
            facts: Facts {
                stock_left: Some(0),
                ..Facts::default()
            },
            earlier: Vec::new(),
            start: Instant::now(),
        };
        fixture.sold(0, Some("o-0"));
        fixture.sold(1, Some("o-1"));
        fixture.say(2, ResponseKind::SoldOut);
        fixture.record(0, quantity);
        fixture.record(1, quantity);
        fixture
    }

    /// Creates an answer to purchase `place` of the attack, by instance a or b.
    pub fn response(&self, place: usize, kind: ResponseKind, order: Option<&str>) -> Response {
        Response {
            number: place,
            key: format!("k-{place}"),
            buyer: format!("b-{place}"),
            quantity: self.expected.quantity,
            kind,
            order: order.map(str::to_owned),
            instance: (kind != ResponseKind::Unknown).then(|| ["a", "b"][place % 2].to_owned()),
            intended: self.start,
            sent: self.start,
            ended: self.start + ANSWER,
            hung_up: false,
            sent_again: false,
        }
    }

    /// The same, sent after `after` other answers.
    pub fn later(&self, place: usize, kind: ResponseKind, order: Option<&str>, after: u32) -> Response {
        let mut response = self.response(place, kind, order);
        response.intended += ANSWER * after + Duration::from_millis(1);
        response.sent = response.intended;
        response.ended = response.sent + ANSWER;
        response
    }

    /// Adds an answer of the attack by that instance, so long after the start.
    pub fn later_by(&mut self, place: usize, kind: ResponseKind, instance: Option<&str>, after: Duration) {
        let mut response = self.response(place, kind, None);
        response.sent = self.start + after;
        response.intended = response.sent;
        response.ended = response.sent + ANSWER;
        response.instance = instance.map(str::to_owned);
        self.responses.attack.push(response);
    }

    /// Adds an answer to a purchase that was sent before an instance died, and that came after it.
    pub fn spanning(&mut self, place: usize, instance: &str) {
        let died = self.expected.absent[0].from;
        self.later_by(place, ResponseKind::SoldOut, Some(instance), Duration::ZERO);
        if let Some(response) = self.responses.attack.last_mut() {
            response.ended = died + Duration::from_millis(400);
        }
    }

    pub fn sold(&mut self, place: usize, order: Option<&str>) {
        let response = self.response(place, ResponseKind::Sold, order);
        self.responses.attack.push(response);
    }

    pub fn say(&mut self, place: usize, kind: ResponseKind) {
        let response = self.response(place, kind, None);
        self.responses.attack.push(response);
    }

    /// Every answer of the attack is of `kind`, and no order was recorded.
    pub fn all(&mut self, kind: ResponseKind) {
        self.responses.attack.clear();
        (0..3).for_each(|place| self.say(place, kind));
        self.facts.orders.clear();
        self.facts.stock_left = Some(self.expected.stock);
    }

    /// Adds a buyer that came alone after the attack.
    pub fn last_buyer(&mut self, kind: ResponseKind) {
        let response = self.later(9, kind, None, 1);
        self.responses.follow_up.push(response);
    }

    /// Purchase 0, which was sold as o-0, is sent again after its answer.
    pub fn click_again(&mut self, kind: ResponseKind, order: Option<&str>) {
        let response = self.later(0, kind, order, 1);
        self.responses.repeats.push(response);
    }

    /// Records the order of purchase `place`, as in its answer.
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

    /// Adds an earlier observation of the present facts, begun after this many answers.
    pub fn look(&mut self, after: u32, at_rest: bool) {
        self.earlier.push(Observation {
            begun: self.start + ANSWER * after,
            at_rest,
            facts: self.facts.clone(),
        });
    }

    /// Sets which missing answers the fault explains.
    pub fn explains(&mut self, what: ExplainedUnknowns) {
        if let Some(FaultSeen::Struck { explains, .. }) = &mut self.expected.fault {
            *explains = what;
        }
    }

    /// The fault struck. All answered purchases were sent after everything was back, and all unanswered ones before.
    pub fn struck(&mut self) {
        let healed = self.start + Duration::from_micros(1);
        self.expected.fault = Some(FaultSeen::Struck {
            healed,
            explains: ExplainedUnknowns::All,
            mistimed: None,
        });
        let responses = &mut self.responses;
        let responses = responses
            .attack
            .iter_mut()
            .chain(&mut responses.repeats)
            .chain(&mut responses.follow_up);
        for response in responses.filter(|response| response.kind != ResponseKind::Unknown) {
            response.sent = response.sent.max(healed);
        }
    }

    pub fn judge(&self) -> Judgement {
        let mut observations = self.earlier.clone();
        observations.push(Observation {
            begun: self.start + Duration::from_secs(60),
            at_rest: true,
            facts: self.facts.clone(),
        });
        judge(&self.expected, &self.responses, &observations)
    }
}

/// Sells one unit while another buyer is told busy, and the other unit to a follow-up buyer.
pub fn sold_to_one(fixture: &mut Fixture) {
    let sold = fixture.responses.attack.remove(0);
    fixture.responses.follow_up.push(sold);
    fixture.last_buyer(ResponseKind::SoldOut);
    let attack = &mut fixture.responses.attack;
    attack.retain(|response| response.kind == ResponseKind::Sold);
    fixture.say(2, ResponseKind::Busy);
}

/// Lets each purchase of the attack begin when the one before has its answer.
pub fn one_after_the_other(fixture: &mut Fixture) {
    for (place, response) in (0..).zip(&mut fixture.responses.attack) {
        response.intended += ANSWER * place;
        response.sent = response.intended;
        response.ended = response.sent + ANSWER;
    }
}

/// A row that gets findings and is violated.
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

/// A row that gets no finding and proves nothing.
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

/// A row that gets no finding and holds.
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

/// Spoils a round for each row, and reports all wrong judgements at once.
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
