//! The certificates that the options trust.

use loadtest::trust::Trust;

use crate::exit::Usage;
use crate::options::TlsOptions;
use crate::text_file;

/// Returns the certificates that the options trust.
///
/// # Errors
/// When the file cannot be read, is too long, or has no certificate, or a damaged one.
pub fn of(options: &TlsOptions) -> Result<Trust, Usage> {
    match (&options.ca_file, options.insecure) {
        (_, true) => Ok(Trust::Unchecked),
        (Some(file), false) => {
            let trust = text_file::read(file).and_then(Trust::further);
            trust.map_err(|error| Usage(format!("--ca-file {}: {error:#}", file.display())))
        }
        (None, false) => Ok(Trust::System),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use std::fs;

    use super::*;

    const CERTIFICATE: &str = include_str!("../tests/cli/tls/certificate.pem");
    const KEY: &str = include_str!("../tests/cli/tls/key.pem");

    fn refusal(bytes: &[u8]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        fs::write(&file, bytes).unwrap();
        let options = TlsOptions {
            ca_file: Some(file),
            insecure: false,
        };
        of(&options).err().map(|refused| refused.to_string())
    }

    #[test]
    fn a_file_without_a_good_certificate_is_refused_with_what_is_wrong() {
        let (head, rest) = CERTIFICATE.split_at(CERTIFICATE.len() / 2);
        let other_bytes = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
        let long = CERTIFICATE.repeat(1_000);
        for (text, why) in [
            (b"".as_slice(), "has no certificate"),
            (b"hello", "has no certificate"),
            (KEY.as_bytes(), "has no certificate"),
            (head.as_bytes(), "is damaged"),
            (format!("{head}!{rest}").as_bytes(), "is damaged"),
            (other_bytes.as_bytes(), "no certificate that can be used"),
            (b"\xff\xfe", "cannot be read as text"),
            (long.as_bytes(), "is over 262144 bytes"),
        ] {
            let refused = refusal(text).unwrap_or_else(|| panic!("{why}: it was accepted"));
            assert!(refused.starts_with("--ca-file ") && refused.contains(why), "{refused}");
        }
        let options = TlsOptions {
            ca_file: Some("/nowhere".into()),
            insecure: false,
        };
        let refused = of(&options).unwrap_err().to_string();
        assert!(
            refused.contains("/nowhere: it cannot be opened: No such file"),
            "{refused}"
        );
    }

    #[test]
    fn several_certificates_in_one_file_are_trusted_besides_those_of_the_system() {
        assert_eq!(refusal(CERTIFICATE.as_bytes()), None);
        assert_eq!(refusal(CERTIFICATE.repeat(3).as_bytes()), None);
    }
}
