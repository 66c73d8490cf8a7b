//! Shops and shop files that are broken or hostile.

use std::future::pending;

use anyhow::Context;
use loadtest::trust::Trust;
use race::{Description, Load, Trial};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::shop::{Sells, start};

/// Returns what is said of the shop's file with this change.
async fn refused(right: &str, wrong: &str) -> String {
    let shop = start(Sells::ByOneUpdate).await;
    let file = shop.file();
    assert!(file.contains(right), "{right}");
    let error = Description::parse(&file.replacen(right, wrong, 1)).unwrap_err();
    format!("{error:#}")
}

#[tokio::test]
async fn a_mistake_in_a_shop_file_is_refused_with_its_line() {
    for (right, wrong, says) in [
        (
            "url = \"http",
            "url = \"ftp",
            "line 2: the URL of a shop begins with http://",
        ),
        ("url = \"http", "ur = \"http", "line 2: unknown field `ur`"),
        (
            "store = \"sqlite:",
            "store = \"mongodb:",
            "line 3: the URL of a store begins with",
        ),
        ("stock = 3", "stock = \"three\"", "line 5: invalid type: string"),
        (
            "\"POST /buy\"",
            "\"/buy\"",
            "line 11: a method and a path or a URL are expected",
        ),
        (
            "\"{token}\"",
            "\"{tokn}\"",
            "line 11: {tokn} is not known here; known are buyer, item",
        ),
        (
            "'name=",
            "'(name=",
            "line 9: this is no regular expression: error: unclosed group",
        ),
        ("regex =", "css =", "line 9: unknown variant `css`"),
        (
            "status = 303",
            "status = 3030",
            "line 14: a status is a number from 100 to 599",
        ),
        (
            "{ status = 200, text = \"sold out\" }",
            "{}",
            "line 15: an answer is known by its status",
        ),
        ("sold_out", "soldout", "line 15: unknown field `soldout`"),
        (
            "read = \"select stock",
            "reads = \"select stock",
            "line 17: unknown field `reads`",
        ),
        ("[race]", "[race", "line 10: "),
        (
            "{buyer}\", token",
            "$OVERSELL_NOT_THERE\", token",
            "the environment has no variable OVERSELL_NOT_THERE",
        ),
    ] {
        let said = refused(right, wrong).await;
        assert!(
            said.starts_with(says) || says.starts_with("the env") && said.contains(says),
            "{wrong}: {said}"
        );
    }
}

