//! The least a program with the same HTTP library does: it reads its input, posts it and looks at the status, or reads. What
//! `storefront` takes beside it is its own.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use reqwest::Client;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// Post a file, or each line of it; or read what each line names.
#[derive(Parser)]
struct Arguments {
    url: String,
    token: String,
    input: PathBuf,
    /// Each line is a body, and as many are in flight at a time.
    #[arg(long)]
    jobs: Option<usize>,
    /// Each line is what follows the URL of something to read.
    #[arg(long, requires = "jobs")]
    read: bool,
    #[arg(long)]
    ca_file: Option<PathBuf>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = client(&arguments)?;
        match arguments.jobs {
            None => exchange(&client, &arguments, fs::read_to_string(&arguments.input)?).await,
            Some(jobs) => exchange_each(&client, &arguments, jobs).await,
        }
    })
}

fn client(arguments: &Arguments) -> Result<Client> {
    let mut roots = RootCertStore::empty();
    if let Some(path) = &arguments.ca_file {
        for certificate in CertificateDer::pem_slice_iter(&fs::read(path)?) {
            roots.add(certificate.ok().context("no certificate")?)?;
        }
    }
    let tls = ClientConfig::builder_with_provider(rustls::crypto::ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Client::builder().tls_backend_preconfigured(tls).http1_only().no_proxy().build()?)
}

async fn exchange(client: &Client, arguments: &Arguments, body: String) -> Result<()> {
    let request = if arguments.read {
        client.get(format!("{}{body}", arguments.url))
    } else {
        client.post(&arguments.url).header("content-type", "application/json").body(body)
    };
    let reply = request.bearer_auth(&arguments.token).send().await?;
    ensure!(reply.status().is_success(), "{}", reply.status());
    reply.bytes().await?;
    Ok(())
}

async fn exchange_each(client: &Client, arguments: &Arguments, jobs: usize) -> Result<()> {
    let mut lines = BufReader::new(File::open(&arguments.input)?).lines();
    let mut under_way = FuturesUnordered::new();
    loop {
        while under_way.len() < jobs {
            let Some(line) = lines.next().transpose()? else { break };
            under_way.push(exchange(client, arguments, line));
        }
        let Some(ended) = under_way.next().await else { return Ok(()) };
        ended?;
    }
}
