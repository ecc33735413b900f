//! The keys of `config.toml`: one table that parsing, `config set`, suggestions and the docs are read off.

use crate::plan::request::Dialect;

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Name as it stands in the file.
    pub name: &'static str,
    /// What it holds.
    pub kind: ValueType,
    /// One line of meaning.
    pub doc: &'static str,
}

/// What a key holds.
#[derive(Debug, Clone, Copy)]
pub enum ValueType {
    /// Any text but the empty one.
    Text,
    /// A token: never shown.
    Secret,
    /// An `http` or `https` URL.
    BaseUrl,
    /// A store view code.
    StoreView,
    /// A file; relative to the file that names it, `~/` is the home directory.
    Path,
    /// A path of the service, from its first `/` on.
    RequestPath,
    /// A JSON pointer (RFC 6901).
    Pointer,
    /// A list of JSON pointers.
    Pointers,
    /// A program and its arguments.
    Command,
    /// `true` or `false`.
    Flag,
    /// A duration above zero, a day at most.
    Seconds,
    /// A duration, or zero: do not wait.
    Wait,
    /// An integer, zero or more.
    Count,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A table of these keys.
    Table(&'static [Key]),
    /// A table whose keys are profile names, each with a table of these keys.
    Profiles(&'static [Key]),
}

impl ValueType {
    /// The whole file.
    pub const ALL: Self = Self::Table(CONFIG);
}

const fn key(name: &'static str, kind: ValueType, doc: &'static str) -> Key {
    Key { name, kind, doc }
}

/// The keys at the top of the file.
pub const CONFIG: &[Key] = &[
    key("default-profile", ValueType::Text, "Default profile"),
    key("profiles", ValueType::Profiles(PROFILE), "One table for each profile"),
];

/// The keys of a profile.
pub const PROFILE: &[Key] = &[
    key("base-url", ValueType::BaseUrl, "Base URL of the service (may include a path)"),
    key("api", ValueType::Choice(Dialect::NAMES), "Interface of the service [default: marketplace]"),
    key("store-view", ValueType::StoreView, "Store view code"),
    key("token", ValueType::Secret, "Access token (the file must be readable by its owner only)"),
    key("token-env", ValueType::Text, "Environment variable containing the token"),
    key("token-file", ValueType::Path, "File containing the token (readable by its owner only)"),
    key("token-command", ValueType::Command, "Program that prints the token, run without a shell"),
    key(
        "admin-token",
        ValueType::Secret,
        "Like token, for administrator calls [default: the profile's token]",
    ),
    key("admin-token-env", ValueType::Text, "Like token-env, for administrator calls"),
    key("admin-token-file", ValueType::Path, "Like token-file, for administrator calls"),
    key("admin-token-command", ValueType::Command, "Like token-command, for administrator calls"),
    key(
        "ship-layout",
        ValueType::Choice(&["wrapped", "flat"]),
        "Shipping payload layout: wrapped (in addressInformation) or flat [default: wrapped]",
    ),
    key("allow-plain-http", ValueType::Flag, "Allow plain http:// to other hosts (sends tokens unencrypted)"),
    key("ca-file", ValueType::Path, "PEM file of trusted certificates (replaces the system's)"),
    key(
        "client-certificate",
        ValueType::Path,
        "PEM file with the client's private key and certificate chain",
    ),
    key("timeout", ValueType::Seconds, "Request timeout, such as 30, 500ms or 1m [default: 30]"),
    key("retry", ValueType::Count, "Maximum retries of requests that are safe to repeat [default: 2]"),
    key("settle", ValueType::Wait, "Maximum time to wait until an update is visible [default: 10]"),
    key(
        "lock-timeout",
        ValueType::Wait,
        "Maximum time to wait for another command updating the customer [default: 300]",
    ),
    key("retention-days", ValueType::Count, "Days to keep profile snapshots [default: 30]"),
    key("read", ValueType::Table(READ), "How to read the stored profile"),
];

/// The keys of a profile's `read` table.
pub const READ: &[Key] = &[
    key(
        "path",
        ValueType::RequestPath,
        "Path to read; {store_view} is replaced by the store view code [default: the profile's own path]",
    ),
    key("customer", ValueType::Pointer, "JSON pointer to the customer in the response"),
    key(
        "addresses",
        ValueType::Pointer,
        "JSON pointer to the addresses, from the response root or the customer",
    ),
    key(
        "quote-path",
        ValueType::RequestPath,
        "Path that shows the quote; {store_view} is replaced by the store view code [default: none]",
    ),
    key(
        "attribute-path",
        ValueType::RequestPath,
        "Path that shows an attribute; {code} and {store_view} are replaced [default: none]",
    ),
    key("ignore", ValueType::Pointers, "JSON pointers ignored in comparisons [default: /updated_at]"),
];

/// The known key of that name.
pub fn find<'a>(keys: &'a [Key], name: &str) -> Option<&'a Key> {
    keys.iter().find(|key| key.name == name)
}
