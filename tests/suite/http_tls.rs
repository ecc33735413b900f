//! TLS: certificate checks, client certificates and error messages.

use std::path::PathBuf;

use snapbox::str;

use crate::support::http_client::{assert_failure_text, call, link, post, run, send};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::tls::{Authority, Defect};
use storefront::client::Client;
use storefront::config::Endpoint;
use storefront::system::clock::Clock;
use storefront_core::failure::{Applied, Failure, FailureKind};

fn serving(authority: &Authority, defect: Defect, clients: Option<&Authority>) -> MockServer {
    MockServer::start_tls(vec![answer("200 OK", "", "{}")], authority.server(defect, clients))
}

fn trusting(server: &MockServer, authority: &Authority) -> Endpoint {
    Endpoint { ca_file: Some(authority.ca_file()), retry: 1, ..link(&server.url("")) }
}

/// The failure of one call that never came as far as a request.
fn failing(server: &MockServer, link: &Endpoint) -> Failure {
    let failure = send(link, &post()).unwrap_err();
    assert_eq!((failure.kind, failure.applied), (FailureKind::Unavailable, Applied::No), "{failure}");
    assert_eq!((server.requests().len(), server.connections()), (0, 1), "{failure}");
    failure
}

fn refused(link: &Endpoint) -> Failure {
    let failure = Client::new(link, None, Clock::system()).err().unwrap();
    assert_eq!(failure.kind, FailureKind::Usage, "{failure}");
    failure
}

#[test]
fn a_service_under_the_ca_file_is_reached_over_one_connection() {
    let authority = Authority::new("Ours");
    let server = serving(&authority, Defect::None, None);
    run(async {
        let client = Client::new(&trusting(&server, &authority), None, Clock::system()).unwrap();
        call(&client, &post()).await.unwrap();
        call(&client, &post()).await.unwrap();
    });
    assert_eq!((server.requests().len(), server.connections()), (2, 1));
}

