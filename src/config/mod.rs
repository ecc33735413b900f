//! Where the program's settings come from: flags, environment, profiles and tokens become one plain value, [`Settings`].
//!
//! One rule above all: a token goes to the host it was meant for and to no other.

mod base_url;
mod check;
mod credentials;
mod edit;
mod file;
mod files;
mod keys;
mod profile;
mod service_id;
mod settings;
mod shown;
mod token_source;
mod tokens;
mod value;

#[cfg(test)]
mod tests;

pub use base_url::origin;
pub use check::profile_name as check_profile_name;
pub use credentials::{Credentials, Stored};
pub use edit::{KeyPath, token_keys};
pub use file::ConfigFile;
pub use keys::{CONFIG, Key, Kind, PROFILE, READ};
pub use profile::Profile;
pub use service_id::ServiceId;
pub use settings::{ReadSettings, SANDBOX, Settings, ShipLayout};
pub use shown::{flattened, shown};
pub use token_source::{TokenSource, run_token_command};
pub use tokens::token_variable;
