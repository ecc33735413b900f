//! Where the program's settings come from: flags, environment, profiles and tokens become one plain value, [`Settings`].
//!
//! One rule above all: a token goes to the host it was meant for and to no other.

mod credentials;
mod edit;
mod file;
mod profile;
mod settings;
mod token;

#[cfg(test)]
mod tests;

pub use credentials::{Credentials, Stored};
pub use edit::{KeyPath, flattened, to_json, token_keys};
pub use file::{ConfigFile, Loaded};
pub use profile::{
    BASE_URL, DEFAULT_PROFILE, Form, Key, PROFILE, Profile, STORE_VIEW, Setting, check_profile_name,
};
pub use settings::{
    ReadSettings, SANDBOX, ServiceId, Settings, ShipLayout, chosen_dialect, given_dialect, origin,
};
pub use token::{TokenCommand, TokenSource, token_variable};