#[tokio::test]
async fn a_mistake_in_a_fault_is_refused_with_its_line() {
    let relay = |rest: &str| format!(r#"relay = {{ from = "127.0.0.1:13306", to = "127.0.0.1:3306", {rest} }}"#);
    let cut = relay(r#"does = "cut""#);
    for (fault, says) in [
        ("after_ms = 1".to_owned(), "[fault] has either `run` or `relay`"),
        (
            format!("run = [\"true\"]\n{cut}"),
            "[fault] has either `run` or `relay`",
        ),
        ("run = []".to_owned(), "a program is expected, such as [\"docker\""),
        ("run = [\"true\"]\nthen = [\"\"]".to_owned(), "a program is expected"),
        (
            "run = \"true\"".to_owned(),
            "invalid type: string \"true\", expected a sequence",
        ),
        (
            "run = [\"true\"]\nafter_ms = 30001".to_owned(),
            "`after_ms` is at most 30000",
        ),
        (
            "run = [\"true\"]\nbefore_ms = 1".to_owned(),
            "unknown field `before_ms`",
        ),
        (
            "run = [\"echo\", \"{buyer}\"]".to_owned(),
            "{buyer} is not known here; known are item, stock",
        ),
        (format!("{cut}\nthen = [\"true\"]"), "`then` belongs to `run`"),
        (relay(r#"does = "cut", for_ms = 1"#), "a cut has no `for_ms`"),
        (
            relay(r#"does = "slow""#),
            "`for_ms` is expected, a number from 1 to 30000",
        ),
        (relay(r#"does = "slow", for_ms = 0"#), "`for_ms` is expected"),
        (relay(r#"does = "burn""#), "unknown variant `burn`"),
        (
            cut.replace("127.0.0.1:13306", "0.0.0.0:13306"),
            "`from` is an address of this machine alone",
        ),
        (cut.replace("127.0.0.1:3306", "8.8.8.8:3306"), "`to` is another address"),
        (
            cut.replace("127.0.0.1:13306", "127.0.0.1:3306"),
            "`to` is another address",
        ),
        (cut.replace("127.0.0.1:3306", "store"), "invalid socket address syntax"),
    ] {
        let shop = start(Sells::ByOneUpdate).await;
        let file = format!("{}[fault]\n{fault}\n", shop.file());
        let said = format!("{:#}", Description::parse(&file).unwrap_err());
        let line = said.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
        let (line, why) = line.unwrap_or_else(|| panic!("{fault}: {said}"));
        assert!(
            ["20", "21", "22"].contains(&line) && why.starts_with(says),
            "{fault}: {said}"
        );
    }
}

#[tokio::test]
async fn a_relay_that_cannot_listen_is_an_error() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let from = taken.local_addr().unwrap();
    let shop = start(Sells::ByOneUpdate).await;
    let relay = format!("[fault]\nrelay = {{ from = \"{from}\", to = \"127.0.0.1:1\", does = \"cut\" }}\n");
    let error = format!("{:#}", played(&(shop.file() + &relay)).await.unwrap_err());
    let says = format!("`relay` in [fault]: a relay could not listen at {from}: ");
    assert!(error.starts_with(&says), "{error}");
}

async fn played(file: &str) -> anyhow::Result<race::Round> {
    let trial = Trial::new(Description::parse(file)?, Trust::System)?;
    let load = Load::Race {
        buyers: 3,
        clicks: 1,
        has_fault: false,
    };
    trial
        .play(load, |_, _| {}, pending())
        .await?
        .context("nothing stops it")
}

#[tokio::test]
async fn a_statement_that_would_write_is_refused() {
    let shop = start(Sells::ByOneUpdate).await;
    for statement in [
        "update items set stock = 7 returning stock",
        "select 3; delete from items",
        "delete from items returning 3",
    ] {
        let file = shop.file().replace("select stock from items where id = 1", statement);
        let error = format!("{:#}", played(&file).await.unwrap_err());
        assert!(error.contains("[stock]"), "{error}");
    }
}

#[tokio::test]
async fn a_statement_that_does_not_end_is_given_up() {
    let shop = start(Sells::ByOneUpdate).await;
    let endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n";
    let file = shop.file().replace("select stock from items where id = 1", endless);
    let error = format!("{:#}", played(&file).await.unwrap_err());
    assert!(error.contains("did not end within"), "{error}");
}

/// Starts a server that answers every request with these bytes, over and over where it is to be endless.
async fn server(bytes: &'static [u8], is_endless: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                while stream.write_all(bytes).await.is_ok() && is_endless {}
            });
        }
    });
    url
}

#[tokio::test]
async fn an_endless_answer_and_redirects_in_a_circle_end() {
    let shop = start(Sells::ByOneUpdate).await;
    let endless = server(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nsold out", true).await;
    let circle = server(
        b"HTTP/1.1 302 Found\r\nlocation: /login\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        false,
    )
    .await;
    for (url, says) in [(endless, "longer than"), (circle, "the answer has no token")] {
        let file = shop.file().replace(&shop.url, &url);
        let error = format!("{:#}", played(&file).await.unwrap_err());
        assert!(error.contains(says), "{error}");
    }
}

#[tokio::test]
async fn a_shop_that_cannot_be_reached_is_an_error() {
    let shop = start(Sells::ByOneUpdate).await;
    let file = shop.file().replace(&shop.url, "http://127.0.0.1:1");
    let error = format!("{:#}", played(&file).await.unwrap_err());
    assert!(error.contains("GET /login"), "{error}");
}

#[tokio::test]
async fn a_reading_has_no_value_of_a_buyer_and_a_request_may_go_elsewhere_only_by_name() {
    let said = refused(
        "select buyer from orders",
        "select buyer from orders where buyer = '{buyer}'",
    )
    .await;
    assert!(
        said.contains("{buyer} is not known here; known are item, stock"),
        "{said}"
    );
    let said = refused("stock = 3", "stock = 0").await;
    assert_eq!(said, "sale.stock is a number from 1 to 1000000");
    let shop = start(Sells::ByOneUpdate).await;
    let file = shop.file().replace("GET /login", "GET http://192.0.2.1/login");
    let trial = Trial::new(Description::parse(&file).unwrap(), Trust::System).unwrap();
    let urls: Vec<String> = trial.urls().iter().map(ToString::to_string).collect();
    assert_eq!(urls, [format!("{}/", shop.url), "http://192.0.2.1/login".to_owned()]);
}
