//! A sale that lies in a Redis Cluster.

use std::collections::HashSet;
use std::sync::Arc;

use loadtest::facts::{LedgerReader, StorePair, Urls};
use redis::Commands;
use redis::aio::MultiplexedConnection;
use redis::cluster::{ClusterClient, ClusterConnection};
use stack::{Parts, ServiceKind, Stores};

const KEY: &str = "stock:{sku-1}";

fn entry(quantity: i64, buyer: &str) -> String {
    format!(r#"{{"quantity":{quantity},"buyer":"{buyer}","idempotency_key":null,"instance":"i"}}"#)
}

fn started() -> (Arc<Stores>, Vec<String>) {
    let nowhere = Some("nowhere".to_owned());
    let mut stores = Stores::start(&Parts {
        redis_url: nowhere.clone(),
        sql_url: nowhere,
        fetch: true,
    })
    .unwrap();
    let urls = stores.start_service("cluster", true).unwrap().to_vec();
    (Arc::new(stores), urls)
}

/// Returns the number of connections to the nodes that these ones lead to, but for those of replicas, which may still come.
async fn connections(watched: &mut [MultiplexedConnection]) -> usize {
    let mut all = 0;
    for node in watched {
        let mut list = redis::cmd("CLIENT");
        let listed: String = list.arg(&["LIST", "TYPE", "normal"]).query_async(node).await.unwrap();
        all += listed.lines().count();
    }
    all
}

/// Opens a sale, as a shop does.
fn sell(shop: &mut ClusterConnection, item: &str, left: i64, orders: &[(&str, String)]) {
    let [stock, ledger] = ["stock", "orders"].map(|what| format!("{what}:{{{item}}}"));
    let () = shop.set(stock, left).unwrap();
    for (id, entry) in orders {
        let () = shop.hset(&ledger, id, entry).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_witness_reads_each_item_from_the_node_that_serves_it_now() {
    let (stores, urls) = tokio::task::spawn_blocking(started).await.unwrap();
    let nodes = urls.clone();
    let shop = move || {
        let mut shop = ClusterClient::new(nodes).unwrap().get_connection().unwrap();
        sell(&mut shop, "sku-1", 7, &[("a", entry(2, "ann")), ("b", entry(1, "bob"))]);
        for number in 2..9 {
            sell(&mut shop, &format!("sku-{number}"), number, &[("c", entry(1, "cy"))]);
        }
        let () = shop.set("stock:{odd}", "many").unwrap();
        let () = shop.set("orders:{odd}", "none").unwrap();
        // The second part has no units yet, and the fourth one is none.
        sell(&mut shop, "parts", 5, &[("d", entry(1, "dee"))]);
        let () = shop.set("slots:{parts}", 4).unwrap();
        sell(&mut shop, "parts/1", 1, &[]);
        sell(&mut shop, "parts/3", 0, &[("e", entry(1, "eve"))]);
        sell(&mut shop, "parts/4", 1, &[("f", entry(1, "fay"))]);
        sell(&mut shop, "many-parts", 5, &[]);
        let () = shop.set("slots:{many-parts}", 1_000_000_000).unwrap();
        sell(&mut shop, "bad-part", 5, &[("g", entry(1, "guy"))]);
        let () = shop.set("slots:{bad-part}", 2).unwrap();
        let () = shop.set("stock:{bad-part/1}", "some").unwrap();
    };
    tokio::task::spawn_blocking(shop).await.unwrap();

    let reader = LedgerReader::connect(&Urls::from([("cluster", urls[0].clone())]))
        .await
        .unwrap();
    let pair = StorePair::try_from("cluster".to_owned()).unwrap();
    let read = async |item: &str| reader.read(pair, item, 9).await.unwrap();
    let whole = async || {
        let facts = read("sku-1").await;
        let orders = facts.orders.iter().map(|order| (order.id.clone(), order.quantity));
        (facts.stock_left, orders.collect::<Vec<_>>())
    };
    let sold = vec![("a".to_owned(), 2), ("b".to_owned(), 1)];
    assert_eq!(whole().await, (Some(7), sold.clone()));
    for number in 2..9 {
        assert_eq!(read(&format!("sku-{number}")).await.stock_left, Some(number));
    }
    assert_eq!(read("sku-10").await.stock_left, None);
    assert_eq!(read("odd").await.unreadable, 1);
    let parts = read("parts").await;
    assert_eq!((parts.stock_left, parts.orders.len()), (Some(6), 2), "{parts:?}");
    assert!(parts.in_parts && !read("sku-1").await.in_parts);
    for (item, orders) in [("many-parts", 0), ("bad-part", 1)] {
        let facts = read(item).await;
        assert_eq!(
            (facts.stock_left, facts.orders.len()),
            (None, orders),
            "{item}: {facts:?}"
        );
    }
    let mut watched = Vec::new();
    for url in &urls {
        let node = redis::Client::open(url.as_str()).unwrap();
        watched.push(node.get_multiplexed_async_connection().await.unwrap());
    }
    // The reading of the odd item has ended its connection.
    read("sku-1").await;
    let before = connections(&mut watched).await;
    for _ in 0..20 {
        read("sku-1").await;
    }
    let after = connections(&mut watched).await;
    assert!(after <= before, "{before} connections became {after} by reading");

    let known = HashSet::from(["sku-1", "sku-2", "parts", "bad-part"]);
    assert_eq!(
        reader.elsewhere("cluster", &known).await.unwrap().len(),
        7,
        "on all nodes, six items and a part that is none"
    );
    let version = &reader.versions().await.unwrap()["cluster"];
    assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{version}");

    let moved = stores.clone();
    let moves = move || {
        let migration = moved.begin_slot_migration(KEY).unwrap();
        moved.end_slot_migration(migration).unwrap();
    };
    tokio::task::spawn_blocking(moves).await.unwrap();
    assert_eq!(whole().await, (Some(7), sold.clone()));

    // The node of the URL dies, too: the reader knows the others by now.
    let of_url = stores.processes(ServiceKind::Cluster).first().unwrap();
    of_url.kill().unwrap();
    assert_eq!(whole().await, (Some(7), sold));
}
