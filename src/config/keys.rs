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
    /// A whole number, zero or more.
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
    key("default-profile", ValueType::Text, "Profile that is used when none is named"),
    key("profiles", ValueType::Profiles(PROFILE), "One table for each profile"),
];

/// The keys of a profile.
pub const PROFILE: &[Key] = &[
    key("base-url", ValueType::BaseUrl, "Where the service is; a path is kept"),
    key("api", ValueType::Choice(Dialect::NAMES), "Interface of the service [default: marketplace]"),
    key("store-view", ValueType::StoreView, "Store view code in the path of each call"),
    key("token", ValueType::Secret, "The token itself; the file must then be readable by its owner only"),
    key("token-env", ValueType::Text, "Environment variable that holds the token"),
    key("token-file", ValueType::Path, "File that holds the token, readable by its owner only"),
    key("token-command", ValueType::Command, "Program that prints the token, run without a shell"),
    key(
        "admin-token",
        ValueType::Secret,
        "As token, for calls of the administrator [default: the profile's token]",
    ),
    key("admin-token-env", ValueType::Text, "As token-env, for calls of the administrator"),
    key("admin-token-file", ValueType::Path, "As token-file, for calls of the administrator"),
    key("admin-token-command", ValueType::Command, "As token-command, for calls of the administrator"),
    key(
        "ship-layout",
        ValueType::Choice(&["wrapped", "flat"]),
        "Whether shipping information stands in addressInformation [default: wrapped]",
    ),
    key(
        "allow-plain-http",
        ValueType::Flag,
        "Allow http:// beyond this machine; tokens then travel in the clear",
    ),
    key("ca-file", ValueType::Path, "PEM file of the certificates to trust, instead of the system's"),
    key("client-certificate", ValueType::Path, "PEM file of the client's private key and certificate chain"),
    key("timeout", ValueType::Seconds, "Request timeout, such as 30, 500ms or 1m [default: 30]"),
    key("retry", ValueType::Count, "Repeats of what cannot act twice [default: 2]"),
    key("settle", ValueType::Wait, "How long a written profile may take to show the change [default: 10]"),
    key(
        "lock-timeout",
        ValueType::Wait,
        "How long to wait for another process that writes the customer [default: 300]",
    ),
    key("retention-days", ValueType::Count, "Days a snapshot of a profile is kept [default: 30]"),
    key("read", ValueType::Table(READ), "How a customer's stored profile is read"),
];

/// The keys of a profile's `read` table.
pub const READ: &[Key] = &[
    key(
        "path",
        ValueType::RequestPath,
        "Path to read; {store_view} stands for the store view code [default: the profile's own path]",
    ),
    key("customer", ValueType::Pointer, "JSON pointer to the customer in the reply"),
    key(
        "addresses",
        ValueType::Pointer,
        "JSON pointer to the addresses, from the top of the reply or from the customer",
    ),
    key(
        "quote-path",
        ValueType::RequestPath,
        "Path that shows the quote; {store_view} stands for the store view code [default: none]",
    ),
    key(
        "attribute-path",
        ValueType::RequestPath,
        "Path that shows an attribute; {code} stands for its code, {store_view} for the store view [default: none]",
    ),
    key("ignore", ValueType::Pointers, "JSON pointers left out of comparisons [default: /updated_at]"),
];

/// The known key of that name.
pub fn find<'a>(keys: &'a [Key], name: &str) -> Option<&'a Key> {
    keys.iter().find(|key| key.name == name)
}
