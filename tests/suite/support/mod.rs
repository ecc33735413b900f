//! What the tests share.

pub mod at_once;
pub mod batch;
pub mod database;
pub mod doctor;
pub mod flaky_proxy;
pub mod http_client;
pub mod json_schema;
pub mod magento;
pub mod mock_server;
pub mod raw_http;
pub mod rows;
pub mod scripted;
pub mod snapshot;
pub mod storefront;
#[cfg(unix)]
pub mod terminal;
pub mod test_env;
pub mod tls;
pub mod trial;
