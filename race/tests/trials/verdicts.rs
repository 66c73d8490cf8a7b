//! Verdicts on shops whose way of selling is known.

use std::future::pending;

use loadtest::audit::{Finding, Verdict};
use loadtest::trust::Trust;
use race::{Description, EXAMPLE, Load, Round, SCHEMA, Trial, Walked, walk};

use crate::relayed_shop;
use crate::shop::{Sells, Shop, start};

const RACE: Load = Load::Race {
    buyers: 12,
    clicks: 1,
    has_fault: false,
};

fn trial(file: &str) -> Trial {
    Trial::new(Description::parse(file).unwrap(), Trust::System).unwrap()
}

async fn played_by(trial: &Trial, load: Load) -> Round {
    trial.play(load, |_, _| {}, pending()).await.unwrap().unwrap()
}

async fn walked(trial: &Trial) -> Walked {
    walk(trial, |_| {}, pending()).await.unwrap()
}

async fn played(shop: &Shop, load: Load) -> Round {
    played_by(&trial(&shop.file()), load).await
}

#[tokio::test]
async fn a_shop_that_reads_and_writes_oversells_in_a_race_and_not_to_buyers_one_by_one() {
    let shop = start(Sells::ByReadAndWrite).await;
    let control = played(&shop, Load::OneByOne).await;
    assert_eq!(control.verdict, Verdict::Holds, "{control:?}");
    let in_turn = played(&shop, Load::InTurn(6)).await;
    assert_eq!(in_turn.verdict, Verdict::Holds, "{in_turn:?}");
    let raced = played(&shop, RACE).await;
    assert_eq!(raced.verdict, Verdict::Violated, "{raced:?}");
    assert!(raced.findings.of(Finding::Oversold) > 0, "{raced:?}");
}

#[tokio::test]
async fn a_shop_that_sells_by_one_update_holds() {
    let shop = start(Sells::ByOneUpdate).await;
    let raced = played(&shop, RACE).await;
    assert_eq!(raced.verdict, Verdict::Holds, "{raced:?}");
    assert_eq!((raced.recorded, raced.stock_left), (Some(3), 0), "{raced:?}");
}

#[tokio::test]
async fn a_shop_that_forgets_its_orders_loses_them_and_one_whose_orders_are_not_read_is_not_accused() {
    let shop = start(Sells::WithoutOrder).await;
    let raced = played(&shop, RACE).await;
    assert_eq!(raced.findings.of(Finding::Lost), 3, "{raced:?}");
    let file = shop.file();
    let (without_orders, _) = file.split_once("[orders]").unwrap();
    let trial = trial(without_orders);
    assert!(trial.not_judged().is_some());
    let raced = played_by(&trial, RACE).await;
    assert_eq!((raced.verdict, raced.recorded), (Verdict::Holds, None), "{raced:?}");
}

#[tokio::test]
async fn orders_of_before_are_not_counted() {
    let shop = start(Sells::ByOneUpdate).await;
    let trial = trial(&shop.file());
    for _ in 0..3 {
        let raced = played_by(&trial, RACE).await;
        assert_eq!(raced.verdict, Verdict::Holds, "{raced:?}");
    }
}

