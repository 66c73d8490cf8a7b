//! Many items at once: the spread of purchases over them, and the joint verdict.

use std::sync::Arc;

use loadtest::audit::{FaultSeen, Finding, Judgement, Verdict, judge_sale_set};
use loadtest::facts::{LedgerReader, Urls};
use loadtest::report::terminal_summary::screen;
use loadtest::responses::Responses;
use loadtest::result::compare;
use loadtest::sale::{Load, Names, SaleSet};
use loadtest::shop::response::{Response, ResponseKind};
use loadtest::shop::{Address, ShopClient};
use loadtest::trust::Trust;
use serde_json::json;

use crate::fixture::{ANSWER, Fixture, one_after_the_other, sold_to_one};
use crate::report::{rendered, round, run};

/// A round of one item, spoiled.
fn item(spoil: fn(&mut Fixture)) -> Judgement {
    let mut fixture = Fixture::exact();
    spoil(&mut fixture);
    fixture.judge()
}

fn holds() -> Judgement {
    item(|_| {})
}

fn drift(left: i64) -> Judgement {
    let mut fixture = Fixture::exact();
    fixture.facts.stock_left = Some(left);
    fixture.judge()
}

fn missed() -> Judgement {
    item(|s| s.expected.fault = Some(FaultSeen::Missed))
}

fn wanted_by_one() -> Judgement {
    item(|s| {
        let others = s.responses.attack.split_off(1);
        s.responses.follow_up.extend(others);
    })
}

/// Sold to follow-up buyers alone: those of the attack met, and all were told busy.
fn refused() -> Judgement {
    item(|s| {
        let is_sold = |response: &mut Response| response.kind == ResponseKind::Sold;
        let sold: Vec<_> = s.responses.attack.extract_if(.., is_sold).collect();
        s.responses.follow_up.extend(sold);
        s.last_buyer(ResponseKind::SoldOut);
        s.responses.attack.clear();
        s.say(2, ResponseKind::Busy);
        s.say(3, ResponseKind::Busy);
    })
}

/// Nobody met, and one buyer was told busy, before the second one was sold to.
fn busy_alone(s: &mut Fixture) {
    let busy = s.response(3, ResponseKind::Busy, None);
    s.responses.attack.insert(1, busy);
    one_after_the_other(s);
}

/// Instance a sold it all.
fn sold_by_one_instance(s: &mut Fixture) {
    s.responses.attack[1].instance = Some("a".to_owned());
}

/// The same, and another instance told a buyer busy.
fn busy_at(s: &mut Fixture, instance: Option<&str>) {
    sold_by_one_instance(s);
    s.say(3, ResponseKind::Busy);
    s.responses.attack.last_mut().unwrap().instance = instance.map(str::to_owned);
}

fn rejected() -> Judgement {
    item(|s| s.say(3, ResponseKind::Rejected))
}

#[test]
fn a_sale_set_of_one_item_has_the_verdict_of_that_item() {
    for alone in [holds(), drift(-1), missed(), rejected()] {
        assert_eq!(judge_sale_set(vec![alone.clone()]), alone);
    }
}

#[test]
fn the_worst_item_decides_the_verdict_on_a_sale_set() {
    const MISSED: &str = "1 of 2 items: the fault never struck";
    let table = [
        ("all hold", vec![holds(), holds()], Verdict::Holds, None, false),
        (
            "too few came for one",
            vec![holds(), wanted_by_one()],
            Verdict::Holds,
            None,
            false,
        ),
        (
            "too few came for each",
            vec![wanted_by_one(), wanted_by_one()],
            Verdict::Inconclusive,
            Some("2 of 2 items: no sale overlapped with another purchase"),
            true,
        ),
        (
            "one missed",
            vec![holds(), missed()],
            Verdict::Inconclusive,
            Some(MISSED),
            true,
        ),
        (
            "what the shop did is said first and is no chance",
            vec![missed(), rejected()],
            Verdict::Inconclusive,
            Some("2 of 2 items: 1 valid purchase was rejected"),
            false,
        ),
        (
            "violated and missed",
            vec![missed(), drift(-1), holds()],
            Verdict::Violated,
            None,
            false,
        ),
        (
            "nothing",
            vec![],
            Verdict::Inconclusive,
            Some("0 of 0 items: nothing was for sale"),
            false,
        ),
    ];
    for (name, items, verdict, why, is_chance) in table {
        let judged = judge_sale_set(items);
        let found = (judged.verdict, judged.inconclusive.as_deref(), judged.is_chance);
        assert_eq!(found, (verdict, why, is_chance), "{name}");
    }
}

