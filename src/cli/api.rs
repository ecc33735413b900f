//! `api`: any other call of the service.

use clap::Args;

use crate::plan::request::{Method, RelativePath};

/// Call any other endpoint with the profile's base URL and token
#[derive(Debug, Clone, Args)]
pub struct ApiArgs {
    /// HTTP method; only GET and HEAD are retried
    #[arg(value_parser = method)]
    pub method: Method,
    /// Path and query relative to the base URL, e.g. /V1/store/storeViews; `{store_view}` is replaced by its code
    #[arg(value_parser = RelativePath::new)]
    pub path: RelativePath,
    /// Use the administrator token
    #[arg(long)]
    pub admin: bool,
    /// Send a write to a customer's profile as it is: addresses that it leaves out are deleted
    #[arg(long)]
    pub unguarded: bool,
}

fn method(text: &str) -> Result<Method, String> {
    Method::new(text).ok_or_else(|| "expected an HTTP method, such as GET, POST, PUT or DELETE".to_owned())
}
