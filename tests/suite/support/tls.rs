//! Certificates for one test.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    date_time_ymd,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tempfile::TempDir;

/// An authority with a directory for its files.
pub struct Authority {
    pub dir: TempDir,
    pem: String,
    der: rustls::pki_types::CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

/// What is wrong with a certificate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    None,
    Name,
    Expired,
    /// It is the authority's own.
    Itself,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        Self {
            dir: TempDir::new().unwrap(),
            pem: certificate.pem(),
            der: certificate.der().clone(),
            issuer: Issuer::new(params, key),
        }
    }

    /// Writes a file into the authority's directory.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The authority's own certificate as a file.
    pub fn ca_file(&self) -> PathBuf {
        self.file("ca.pem", &self.pem)
    }

    /// A certificate and a key signed by this authority, PEM.
    pub fn client_pem(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["client.example".to_owned()]).unwrap();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    /// The configuration of a server; with `clients`, it requires a certificate signed by that authority.
    pub fn server(&self, defect: Defect, clients: Option<&Authority>) -> Arc<ServerConfig> {
        let name = if defect == Defect::Name { "other.example" } else { "127.0.0.1" };
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        if defect == Defect::Expired {
            params.not_before = date_time_ymd(2019, 1, 1);
            params.not_after = date_time_ymd(2020, 2, 3);
        }
        let (certificate, key) = match defect {
            Defect::Itself => (self.der.clone(), self.issuer.key().serialize_der()),
            _ => (params.signed_by(&key, &self.issuer).unwrap().der().clone(), key.serialize_der()),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(authority.der.clone()).unwrap();
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let key = PrivateKeyDer::try_from(key).unwrap();
        let config = builder.with_single_cert(vec![certificate], key);
        Arc::new(config.unwrap())
    }
}