#[test]
fn an_item_is_forgiven_only_if_too_few_buyers_came_to_it_and_not_if_they_were_refused() {
    const NOBODY_MET: &str = "1 of 2 items: no sale overlapped with another purchase";
    const ONE_SOLD: &str = "1 of 2 items: only 1 purchase was sold while buyers competed";
    const ONE_INSTANCE: &str = "1 of 2 items: only 1 of 2 instances sold anything or said sold out";
    let table = [
        ("those that met were told busy", refused(), Some(NOBODY_MET)),
        ("all but one were told busy", item(sold_to_one), Some(ONE_SOLD)),
        ("one was busy while nobody else was there", item(busy_alone), None),
        (
            "some met when all was sold",
            item(|s| {
                one_after_the_other(s);
                for place in [3, 4] {
                    let response = s.later(place, ResponseKind::SoldOut, None, 5);
                    s.responses.attack.push(response);
                }
            }),
            None,
        ),
        (
            "some met when all was sold, and one of them was told busy",
            item(|s| {
                one_after_the_other(s);
                for (place, kind) in [(3, ResponseKind::SoldOut), (4, ResponseKind::Busy)] {
                    let response = s.later(place, kind, None, 5);
                    s.responses.attack.push(response);
                }
            }),
            None,
        ),
        (
            "those that met before all was sold were told busy",
            item(|s| {
                for (response, after) in s.responses.attack.iter_mut().zip([0, 9, 12]) {
                    response.intended += ANSWER * after;
                    response.sent = response.intended;
                    response.ended = response.sent + ANSWER;
                }
                for place in [3, 4] {
                    let response = s.later(place, ResponseKind::Busy, None, 5);
                    s.responses.attack.push(response);
                }
            }),
            Some(NOBODY_MET),
        ),
        ("nobody came to an instance", item(sold_by_one_instance), None),
        (
            "an instance was busy",
            item(|s| busy_at(s, Some("b"))),
            Some(ONE_INSTANCE),
        ),
        (
            "an instance was busy and named none",
            item(|s| busy_at(s, None)),
            Some(ONE_INSTANCE),
        ),
        (
            "the instance that sold was busy, too",
            item(|s| busy_at(s, Some("a"))),
            None,
        ),
        (
            "a fault made a buyer wait",
            item(|s| {
                busy_alone(s);
                s.struck();
            }),
            None,
        ),
    ];
    for (name, item, why) in table {
        let judged = judge_sale_set(vec![holds(), item]);
        let verdict = if why.is_some() {
            Verdict::Inconclusive
        } else {
            Verdict::Holds
        };
        assert_eq!(
            (judged.verdict, judged.inconclusive.as_deref()),
            (verdict, why),
            "{name}"
        );
    }
}

#[test]
fn the_findings_of_items_are_summed_and_never_cancel_out() {
    let judged = judge_sale_set(vec![drift(-1), drift(-2), holds()]);
    assert_eq!(judged.findings.named(), [("drift", 3)]);
    assert_eq!((judged.recorded, judged.stock_left), (6, Some(-3)));
    let judged = judge_sale_set(vec![drift(-1), drift(1)]);
    assert_eq!(judged.findings.of(Finding::Drift), 2, "one too few and one too many");
    let judged = judge_sale_set(vec![drift(i64::MIN), drift(i64::MIN), drift(1)]);
    assert_eq!(judged.findings.of(Finding::Drift), i64::MAX);
    let judged = judge_sale_set(vec![holds(), item(|s| s.facts.stock_left = None)]);
    assert_eq!((judged.stock_left, judged.findings.of(Finding::Unreadable)), (None, 1));
}

async fn sale_set(items: usize, requests: usize) -> SaleSet {
    let host = "http://127.0.0.1:1".to_owned();
    let client = ShopClient::new(Address {
        host: host.clone(),
        admin: host,
        admin_token: "open sesame".to_owned(),
        trust: Trust::System,
    });
    let reader = Arc::new(LedgerReader::connect(&Urls::new()).await.unwrap());
    let strategy = serde_json::from_value(json!({ "name": "lua@sql", "store": "sql", "claims": [] })).unwrap();
    let load = Load {
        buyers: 8,
        requests,
        stock: 12,
        items,
        quantity: 1,
        work_ms: 0,
    };
    let names = Names::draw();
    let items = (0..items).map(|item| names.item(item)).collect();
    SaleSet::new(client.unwrap(), &reader, &strategy, items, names, load)
}

