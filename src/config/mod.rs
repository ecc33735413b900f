//! Where the program's settings come from: flags, environment, profiles and tokens become one plain value, [`Settings`].
//!
//! One rule above all: a token goes to the host it was meant for and to no other.

mod credentials;
mod edit;
mod endpoint;
mod file;
mod header_rules;
mod headers;
mod profile;
mod settings;
mod token;
mod writes;

#[cfg(test)]
mod tests;

pub use credentials::{Credentials, Stored};
pub use edit::{KeyPath, flattened, to_json};
pub use endpoint::{Endpoint, is_this_machine};
pub use file::{ConfigFile, Loaded};
pub use headers::Headers;
pub use profile::{
    BASE_URL, DEFAULT_PROFILE, Key, PROFILE, Profile, ReadSettings, Setting, ShipLayout, check_profile_name,
    is_secret, origin, parse_base_url,
};
pub use settings::{
    DEFAULT_RETENTION_DAYS, SANDBOX, ServiceId, Settings, chosen_dialect, given_dialect, with_root,
};
pub use token::{TokenCommand, TokenSource, token_variable};
pub use writes::Writes;
