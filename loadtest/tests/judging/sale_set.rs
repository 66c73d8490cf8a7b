//! Many items at once: the spread of purchases over them, and the joint verdict.

use std::sync::Arc;

use loadtest::audit::{FaultSeen, Finding, Judgement, Verdict, judge_sale_set};
use loadtest::facts::{LedgerReader, Urls};
use loadtest::report::terminal_summary::screen;
use loadtest::responses::Responses;
use loadtest::result::compare;
use loadtest::sale::{Load, Names, SaleSet};
use loadtest::shop::response::ResponseKind;
use loadtest::shop::{Address, ShopClient};
use loadtest::trust::Trust;
use serde_json::json;

use crate::fixture::Fixture;
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