#[tokio::test]
async fn an_answer_that_the_shop_file_does_not_know_makes_a_round_inconclusive_and_is_shown() {
    let shop = start(Sells::ByOneUpdate).await;
    let file = shop.file().replace(r#"text = "sold out""#, r#"text = "gone""#);
    let raced = played_by(&trial(&file), RACE).await;
    assert_eq!(raced.verdict, Verdict::Inconclusive, "{raced:?}");
    assert_eq!(raced.unclear.as_deref(), Some("status 200, to : sold out"), "{raced:?}");
}

#[tokio::test]
async fn a_walk_shows_each_step_without_the_values_that_it_takes() {
    let shop = start(Sells::ByOneUpdate).await;
    let mut said = String::new();
    let trial = trial(&shop.file());
    let walked = walk(&trial, |line| said.push_str(&format!("{line}\n")), pending()).await;
    assert_eq!(walked.unwrap(), Walked::Fits, "{said}");
    assert!(
        said.contains("GET /login") && said.contains("token: 36 bytes") && said.contains("told sold"),
        "{said}"
    );
    assert!(said.contains("afterwards: 2 left, 1 orders"), "{said}");
}

#[tokio::test]
async fn a_walk_names_the_part_of_the_shop_file_that_does_not_fit() {
    let shop = start(Sells::ByOneUpdate).await;
    for (right, wrong, says) in [
        ("/thanks", "/elsewhere", "`sold` in [answers]"),
        ("select stock from items", "select 3 from items", "`read` in [stock]"),
        ("select buyer from orders", "select 'somebody' from orders", "[orders]"),
    ] {
        let file = shop.file().replace(right, wrong);
        let found = walked(&trial(&file)).await;
        assert!(matches!(&found, Walked::Wrong(why) if why.contains(says)), "{found:?}");
    }
}

#[tokio::test]
async fn the_example_and_a_shop_file_of_a_test_agree_with_the_schema() {
    let schema = jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap();
    let shop = start(Sells::ByOneUpdate).await;
    let mut uncommented = EXAMPLE.to_owned();
    for part in [
        "[turns]",
        "user =",
        "[fault]",
        "run =",
        "after_ms =",
        "then =",
        "ready =",
    ] {
        let commented = format!("\n# {part}");
        assert_eq!(uncommented.matches(&commented).count(), 1, "{part}");
        uncommented = uncommented.replace(&commented, &format!("\n{part}"));
    }
    let relayed = relayed_shop::start(r#"does = "silent", for_ms = 10"#).await;
    for file in [EXAMPLE, &uncommented, &relayed, &shop.file()] {
        Description::parse(file).unwrap();
        let read: serde_json::Value = toml::from_str(file).unwrap();
        let wrong: Vec<_> = schema.iter_errors(&read).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

#[test]
fn the_smallest_file_of_the_page_is_a_shop_file_of_at_most_20_lines() {
    let page = include_str!("../../../docs/any-shop.md");
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (file, _) = rest.split_once("\n```").unwrap();
    Description::parse(file).unwrap();
    let lines = file.lines().filter(|line| !line.is_empty()).count();
    assert!(lines <= 20, "{lines} lines");
}

#[tokio::test]
async fn a_buyer_who_clicks_twice_has_two_orders_where_the_shop_does_not_see_that() {
    let shop = start(Sells::ByOneUpdate).await;
    let raced = played(
        &shop,
        Load::Race {
            buyers: 1,
            clicks: 2,
            has_fault: false,
        },
    )
    .await;
    assert_eq!(raced.findings.of(Finding::Duplicate), 1, "{raced:?}");
    let raced = played(
        &shop,
        Load::Race {
            buyers: 1,
            clicks: 1,
            has_fault: false,
        },
    )
    .await;
    assert_eq!(raced.findings.of(Finding::Duplicate), 0, "{raced:?}");
}

#[tokio::test]
async fn a_buyer_may_learn_before_the_raced_request_that_nothing_is_left() {
    let shop = start(Sells::ByOneUpdate).await;
    let basket = "[[buyer]]\nrequest = \"GET /basket\"\nsold_out = { status = 410 }\n[race]";
    let file = shop.file().replace("[race]", basket);
    let file = file.replace(
        "{ status = 200, text = \"sold out\" }",
        "[{ status = 410 }, { text = \"sold out\" }]",
    );
    let trial = trial(&file);
    for load in [Load::OneByOne, Load::InTurn(5), RACE] {
        let round = played_by(&trial, load).await;
        assert_eq!(round.verdict, Verdict::Holds, "{round:?}");
    }
    let wrong = shop.file().replace("[race]", &basket.replace("410", "200"));
    let found = walked(&self::trial(&wrong)).await;
    let says = "`sold_out` in [[buyer]]";
    assert!(matches!(&found, Walked::Wrong(why) if why.contains(says)), "{found:?}");
}
