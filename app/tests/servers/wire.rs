//! Over real sockets: bytes that are no request, buyers that hang up, and a shop that closes.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use redis::AsyncCommands;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::harness::{Instance, LONG, PurchaseRequest, TOKEN, ask, until};

struct Served {
    instance: Instance,
    public: SocketAddr,
    admin: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

impl Served {
    async fn lab() -> Self {
        Self::draining(Duration::ZERO).await
    }

    async fn draining(drain: Duration) -> Self {
        let instance = Instance::lab().await;
        let public = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let admin = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addresses = (public.local_addr().unwrap(), admin.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let shop = instance.shop.clone();
        let stopped = async {
            let _ = stopped.await;
        };
        let server = tokio::spawn(app::http::serve(shop, public, admin, stopped, drain));
        Self {
            instance,
            public: addresses.0,
            admin: addresses.1,
            stop,
            server,
        }
    }

    /// Sends bytes to the public listener and reads the whole answer, on a thread of its own.
    fn talk(&self, bytes: impl Into<Vec<u8>>) -> JoinHandle<String> {
        Self::talk_to(self.public, bytes)
    }

    fn talk_to(address: SocketAddr, bytes: impl Into<Vec<u8>>) -> JoinHandle<String> {
        let bytes = bytes.into();
        spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(LONG)).unwrap();
            stream.write_all(&bytes).unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).unwrap();
            String::from_utf8(answer).unwrap()
        })
    }

    async fn until_in_progress(&self) {
        until("a purchase is in progress", async || {
            self.instance.shop.in_progress() == 1
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_over_a_socket_is_answered() {
    let served = Served::lab().await;
    let item = served.instance.sale(1).await;
    let answer = served.talk(PurchaseRequest::of(&item).bytes()).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_would_smuggle_a_header_are_no_request_and_sell_nothing() {
    let served = Served::lab().await;
    let item = served.instance.sale(7).await;
    let whole = PurchaseRequest::of(&item).bytes();
    let smuggled = [
        "Idempotency-Key: a\rX-Fault: crash@write",
        "Idempotency-Key: a\0b",
        "Idempotency-Key: a\nb",
        "Idempotency-Key: a\r\n b",
        "Idempotency-Key : a",
        "Idempotency\0Key: a",
        "Content-Length: 1",
    ];
    for header in smuggled {
        let request = whole.replacen("Connection: close", &format!("{header}\r\nConnection: close"), 1);
        let answer = served.talk(request).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 "), "{header:?}: {answer}");
    }
    let request = whole.replacen("/purchases", "/purch\0ases", 1);
    assert!(served.talk(request).await.unwrap().starts_with("HTTP/1.1 400 "));
    assert_eq!(served.instance.ledger("redis", &item).await.left_and_sold(), (7, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_in_progress_when_the_shop_closes_is_finished_and_answered() {
    let served = Served::lab().await;
    let item = served.instance.sale(1).await;
    let answer = served.talk(PurchaseRequest::of(&item).by("watchdog@redis").work_ms(2_000).bytes());
    served.until_in_progress().await;
    served.stop.send(()).unwrap();
    served.server.await.unwrap();
    assert_eq!(served.instance.shop.in_progress(), 0);
    assert_eq!(served.instance.ledger("redis", &item).await.left_and_sold(), (0, 1));
    let answer = answer.await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    let address = served.public;
    assert!(
        TcpStream::connect(address).is_err(),
        "somebody still listens at {address}"
    );
    let nothing: [(&str, &str); 0] = [];
    let ready = ask(&served.instance.public, "GET", "/readyz", &nothing, "").await;
    assert_eq!(ready.problem(), (503, "not-ready".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_that_drains_sells_on_and_closes_every_connection() {
    let served = Served::draining(LONG).await;
    let item = served.instance.sale(1).await;
    served.stop.send(()).unwrap();
    let shop = served.instance.shop.clone();
    until("it is closing", async || shop.is_closing()).await;
    let keeps = |request: &str| request.replacen("Connection: close\r\n", "", 1);
    let cases = [
        (PurchaseRequest::of(&item).bytes(), "201 Created"),
        (
            "GET /readyz HTTP/1.1\r\nHost: shop\r\n\r\n".to_owned(),
            "503 Service Unavailable",
        ),
    ];
    for (request, status) in cases {
        let answer = Served::talk_to(served.public, keeps(&request)).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
        assert!(answer.contains("connection: close\r\n"), "{answer}");
    }
    served.server.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn half_a_header_is_not_waited_for_without_end() {
    let served = Served::lab().await;
    let half = "GET /healthz HTTP/1.1\r\nHost:";
    let (public, admin) = (served.talk(half), Served::talk_to(served.admin, half));
    assert_eq!((public.await.unwrap(), admin.await.unwrap()), Default::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn half_a_request_does_not_hold_the_shop_open() {
    let served = Served::lab().await;
    let halves = [
        "GET /healthz HTTP/1.1\r\nHost:",
        "POST /purchases HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
    ];
    let held: Vec<TcpStream> = [served.public, served.admin]
        .into_iter()
        .flat_map(|address| halves.map(|half| (address, half)))
        .map(|(address, half)| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(half.as_bytes()).unwrap();
            stream
        })
        .collect();
    // Connections are taken in order: this request is answered after the others were taken.
    let whole = "GET /healthz HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n";
    for address in [served.public, served.admin] {
        let answer = Served::talk_to(address, whole).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
    }
    served.stop.send(()).unwrap();
    let before_its_deadline = std::time::Duration::from_secs(8);
    let ended = tokio::time::timeout(before_its_deadline, served.server).await;
    assert!(ended.is_ok(), "the shop waits for the rest of {} requests", held.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_65th_operator_is_served_when_another_one_leaves_and_buyers_do_not_notice() {
    let served = Served::lab().await;
    let half = format!(
        "PUT /sales/sku HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"
    );
    let connect = |bytes: &str| {
        let mut stream = TcpStream::connect(served.admin).unwrap();
        stream.write_all(bytes.as_bytes()).unwrap();
        stream
    };
    let mut held: Vec<TcpStream> = (0..64).map(|_| connect(&half)).collect();
    let mut late = connect("GET /metrics HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n");
    late.set_nonblocking(true).unwrap();
    // Time enough to answer an operator too, and nothing to wait for that a busy machine could be late with.
    for _ in 0..20 {
        let answer = served.talk("GET /healthz HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n");
        assert!(answer.await.unwrap().starts_with("HTTP/1.1 200 "));
        assert_eq!(late.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    }
    held.pop();
    late.set_nonblocking(false).unwrap();
    late.set_read_timeout(Some(LONG)).unwrap();
    let mut answer = String::new();
    late.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buyer_that_hangs_up_leaves_neither_a_held_lock_nor_a_missing_order() {
    let served = Served::lab().await;
    for strategy in ["setnx@redis", "watchdog@redis"] {
        let item = served.instance.sale(1).await;
        let request = PurchaseRequest::of(&item).by(strategy).work_ms(2_000).bytes();
        let mut stream = TcpStream::connect(served.public).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        served.until_in_progress().await;
        drop(stream);
        let shop = &served.instance.shop;
        until("nothing is in progress", async || shop.in_progress() == 0).await;
        assert_eq!(
            served.instance.ledger("redis", &item).await.left_and_sold(),
            (0, 1),
            "{strategy}"
        );
        let locked: bool = served
            .instance
            .redis
            .clone()
            .exists(format!("lock:{{{item}}}"))
            .await
            .unwrap();
        assert!(!locked, "{strategy}");
    }
}

#[tokio::test]
async fn a_shop_that_lives_and_reaches_its_stores_is_ready() {
    let instance = Instance::lab().await;
    let nothing: [(&str, &str); 0] = [];
    for path in ["/healthz", "/readyz"] {
        assert_eq!(ask(&instance.public, "GET", path, &nothing, "").await.status, 200);
    }
}
