//! Trust: which certificates the service may show, and which one we show.

use std::path::Path;

use reqwest::{Certificate, ClientBuilder, Identity};

use crate::failure::Failure;
use crate::http::transport_error::root_cause;

/// The PEM files of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Certificates<'a> {
    /// The only authorities to trust, with what the file is called in messages; the system's where there is none.
    pub authorities: Option<(&'static str, &'a Path)>,
    /// The certificate to show, its chain and its key.
    pub client: Option<&'a Path>,
}

const CLIENT: &str = "client-certificate";

/// The client with these certificates; none are read and nobody is trusted without them.
///
/// # Errors
/// `usage` when a certificate file cannot be read or does not hold what it should.
pub(super) fn client(
    mut builder: ClientBuilder,
    certificates: Option<Certificates<'_>>,
) -> Result<reqwest::Client, Failure> {
    // An error means that there is a provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let Some(Certificates { authorities, client }) = certificates else {
        return builder.tls_certs_only([]).build().map_err(|error| {
            Failure::internal(format!("cannot create the HTTP client: {}", root_cause(&error)))
        });
    };
    if let Some((role, path)) = authorities {
        builder = builder.tls_certs_only(roots(role, path)?);
    }
    if let Some(path) = client {
        let identity = Identity::from_pem(&read(CLIENT, path)?).map_err(|error| {
            invalid(CLIENT, path, &error)
                .hint("put the certificate, its chain and its unencrypted private key into the file, as PEM")
        })?;
        builder = builder.identity(identity);
    }
    builder.build().map_err(|error| {
        let hint = match (authorities, client) {
            (None, None) => "install the package ca-certificates, or set `ca-file` in the profile".to_owned(),
            (Some((role, _)), None) => format!("check the {role}"),
            (None, Some(_)) => format!("check the {CLIENT}"),
            (Some((role, _)), Some(_)) => format!("check the {role} and the {CLIENT}"),
        };
        Failure::usage(format!("cannot set up TLS: {}", root_cause(&error))).hint(hint)
    })
}

/// Every certificate in a PEM file, at least one.
fn roots(role: &str, path: &Path) -> Result<Vec<Certificate>, Failure> {
    let roots =
        Certificate::from_pem_bundle(&read(role, path)?).map_err(|error| invalid(role, path, &error))?;
    if roots.is_empty() {
        return Err(Failure::usage(format!("no certificate in {role} `{}`", path.display()))
            .hint("use PEM; convert DER with `openssl x509 -inform der -in FILE`"));
    }
    Ok(roots)
}

fn read(role: &str, path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path)
        .map_err(|error| Failure::usage(format!("cannot read the {role} `{}`: {error}", path.display())))
}

fn invalid(role: &str, path: &Path, error: &reqwest::Error) -> Failure {
    let cause = root_cause(error);
    let cause = cause.strip_prefix("unexpected error: ").unwrap_or(&cause);
    Failure::usage(format!("invalid {role} `{}`: {cause}", path.display()))
}
