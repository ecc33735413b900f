//! Where the program's settings come from: flags, environment, profiles and tokens become one plain value, [`Settings`].
//!
//! One rule above all: a token goes to the host it was meant for and to no other.

mod credentials;
mod edit;
mod file;
mod keys;
mod profile;
mod program_search;
mod rest_root;
mod settings;
mod token;
mod value;

mod display;
#[cfg(test)]
mod tests;
mod validate;

pub use credentials::{Credentials, Stored};
pub use display::{flattened, format_value};
pub use edit::{KeyPath, token_keys};
pub use file::{ConfigFile, Loaded};
pub use keys::{CONFIG, Key, PROFILE, READ, ValueType};
pub use profile::Profile;
pub use settings::{
    ReadSettings, SANDBOX, ServiceId, Settings, ShipLayout, chosen_dialect, given_dialect, origin,
};
pub use token::{TokenCommand, TokenSource, token_variable};
pub use validate::profile_name as check_profile_name;
