//! Trust: which certificates the service may show, and which one we show.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::failure::Failure;
use crate::http::Endpoint;
use crate::storage::is_directory_error;

/// Where the systems keep all their roots in one file. Reading that file takes a fraction of what reading the
/// directory next to it takes. Elsewhere the platform itself is asked.
const SYSTEM_BUNDLES: &[&str] = if cfg!(any(windows, target_vendor = "apple")) {
    &[]
} else {
    &[
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/cert.pem",
        "/usr/local/share/certs/ca-root-nss.crt",
    ]
};

/// Who is trusted.
enum Trust {
    /// These, and nobody else.
    Roots(RootCertStore),
    /// The roots the platform trusts.
    Platform,
}

/// The TLS side of a client. For `http://` nothing is read and nobody is trusted.
///
/// # Errors
/// `usage` when a certificate file cannot be read or does not hold what it should.
pub(super) fn config(link: &Endpoint) -> Result<ClientConfig, Failure> {
    let encrypted = link.base_url.scheme() == "https";
    let trust = if encrypted { trust(link)? } else { Trust::Roots(RootCertStore::empty()) };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::internal(error.to_string()))?;
    let builder = match trust {
        Trust::Roots(roots) => builder.with_root_certificates(roots),
        Trust::Platform => {
            let platform =
                rustls_platform_verifier::Verifier::new(provider).map_err(|error| no_roots(&error))?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(platform))
        }
    };
    let mut config = match link.client_certificate.as_deref().filter(|_| encrypted) {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let (chain, key) = client_certificate(path)?;
            builder.with_client_auth_cert(chain, key).map_err(|error| {
                let what = match &error {
                    rustls::Error::InconsistentKeys(_) => {
                        "the private key does not belong to the certificate".to_owned()
                    }
                    error => error.to_string(),
                };
                Failure::usage(format!("invalid client certificate in `{}`: {what}", path.display()))
                    .hint("put the certificate, its chain and the matching private key into the file")
            })?
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn no_roots(error: &rustls::Error) -> Failure {
    Failure::usage(format!("no system root certificates found: {error}"))
        .hint("install the package ca-certificates, or set `ca-file` in the profile")
}

fn trust(link: &Endpoint) -> Result<Trust, Failure> {
    match &link.ca_file {
        Some(path) => own_roots(path).map(Trust::Roots),
        None => system_roots(link.certificate_file.clone()),
    }
}

fn own_roots(path: &Path) -> Result<RootCertStore, Failure> {
    let mut roots = RootCertStore::empty();
    let text = read(path, "ca-file")?;
    for (index, certificate) in certificates(&text, path, "ca-file")?.into_iter().enumerate() {
        roots.add(certificate).map_err(|error| {
            Failure::usage(format!(
                "cannot parse certificate {} in ca-file `{}`: {error}",
                index + 1,
                path.display()
            ))
        })?;
    }
    Ok(roots)
}

/// `named` is `SSL_CERT_FILE`; a file the user named must be there, the others are tried in turn.
fn system_roots(named: Option<PathBuf>) -> Result<Trust, Failure> {
    let path = match named {
        Some(path) => path,
        None => match SYSTEM_BUNDLES.iter().map(Path::new).find(|path| path.is_file()) {
            Some(path) => path.to_owned(),
            None => return Ok(Trust::Platform),
        },
    };
    let text = read(&path, "certificate file")?;
    let mut roots = RootCertStore::empty();
    // One invalid root among the system's many is skipped.
    roots.add_parsable_certificates(certificates(&text, &path, "certificate file")?);
    Ok(Trust::Roots(roots))
}

/// Every certificate in a PEM file, at least one.
fn certificates(text: &[u8], path: &Path, role: &str) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    let found = found.map_err(|error| broken_pem(path, role, &error))?;
    if found.is_empty() {
        return Err(Failure::usage(format!("no certificate in {role} `{}`", path.display()))
            .hint("use PEM; convert DER with `openssl x509 -inform der -in FILE`"));
    }
    Ok(found)
}

fn client_certificate(
    path: &Path,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Failure> {
    const ROLE: &str = "client-certificate";
    let text = read(path, ROLE)?;
    let chain = certificates(&text, path, ROLE)?;
    let key = PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
        pem::Error::NoItemsFound if holds_encrypted_key(&text) => {
            Failure::usage(format!("the private key in the {ROLE} `{}` is encrypted", path.display()))
                .hint("decrypt it with `openssl pkey -in FILE` and restrict the file's permissions")
        }
        pem::Error::NoItemsFound => {
            Failure::usage(format!("the {ROLE} `{}` contains no private key", path.display()))
                .hint("add the key (-----BEGIN PRIVATE KEY-----) to the same file, after the certificates")
        }
        error => broken_pem(path, ROLE, &error),
    })?;
    Ok((chain, key))
}

fn holds_encrypted_key(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).contains("BEGIN ENCRYPTED PRIVATE KEY")
}

fn read(path: &Path, role: &str) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        let shown = path.display();
        Failure::usage(if is_directory_error(path, &error) {
            format!("the {role} `{shown}` is a directory, not a file")
        } else {
            format!("cannot read the {role} `{shown}`: {error}")
        })
    })
}

fn broken_pem(path: &Path, role: &str, error: &pem::Error) -> Failure {
    let what = match error {
        pem::Error::MissingSectionEnd { .. } => "an END line is missing".to_owned(),
        pem::Error::IllegalSectionStart { .. } => "a BEGIN line is malformed".to_owned(),
        pem::Error::Base64Decode(_) => "its text is not Base64".to_owned(),
        pem::Error::SectionTooLarge => "it is too long".to_owned(),
        error => error.to_string(),
    };
    Failure::usage(format!("the {role} `{}` is not valid PEM: {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{Trust, system_roots};

    #[test]
    fn the_bundle_named_by_the_environment_is_the_one_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("roots.pem");
        let key = rcgen::KeyPair::generate().unwrap();
        let root = rcgen::CertificateParams::default().self_signed(&key).unwrap();
        std::fs::write(&file, root.pem()).unwrap();
        let Ok(Trust::Roots(roots)) = system_roots(Some(file)) else {
            panic!("not read");
        };
        assert_eq!(roots.len(), 1);
        let missing = system_roots(Some(dir.path().join("none"))).err().unwrap();
        assert!(missing.message.contains("cannot read the certificate file `"), "{missing}");
    }
}
