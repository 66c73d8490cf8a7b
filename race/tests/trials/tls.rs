//! Shops behind TLS, with HTTP/1.1 and with HTTP/2.

use std::sync::Arc;

use std::future::pending;

use anyhow::Context;
use loadtest::audit::{Finding, Verdict};
use loadtest::trust::Trust;
use race::{Description, Load, Round, Trial};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::shop::{Sells, start};

/// They protect nothing: they are for 127.0.0.1, in tests.
const CERTIFICATE: &str = include_str!("../../../oversell/tests/cli/tls/certificate.pem");
const KEY: &str = include_str!("../../../oversell/tests/cli/tls/key.pem");

/// Ends TLS before a shop, which speaks this protocol rather than HTTP/1.1. Returns the base URL.
async fn tls_before(url: &str, protocol: &[u8]) -> String {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE.as_bytes()).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    let mut config = config.unwrap();
    config.alpn_protocols = vec![protocol.to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    let shop = url.strip_prefix("http://").unwrap().to_owned();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, shop) = (acceptor.clone(), shop.clone());
            tokio::spawn(async move {
                let mut outside = acceptor.accept(stream).await.ok()?;
                let mut inside = TcpStream::connect(shop).await.ok()?;
                copy_bidirectional(&mut outside, &mut inside).await.ok()
            });
        }
    });
    base
}

async fn played(sells: Sells, protocol: &[u8], trust: Trust) -> anyhow::Result<Round> {
    let shop = start(sells).await;
    let base = tls_before(&shop.url, protocol).await;
    let trial = Trial::new(Description::parse(&shop.file().replace(&shop.url, &base))?, trust)?;
    let raced = trial.play(
        Load::Race {
            buyers: 12,
            clicks: 1,
            has_fault: false,
        },
        |_, _| {},
        pending(),
    );
    raced.await?.context("nothing stops it")
}

#[tokio::test]
async fn a_shop_behind_tls_is_raced_with_the_protocol_that_it_chooses() {
    let trust = Trust::further(CERTIFICATE.to_owned()).unwrap();
    for (protocol, is_http2) in [(&b"http/1.1"[..], false), (b"h2", true)] {
        let raced = played(Sells::ByReadAndWrite, protocol, trust.clone()).await.unwrap();
        assert!(raced.findings.of(Finding::Oversold) > 0, "{raced:?}");
        assert_eq!(raced.window.unwrap().is_http2, is_http2, "{raced:?}");
        let raced = played(Sells::ByOneUpdate, protocol, trust.clone()).await.unwrap();
        assert_eq!(raced.verdict, Verdict::Holds, "{raced:?}");
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_refused_unless_none_is_checked() {
    let refused = played(Sells::ByOneUpdate, b"h2", Trust::System).await.unwrap_err();
    assert!(format!("{refused:#}").contains("certificate"), "{refused:#}");
    let raced = played(Sells::ByOneUpdate, b"h2", Trust::Unchecked).await.unwrap();
    assert_eq!(raced.verdict, Verdict::Holds, "{raced:?}");
}
