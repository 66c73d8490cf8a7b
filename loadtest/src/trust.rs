//! The certificates by which a shop behind TLS is known.

use anyhow::{Context, Result, ensure};
use reqwest::{Certificate, Client, ClientBuilder};
use serde::{Deserialize, Serialize};

/// The certificates that the load test trusts. Workers check them as the run does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Those that the system trusts.
    #[default]
    System,
    /// These, in PEM, besides those that the system trusts.
    Further(String),
    /// Any certificate: it is not checked.
    Unchecked,
}

impl Trust {
    /// Trusts the certificates of a PEM text as well.
    ///
    /// # Errors
    /// When the text has no certificate, or one of them cannot be read.
    pub fn further(pem: String) -> Result<Self> {
        let certificates = certificates(&pem)?;
        ensure!(
            !certificates.is_empty(),
            "it has no certificate, which begins with -----BEGIN CERTIFICATE-----"
        );
        let trust = Self::Further(pem);
        // The content of a certificate is read only here.
        trust
            .build(Client::builder())
            .context("it has no certificate that can be used")?;
        Ok(trust)
    }

    /// Builds a client that trusts these certificates.
    ///
    /// # Errors
    /// When a certificate cannot be read, or the client cannot be built.
    pub fn build(&self, client: ClientBuilder) -> Result<Client> {
        let client = match self {
            Self::System => client,
            Self::Further(pem) => client.tls_certs_merge(certificates(pem)?),
            Self::Unchecked => client.tls_danger_accept_invalid_certs(true),
        };
        client.build().context("could not build the HTTP client")
    }
}

fn certificates(pem: &str) -> Result<Vec<Certificate>> {
    Certificate::from_pem_bundle(pem.as_bytes()).context("a certificate in it is damaged")
}
