//! Connections to a shop: plain, or with TLS, where the server may choose HTTP/2.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use loadtest::trust::Trust;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::Url;

/// The protocols that are offered, the preferred one first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// A connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A new connection.
pub struct Wire {
    /// The connection.
    pub stream: Box<dyn Stream>,
    /// Whether the server has chosen HTTP/2.
    pub is_http2: bool,
}

impl Wire {
    /// Connects to the host of a URL.
    ///
    /// # Errors
    /// When it cannot be reached, or its certificate is not trusted.
    pub async fn connect(url: &Url, trust: &Trust) -> Result<Self> {
        let host = url.host_str().context("a URL without a host")?;
        // An IPv6 address stands in brackets in a URL.
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = url.port_or_known_default().context("a URL without a port")?;
        let stream = TcpStream::connect((host.as_str(), port)).await;
        let stream = stream.context("the shop cannot be reached")?;
        stream.set_nodelay(true)?;
        if url.scheme() == "http" {
            return Ok(Self {
                stream: Box::new(stream),
                is_http2: false,
            });
        }
        let connector = TlsConnector::from(Arc::new(configuration(trust)?));
        let name = ServerName::try_from(host).context("the host of the URL")?;
        let stream = connector.connect(name, stream).await.context("TLS with the shop")?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(PROTOCOLS[0]);
        Ok(Self {
            stream: Box::new(stream),
            is_http2,
        })
    }
}

fn configuration(trust: &Trust) -> Result<ClientConfig> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::System => Arc::new(Verifier::new(provider.clone())?),
        Trust::Further(pem) => {
            let certificates = CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<Vec<_>, _>>();
            let certificates = certificates.map_err(|error| anyhow!("a certificate is damaged: {error}"))?;
            Arc::new(Verifier::new_with_extra_roots(certificates, provider.clone())?)
        }
        Trust::Unchecked => Arc::new(Unchecked(provider.clone())),
    };
    let configuration = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let configuration = configuration.dangerous().with_custom_certificate_verifier(verifier);
    let mut configuration = configuration.with_no_client_auth();
    configuration.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).into();
    Ok(configuration)
}

/// Trusts any certificate, as the user asked for.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
