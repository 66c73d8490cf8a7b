//! Over real sockets: bytes that are no request, buyers who hang up, and a shop that closes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use redis::AsyncCommands;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::harness::{Instance, LONG, PurchaseRequest, ask, until};

struct Served {
    instance: Instance,
    public: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<std::io::Result<()>>,
}

impl Served {
    async fn lab() -> Self {
        let instance = Instance::lab().await;
        let public = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let admin = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = public.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shop = instance.shop.clone();
        let server = tokio::spawn(app::http::serve(shop, public, admin, async {
            let _ = stopped.await;
        }));
        Self {
            instance,
            public: address,
            stop,
            server,
        }
    }

    /// Sends bytes and reads the whole answer, on a thread of its own.
    fn talk(&self, bytes: impl Into<Vec<u8>>) -> JoinHandle<String> {
        let (address, bytes) = (self.public, bytes.into());
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
    assert_eq!(served.instance.books("redis", &item).await.left_and_sold(), (7, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_in_progress_when_the_shop_closes_is_finished_and_answered() {
    let served = Served::lab().await;
    let item = served.instance.sale(1).await;
    let answer = served.talk(PurchaseRequest::of(&item).by("watchdog@redis").work_ms(300).bytes());
    served.until_in_progress().await;
    served.stop.send(()).unwrap();
    served.server.await.unwrap().unwrap();
    assert_eq!(served.instance.shop.in_progress(), 0);
    assert_eq!(served.instance.books("redis", &item).await.left_and_sold(), (0, 1));
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
async fn a_buyer_who_hangs_up_leaves_neither_a_held_lock_nor_a_missing_order() {
    let served = Served::lab().await;
    for strategy in ["setnx@redis", "watchdog@redis"] {
        let item = served.instance.sale(1).await;
        let request = PurchaseRequest::of(&item).by(strategy).work_ms(300).bytes();
        let mut stream = TcpStream::connect(served.public).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        served.until_in_progress().await;
        drop(stream);
        let shop = &served.instance.shop;
        until("nothing is in progress", async || shop.in_progress() == 0).await;
        assert_eq!(
            served.instance.books("redis", &item).await.left_and_sold(),
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
