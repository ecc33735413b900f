//! TLS: who is trusted, what we show, and what a failure says.

use std::path::PathBuf;

use crate::support::http_client::{link, post, run, send, token};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::tls::{Authority, Odd};
use storefront::failure::{Applied, Failure, FailureKind};
use storefront::http::{Client, Endpoint};

fn serving(authority: &Authority, odd: Odd, clients: Option<&Authority>) -> MockServer {
    MockServer::start_tls(vec![answer("200 OK", "", "{}")], authority.server(odd, clients))
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
    let failure = Client::new(link, None).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Usage, "{failure}");
    failure
}

#[test]
fn a_service_under_the_ca_file_is_reached_over_one_connection() {
    let authority = Authority::new("Ours");
    let server = serving(&authority, Odd::Nothing, None);
    run(async {
        let client = Client::new(&trusting(&server, &authority), None).unwrap();
        client.send(&post(), &token()).await.unwrap();
        client.send(&post(), &token()).await.unwrap();
    });
    assert_eq!((server.requests().len(), server.connections()), (2, 1));
}

#[test]
fn an_unknown_issuer_is_refused_and_the_setting_named() {
    let server = || serving(&Authority::new("Theirs"), Odd::Nothing, None);
    for (trusted, expected) in
        [("Ours", "is signed by an untrusted CA"), ("Theirs", "is not signed by the trusted CA of that name")]
    {
        let server = server();
        let failure = failing(&server, &trusting(&server, &Authority::new(trusted)));
        assert!(failure.message.contains(&server.address.to_string()), "{failure}");
        assert!(failure.message.contains(expected), "{failure}");
        assert!(failure.hint.unwrap().contains("`ca-file`"));
    }
}

#[test]
fn a_certificate_that_signed_itself_is_refused_in_words() {
    let authority = Authority::new("Itself");
    let server = serving(&authority, Odd::Itself, None);
    let failure = failing(&server, &trusting(&server, &authority));
    assert!(failure.message.ends_with("is a CA certificate, not a server certificate"), "{failure}");
    assert!(failure.hint.unwrap().contains("`ca-file`"));
}

#[test]
fn an_expired_certificate_is_refused_with_its_date() {
    let authority = Authority::new("Ours");
    let server = serving(&authority, Odd::Expired, None);
    let failure = failing(&server, &trusting(&server, &authority));
    assert!(failure.message.ends_with("expired on 2020-02-03"), "{failure}");
}

#[test]
fn a_certificate_for_another_name_is_refused_with_that_name() {
    let authority = Authority::new("Ours");
    let server = serving(&authority, Odd::Name, None);
    let failure = failing(&server, &trusting(&server, &authority));
    assert!(failure.message.ends_with("is valid for other.example, not for this host"), "{failure}");
}

#[test]
fn a_client_certificate_opens_the_door() {
    let (authority, clients) = (Authority::new("Ours"), Authority::new("Customers"));
    let server = serving(&authority, Odd::Nothing, Some(&clients));
    let (certificate, key) = clients.client_pem();
    let link = Endpoint {
        client_certificate: Some(clients.file("client.pem", &format!("{certificate}{key}"))),
        ..trusting(&server, &authority)
    };
    send(&link, &post()).unwrap();
    assert_eq!(server.requests().len(), 1);
}

/// With TLS 1.3 this refusal comes when our request is on its way already; the service never reads it.
#[test]
fn without_its_client_certificate_nothing_was_applied() {
    let (authority, clients) = (Authority::new("Ours"), Authority::new("Customers"));
    let stranger = Authority::new("Customers");
    for _ in 0..10 {
        let server = serving(&authority, Odd::Nothing, Some(&clients));
        let failure = failing(&server, &trusting(&server, &authority));
        assert!(failure.hint.unwrap().contains("`client-certificate`"));
        let server = serving(&authority, Odd::Nothing, Some(&clients));
        let (certificate, key) = stranger.client_pem();
        let link = Endpoint {
            client_certificate: Some(stranger.file("client.pem", &format!("{key}{certificate}"))),
            ..trusting(&server, &authority)
        };
        failing(&server, &link);
    }
}

#[test]
fn a_port_that_speaks_no_tls_is_said_to_speak_none() {
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
    assert!(failure.message.contains("is not serving TLS on this port"), "{failure}");
}

#[test]
fn files_that_are_not_what_they_should_be_are_told_apart() {
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
        ("", "no certificate in ca-file"),
        ("\u{0}\u{1}binary", "no certificate in ca-file"),
        (key.as_str(), "no certificate in ca-file"),
        (broken, "is not valid PEM"),
        (odd, "certificate 1 in `ca-file`"),
    ] {
        let failure = refused(&with_ca(authority.file("odd.pem", text)));
        assert!(failure.message.contains(expected) && failure.message.contains("odd.pem"), "{failure}");
    }
    let missing = refused(&with_ca(authority.dir.path().join("none.pem")));
    assert!(
        missing.message.starts_with("cannot read the ca-file ") && missing.message.contains("none.pem: "),
        "{missing}"
    );
    for (text, expected) in [
        (key.clone(), "no certificate in client-certificate"),
        (certificate, "contains no private key"),
        (locked, "is encrypted"),
        (format!("{other}{key}"), "invalid client certificate in"),
    ] {
        let link = Endpoint {
            client_certificate: Some(authority.file("client.pem", &text)),
            ..with_ca(authority.ca_file())
        };
        let failure = refused(&link);
        assert!(failure.message.contains(expected) && failure.message.contains("client.pem"), "{failure}");
    }
}

#[test]
fn over_plain_http_no_certificate_file_is_read() {
    let none = || Some(PathBuf::from("/nonexistent/file.pem"));
    let link = Endpoint { ca_file: none(), client_certificate: none(), ..link("http://127.0.0.1:1") };
    Client::new(&link, None).unwrap();
}

#[test]
fn a_write_over_tls_without_an_answer_is_unknown_and_arrives_once() {
    let authority = Authority::new("Ours");
    let server = MockServer::start_tls(vec![Step::Close], authority.server(Odd::Nothing, None));
    let failure = send(&trusting(&server, &authority), &post()).unwrap_err();
    assert_eq!((failure.kind, failure.applied), (FailureKind::Unknown, Applied::Unknown), "{failure}");
    assert_eq!(server.requests().len(), 1);
}

/// Without a length only the end of the TLS session proves that the body is whole.
#[test]
fn a_body_cut_off_by_whoever_sits_between_is_told() {
    let authority = Authority::new("Ours");
    let endless = Step::AnswerAndClose(b"HTTP/1.1 200 OK\r\n\r\nabc".to_vec());
    let server = MockServer::start_tls(vec![endless.clone()], authority.server(Odd::Nothing, None));
    let reply = send(&trusting(&server, &authority), &post()).unwrap();
    assert_eq!((&reply.body[..], reply.warning.is_some()), (&b"abc"[..], true));
    let plain = MockServer::start(vec![endless]);
    let reply = send(&link(&plain.url("")), &post()).unwrap();
    assert_eq!((&reply.body[..], reply.warning.is_some()), (&b"abc"[..], false));
}