#[tokio::test]
async fn purchases_in_a_row_are_for_different_items_in_changing_order() {
    let sale_set = sale_set(5, 1_000).await;
    let places: Vec<usize> = (0..1_000).map(|number| sale_set.place_of(number)).collect();
    for row in places.chunks(5) {
        let mut sorted = row.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
    }
    let first = &places[..5];
    assert!(places.chunks(5).any(|row| row != first), "all rows are alike");
    // Buyers that retry together continue the count.
    assert!((1_000..1_100).all(|number| sale_set.place_of(number) < 5));
    let request = sale_set.purchase(7);
    assert_eq!(request.item, sale_set.sales[sale_set.place_of(7)].item);
}

#[tokio::test]
async fn a_buyer_that_returns_to_an_item_has_a_purchase_of_its_own_for_that_item() {
    for sale_set in [sale_set(5, 1_003).await, sale_set(5, 1_003).await.from(77)] {
        let places: Vec<usize> = (0..50).map(|nth| sale_set.further_place(nth, nth % 5)).collect();
        assert!(places.is_sorted_by(|one, next| one < next), "{places:?}");
        assert!(places[0] >= 1_003, "{places:?}");
        for (nth, place) in places.into_iter().enumerate() {
            assert_eq!(sale_set.place_of(place), nth % 5);
        }
    }
}

#[tokio::test]
async fn answers_are_separated_by_item_and_none_is_lost() {
    let (sale_set, fixture) = (sale_set(3, 12).await, Fixture::exact());
    let responses = |kind| {
        (0..12)
            .map(|number| fixture.response(number, kind, None))
            .collect::<Vec<_>>()
    };
    let responses = Responses {
        attack: responses(ResponseKind::Sold),
        follow_up: Vec::new(),
        repeats: responses(ResponseKind::Busy),
        altered: responses(ResponseKind::Rejected),
        ..Responses::default()
    };
    let split = sale_set.split(responses, Vec::new());
    assert_eq!(split.len(), 3);
    for (place, (responses, observations)) in split.iter().enumerate() {
        assert_eq!(
            (responses.attack.len(), responses.repeats.len(), responses.altered.len()),
            (4, 4, 4)
        );
        assert!(observations.is_empty());
        let all = responses.all().chain(&responses.altered);
        assert!(
            all.map(|response| sale_set.place_of(response.number))
                .all(|other| other == place)
        );
        assert!(
            responses
                .attack
                .iter()
                .all(|response| response.kind == ResponseKind::Sold)
        );
        assert!(
            responses
                .altered
                .iter()
                .all(|response| response.kind == ResponseKind::Rejected)
        );
    }
}

#[tokio::test]
async fn with_one_item_every_purchase_is_for_it() {
    let sale_set = sale_set(1, 9).await;
    assert!((0..99).all(|number| sale_set.place_of(number) == 0));
}

#[test]
fn a_round_names_the_number_of_items_only_if_there_are_several() {
    let mut sale_set = round("lua@redis", "second-instance", 2);
    (sale_set.items, sale_set.verdict) = (50, Verdict::Violated);
    sale_set.findings.add(Finding::Oversold, 7);
    let sale_set = run(vec![sale_set]);
    let [long, short] = rendered(&sale_set);
    assert!(long.contains("| second-instance, 2 instances, 50 items |"), "{long}");
    assert!(long.contains("8 buyers at once ask for 24 of 50 x 12 units"), "{long}");
    assert!(
        short.contains("8 buyers ask for 24 units, and the stock is 50 x 12."),
        "{short}"
    );
    assert!(screen(&sale_set, false, 80).contains("607 sold of 600"));
    let one = run(vec![round("lua@redis", "second-instance", 2)]);
    assert!(rendered(&one).iter().all(|text| !text.contains("items")));
    let compared = compare::compare(&one, &sale_set).text;
    assert!(
        compared.contains("24 of 12 units") && compared.contains("24 of 50 x 12 units"),
        "{compared}"
    );
}
