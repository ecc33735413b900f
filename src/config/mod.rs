//! Where the program's settings come from: flags, environment, profiles and tokens become one plain value, [`Settings`].
//!
//! One rule above all: a token goes to the host it was meant for and to no other.

mod base_url;
mod credentials;
mod file;
mod files;
mod keys;
mod settings;
mod token_source;
mod tokens;
mod value;

pub use base_url::origin;
pub use credentials::{Credentials, Stored};
pub use file::{ConfigFile, Profile};
pub use keys::{CONFIG, Key, Kind, PROFILE, READ};
pub use settings::{ReadSettings, Settings, ShipLayout};
pub use token_source::{TokenSource, run_token_command};