#[test]
fn an_unknown_issuer_is_refused_and_the_hint_names_ca_file() {
    let server = || serving(&Authority::new("Theirs"), Defect::None, None);
    for (trusted, expected) in [
        (
            "Ours",
            str![[r#"
the certificate of 127.0.0.1:[PORT] is not signed by a trusted CA
  hint: set `ca-file` in the profile to the PEM file of the CA that signed it
"#]],
        ),
        (
            "Theirs",
            str![[r#"
the certificate of 127.0.0.1:[PORT] is not signed by a trusted CA
  hint: set `ca-file` in the profile to the PEM file of the CA that signed it
"#]],
        ),
    ] {
        let server = server();
        let failure = failing(&server, &trusting(&server, &Authority::new(trusted)));
        assert_failure_text(&failure, expected);
    }
}

#[test]
fn a_self_signed_certificate_is_refused() {
    let authority = Authority::new("Itself");
    let server = serving(&authority, Defect::Itself, None);
    let failure = failing(&server, &trusting(&server, &authority));
    assert_failure_text(
        &failure,
        str![[r#"
the certificate of 127.0.0.1:[PORT] is a CA certificate, not a server certificate
  hint: use a server certificate signed by a CA, and set `ca-file` to that CA
"#]],
    );
}

#[test]
fn an_expired_certificate_is_refused_with_its_date() {
    let authority = Authority::new("Ours");
    let server = serving(&authority, Defect::Expired, None);
    let failure = failing(&server, &trusting(&server, &authority));
    assert_failure_text(
        &failure,
        str![[r#"
the certificate of 127.0.0.1:[PORT] expired on 2020-02-03
  hint: the service operator must renew the certificate; also check the system clock
"#]],
    );
}

#[test]
fn a_certificate_for_another_name_is_refused_with_that_name() {
    let authority = Authority::new("Ours");
    let server = serving(&authority, Defect::Name, None);
    let failure = failing(&server, &trusting(&server, &authority));
    assert_failure_text(
        &failure,
        str![[r#"
the certificate of 127.0.0.1:[PORT] is valid for other.example, not for this host
  hint: check the host of the base URL
"#]],
    );
}

#[test]
fn a_client_certificate_is_presented() {
    let (authority, clients) = (Authority::new("Ours"), Authority::new("Customers"));
    let server = serving(&authority, Defect::None, Some(&clients));
    let (certificate, key) = clients.client_pem();
    let link = Endpoint {
        client_certificate: Some(clients.file("client.pem", &format!("{certificate}{key}"))),
        ..trusting(&server, &authority)
    };
    send(&link, &post()).unwrap();
    assert_eq!(server.requests().len(), 1);
}

/// With TLS 1.3 this refusal arrives after the request was sent; the service never reads it.
#[test]
fn a_missing_client_certificate_is_no_unknown_outcome() {
    let (authority, clients) = (Authority::new("Ours"), Authority::new("Customers"));
    let stranger = Authority::new("Customers");
    for _ in 0..10 {
        let server = serving(&authority, Defect::None, Some(&clients));
        let failure = failing(&server, &trusting(&server, &authority));
        assert_failure_text(
            &failure,
            str![[r#"
the service requires a client certificate
  hint: set `client-certificate` in the profile to one that the service accepts
"#]],
        );
        let server = serving(&authority, Defect::None, Some(&clients));
        let (certificate, key) = stranger.client_pem();
        let link = Endpoint {
            client_certificate: Some(stranger.file("client.pem", &format!("{key}{certificate}"))),
            ..trusting(&server, &authority)
        };
        failing(&server, &link);
    }
}

#[test]
fn a_port_without_tls_is_reported() {
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = plain.local_addr().unwrap();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = plain.accept().unwrap();
        let _ = stream.read(&mut [0; 64]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let authority = Authority::new("Ours");
    let link = Endpoint { ca_file: Some(authority.ca_file()), ..link(&format!("https://{address}")) };
    let failure = send(&link, &post()).unwrap_err();
    assert_eq!((failure.kind, failure.applied), (FailureKind::Unavailable, Applied::No));
    assert_failure_text(
        &failure,
        str![[r#"
127.0.0.1:[PORT] is not serving TLS on this port: received corrupt message of type InvalidContentType
  hint: check the port of the base URL, and whether it should be http://
"#]],
    );
}

#[test]
fn invalid_certificate_files_are_refused_with_their_reason() {
    let authority = Authority::new("Ours");
    let (certificate, key) = authority.client_pem();
    let (other, _) = Authority::new("Ours").client_pem();
    let broken = "-----BEGIN CERTIFICATE-----\n????\n-----END CERTIFICATE-----\n";
    let odd = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let locked = format!(
        "{certificate}-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
    );
    let base = || link("https://shop.example");
    let with_ca = |file: PathBuf| Endpoint { ca_file: Some(file), ..base() };
    for (text, expected) in [
        (
            "",
            str![[r#"
no certificate in ca-file `[HOME]/odd.pem`
  hint: use PEM; convert DER with `openssl x509 -inform der -in FILE`
"#]],
        ),
        (
            "\u{0}\u{1}binary",
            str![[r#"
no certificate in ca-file `[HOME]/odd.pem`
  hint: use PEM; convert DER with `openssl x509 -inform der -in FILE`
"#]],
        ),
        (
            key.as_str(),
            str![[r#"
no certificate in ca-file `[HOME]/odd.pem`
  hint: use PEM; convert DER with `openssl x509 -inform der -in FILE`
"#]],
        ),
        (broken, str!["invalid ca-file `[HOME]/odd.pem`: invalid certificate encoding"]),
        (
            odd,
            str![[r#"
cannot set up TLS: invalid peer certificate: BadEncoding
  hint: check the PEM files of `ca-file` and `client-certificate`
"#]],
        ),
    ] {
        assert_failure_text(&refused(&with_ca(authority.file("odd.pem", text))), expected);
    }
    assert_failure_text(
        &refused(&with_ca(authority.dir.path().join("none.pem"))),
        str!["cannot read the ca-file `[HOME]/none.pem`: No such file or directory (os error [N])"],
    );
    for (text, expected) in [
        (
            key.clone(),
            str![[r#"
invalid client-certificate `[HOME]/client.pem`: private key or certificate not found
  hint: put the certificate, its chain and its unencrypted private key into the file, as PEM
"#]],
        ),
        (
            certificate,
            str![[r#"
invalid client-certificate `[HOME]/client.pem`: private key or certificate not found
  hint: put the certificate, its chain and its unencrypted private key into the file, as PEM
"#]],
        ),
        (
            locked,
            str![[r#"
invalid client-certificate `[HOME]/client.pem`: private key or certificate not found
  hint: put the certificate, its chain and its unencrypted private key into the file, as PEM
"#]],
        ),
        (
            format!("{other}{key}"),
            str![[r#"
cannot set up TLS: keys may not be consistent: KeyMismatch
  hint: check the PEM files of `ca-file` and `client-certificate`
"#]],
        ),
    ] {
        let link = Endpoint {
            client_certificate: Some(authority.file("client.pem", &text)),
            ..with_ca(authority.ca_file())
        };
        assert_failure_text(&refused(&link), expected);
    }
}

#[test]
fn the_bundle_named_by_the_environment_is_the_one_read() {
    let authority = Authority::new("Ours");
    let server = serving(&authority, Defect::None, None);
    let named = |file| Endpoint { certificate_file: Some(file), ..link(&server.url("")) };
    send(&named(authority.ca_file()), &post()).unwrap();
    assert_failure_text(
        &refused(&named(authority.dir.path().join("none.pem"))),
        str!["cannot read the certificate file `[HOME]/none.pem`: No such file or directory (os error [N])"],
    );
}

#[test]
fn plain_http_reads_no_certificate_file() {
    let none = || Some(PathBuf::from("/nonexistent/file.pem"));
    let link = Endpoint { ca_file: none(), client_certificate: none(), ..link("http://127.0.0.1:1") };
    Client::new(&link, None, Clock::system()).unwrap();
}

#[test]
fn a_write_over_tls_without_a_response_is_unknown_and_arrives_once() {
    let authority = Authority::new("Ours");
    let server = MockServer::start_tls(vec![Step::Close], authority.server(Defect::None, None));
    let failure = send(&trusting(&server, &authority), &post()).unwrap_err();
    assert_eq!((failure.kind, failure.applied), (FailureKind::Unknown, Applied::Unknown), "{failure}");
    assert_eq!(server.requests().len(), 1);
}

/// Without a length only the end of the TLS session proves that the body is whole.
#[test]
fn a_truncated_body_is_reported_over_tls() {
    let authority = Authority::new("Ours");
    let endless = Step::AnswerAndClose(b"HTTP/1.1 200 OK\r\n\r\nabc".to_vec());
    let server = MockServer::start_tls(vec![endless.clone()], authority.server(Defect::None, None));
    let reply = send(&trusting(&server, &authority), &post()).unwrap();
    assert_eq!((&reply.bytes[..], reply.warning.is_some()), (&b"abc"[..], true));
    let plain = MockServer::start(vec![endless]);
    let reply = send(&link(&plain.url("")), &post()).unwrap();
    assert_eq!((&reply.bytes[..], reply.warning.is_some()), (&b"abc"[..], false));
}
