//! Many items at once: how purchases are spread over them, and what the verdicts on them say together.

use std::sync::Arc;

use loadtest::answer::Word;
use loadtest::audit::{FaultSeen, Finding, Judgement, Verdict, judge_market};
use loadtest::compare;
use loadtest::facts::{LedgerReader, Urls};
use loadtest::load::Load;
use loadtest::market::Market;
use loadtest::screen::screen;
use loadtest::shop::{Address, ShopClient};
use loadtest::told::Told;
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
        let others = s.told.attack.split_off(1);
        s.told.follow_up.extend(others);
    })
}

fn rejected() -> Judgement {
    item(|s| s.say(3, Word::Rejected))
}

#[test]
fn one_item_is_judged_as_it_always_was() {
    for alone in [holds(), drift(-1), missed(), rejected()] {
        assert_eq!(judge_market(vec![alone.clone()]), alone);
    }
}

#[test]
fn a_market_is_as_good_as_its_worst_item() {
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
            Some("2 of 2 items: no two purchases ever met"),
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
            Some("2 of 2 items: 1 purchases were rejected as if they were none"),
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
        let judged = judge_market(items);
        let found = (judged.verdict, judged.inconclusive.as_deref(), judged.is_chance);
        assert_eq!(found, (verdict, why, is_chance), "{name}");
    }
}

#[test]
fn what_is_wrong_with_the_items_is_summed_and_never_cancels_out() {
    let judged = judge_market(vec![drift(-1), drift(-2), holds()]);
    assert_eq!(judged.findings.named(), [("drift", 3)]);
    assert_eq!((judged.recorded, judged.stock_left), (6, Some(-3)));
    let judged = judge_market(vec![drift(-1), drift(1)]);
    assert_eq!(judged.findings.of(Finding::Drift), 2, "one too few and one too many");
    let judged = judge_market(vec![drift(i64::MIN), drift(i64::MIN), drift(1)]);
    assert_eq!(judged.findings.of(Finding::Drift), i64::MAX);
    let judged = judge_market(vec![holds(), item(|s| s.facts.stock_left = None)]);
    assert_eq!((judged.stock_left, judged.findings.of(Finding::Unreadable)), (None, 1));
}

async fn market(items: usize, requests: usize) -> Market {
    let host = "http://127.0.0.1:1".to_owned();
    let client = ShopClient::new(Address {
        host: host.clone(),
        admin: host,
        admin_token: "open sesame".to_owned(),
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
    let names = (0..items).map(|item| format!("t-{item}")).collect();
    Market::new(client.unwrap(), &reader, &strategy, names, load)
}

#[tokio::test]
async fn of_so_many_purchases_in_a_row_each_is_for_another_item_in_an_order_that_changes() {
    let market = market(5, 1_000).await;
    let places: Vec<usize> = (0..1_000).map(|number| market.place_of(number)).collect();
    for row in places.chunks(5) {
        let mut sorted = row.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
    }
    let first = &places[..5];
    assert!(places.chunks(5).any(|row| row != first), "all rows are alike");
    // Buyers who come back together go on counting.
    assert!((1_000..1_100).all(|number| market.place_of(number) < 5));
    let request = market.purchase(7);
    assert_eq!(request.item, market.sales[market.place_of(7)].item);
}

#[tokio::test]
async fn what_was_told_is_told_apart_by_item_and_nothing_is_lost() {
    let (market, fixture) = (market(3, 12).await, Fixture::exact());
    let answers = |word| {
        (0..12)
            .map(|number| fixture.answer(number, word, None))
            .collect::<Vec<_>>()
    };
    let told = Told {
        attack: answers(Word::Sold),
        follow_up: Vec::new(),
        repeats: answers(Word::Busy),
        altered: answers(Word::Rejected),
        ..Told::default()
    };
    let split = market.split(told, Vec::new());
    assert_eq!(split.len(), 3);
    for (place, (told, looks)) in split.iter().enumerate() {
        assert_eq!((told.attack.len(), told.repeats.len(), told.altered.len()), (4, 4, 4));
        assert!(looks.is_empty());
        let all = told.answers().chain(&told.altered);
        assert!(
            all.map(|answer| market.place_of(answer.number))
                .all(|other| other == place)
        );
        assert!(told.attack.iter().all(|answer| answer.word == Word::Sold));
        assert!(told.altered.iter().all(|answer| answer.word == Word::Rejected));
    }
}

#[tokio::test]
async fn with_one_item_every_purchase_is_for_it() {
    let market = market(1, 9).await;
    assert!((0..99).all(|number| market.place_of(number) == 0));
}

#[test]
fn a_market_says_how_many_items_it_had_and_one_item_says_nothing() {
    let mut market = round("lua@redis", "second-instance", 2);
    (market.items, market.verdict) = (50, Verdict::Violated);
    market.findings.add(Finding::Oversold, 7);
    let market = run(vec![market]);
    let [long, short] = rendered(&market);
    assert!(long.contains("| second-instance, 2 instances, 50 items |"), "{long}");
    assert!(long.contains("8 buyers at once ask for 24 of 50 x 12 units"), "{long}");
    assert!(
        short.contains("8 buyers ask for 24 units, and the stock is 50 x 12."),
        "{short}"
    );
    assert!(screen(&market, false, 80).contains("oversold by 7 (stock 600)"));
    let one = run(vec![round("lua@redis", "second-instance", 2)]);
    assert!(rendered(&one).iter().all(|text| !text.contains("items")));
    let compared = compare::compare(&one, &market).text;
    assert!(
        compared.contains("24 of 12 units") && compared.contains("24 of 50 x 12 units"),
        "{compared}"
    );
}
