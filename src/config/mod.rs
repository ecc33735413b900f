//! Where the program's settings come from: flags, environment, profiles and tokens become one plain value, [`Settings`].
//!
//! One rule above all: a token goes to the host it was meant for and to no other.

mod access;
mod base_url;
mod credentials;
mod edit;
mod file;
mod files;
mod keys;
mod profile;
mod program_search;
mod rest_root;
mod service_id;
mod settings;
mod target;
mod text_style;
mod token_command;
mod token_source;
mod tokens;
mod update;
mod value;

mod display;
#[cfg(test)]
mod tests;
mod validate;

pub use base_url::origin;
pub use credentials::{Credentials, Stored};
pub use display::{flattened, format_value};
pub use edit::{KeyPath, token_keys};
pub use file::{ConfigFile, ReadOnce};
pub use keys::{CONFIG, Key, PROFILE, READ, ValueType};
pub use profile::Profile;
pub use service_id::ServiceId;
pub use settings::{ReadSettings, SANDBOX, Settings, ShipLayout};
pub use target::{chosen_dialect, given_dialect};
pub use token_command::TokenCommand;
pub use token_source::TokenSource;
pub use tokens::token_variable;
pub use validate::profile_name as check_profile_name;
