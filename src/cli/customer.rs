//! The flags of `customer update` and `customer restore`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::cli::batch::BatchArgs;
use crate::cli::field_flags::{FieldArgs, FieldFlag, FieldFlags, parse_key_value};
use crate::cli::{OperationArgs, RequestArgs, WriteArgs};
use crate::plan::profile::region;
use crate::wire::Table;

const CUSTOMER: Table = |tables| tables.customer;
const PROFILE_ADDRESS: Table = |tables| tables.address;
const REGION: Table = |tables| tables.region;

/// Whose profile or quote it is.
#[derive(Debug, Clone, Default, Args)]
pub struct CustomerChoice {
    /// Customer ID or email (needs an admin token) [default: the token's customer]
    #[arg(long, value_name = "ID|EMAIL", value_parser = NonEmptyStringValueParser::new())]
    pub customer: Option<String>,
}

/// The fields that may be empty, with whether an address has them, and whether the profile does.
pub const CLEARABLE: [(&str, bool, bool); 12] = [
    ("city", true, false),
    ("postcode", true, false),
    ("region", true, false),
    ("telephone", true, false),
    ("company", true, false),
    ("vat-id", true, false),
    ("fax", true, false),
    ("prefix", true, true),
    ("middlename", true, true),
    ("suffix", true, true),
    ("dob", false, true),
    ("taxvat", false, true),
];

/// Flags of `customer update`.
#[derive(Debug, Clone, Args)]
pub struct UpdateArgs {
    /// Whose profile.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// The profile.
    #[command(flatten)]
    pub profile: FieldArgs<ProfileFlags>,
    /// Update the address with this ID
    #[arg(long, value_name = "ID", help_heading = AddressFlags::HEADING, group = "which_address")]
    pub address: Option<i64>,
    /// Add an address
    #[arg(long, help_heading = AddressFlags::HEADING, group = "which_address")]
    pub add_address: bool,
    /// The address.
    #[command(flatten)]
    pub members: FieldArgs<AddressFlags>,
    /// Set a custom attribute of the address
    #[arg(long = "custom-attribute", value_name = "CODE=VALUE", num_args = 1.., value_parser = parse_key_value, help_heading = AddressFlags::HEADING)]
    pub custom_attributes: Vec<(String, String)>,
    /// Clear a field of the address, or else of the profile
    #[arg(long, value_name = "FIELD", num_args = 1.., value_parser = CLEARABLE.map(|field| field.0), hide_possible_values = true, conflicts_with = "add_address", help_heading = AddressFlags::HEADING)]
    pub clear: Vec<String>,
    /// Make it the default shipping address
    #[arg(long, help_heading = AddressFlags::HEADING, requires = "which_address")]
    pub default_shipping: bool,
    /// Make it the default billing address
    #[arg(long, help_heading = AddressFlags::HEADING, requires = "which_address")]
    pub default_billing: bool,
    /// Add the address even if an equal one is stored
    #[arg(long, help_heading = AddressFlags::HEADING)]
    pub allow_duplicate: bool,
    /// Remove these addresses
    #[arg(long = "remove-address", value_name = "ID", num_args = 1.., help_heading = "Deleting")]
    pub remove_addresses: Vec<i64>,
    /// Replace the whole list with the given one; omitted addresses are deleted
    #[arg(long, conflicts_with = "remove_addresses", help_heading = "Deleting")]
    pub replace_addresses: bool,
    /// Confirm the deletion of exactly N addresses
    #[arg(long, value_name = "N", help_heading = "Deleting")]
    pub allow_delete: Option<usize>,
    /// Use FILE as the current profile if the service cannot be read
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub base: Option<PathBuf>,
    /// How the profile is replaced.
    #[command(flatten)]
    pub replacement: ReplacementArgs,
    /// What every operation takes.
    #[command(flatten)]
    pub run: OperationArgs,
    /// Many records.
    #[command(flatten)]
    pub batch: BatchArgs,
}

/// Flags of every command that replaces a profile.
#[derive(Debug, Clone, Default, Args)]
pub struct ReplacementArgs {
    /// Maximum time to wait until the update is visible [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = super::duration::or_zero, help_heading = "Update options")]
    pub settle: Option<Duration>,
    /// Maximum time to wait for another command updating the same customer [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = super::duration::or_zero, help_heading = "Update options")]
    pub lock_timeout: Option<Duration>,
    /// Continue even if an earlier update with unknown outcome may still take effect
    #[arg(long, help_heading = "Update options")]
    pub after_unknown: bool,
}

/// Flags of `customer restore`.
#[derive(Debug, Clone, Args)]
pub struct RestoreArgs {
    /// Whose profile.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// Snapshot to restore, by number, by the beginning of its name (of one snapshot only) or by file [default: that of
    /// the last update]
    #[arg(value_name = "SNAPSHOT")]
    pub snapshot: Option<String>,
    /// Confirm the deletion of exactly N addresses newer than the snapshot
    #[arg(long, value_name = "N")]
    pub allow_delete: Option<usize>,
    /// Restore the whole profile
    #[arg(long)]
    pub all: bool,
    /// What every write takes.
    #[command(flatten)]
    pub write: WriteArgs,
    /// What every call takes.
    #[command(flatten)]
    pub request: RequestArgs,
    /// How the profile is replaced.
    #[command(flatten)]
    pub replacement: ReplacementArgs,
}

/// Flags that set members of the profile.
#[derive(Debug, Clone)]
pub struct ProfileFlags;

/// Flags that set members of the address.
#[derive(Debug, Clone)]
pub struct AddressFlags;

impl FieldFlags for ProfileFlags {
    const HEADING: &'static str = "Profile";
    const FLAGS: &'static [FieldFlag] = &[
        FieldFlag::new("firstname", CUSTOMER, "firstname"),
        FieldFlag::new("lastname", CUSTOMER, "lastname"),
        FieldFlag::new("email", CUSTOMER, "email"),
        FieldFlag::new("gender", CUSTOMER, "gender"),
        FieldFlag::new("group-id", CUSTOMER, "group_id"),
        FieldFlag::new("store-id", CUSTOMER, "store_id"),
        FieldFlag::new("website-id", CUSTOMER, "website_id"),
        FieldFlag::new("disable-auto-group-change", CUSTOMER, "disable_auto_group_change"),
    ];
}

impl FieldFlags for AddressFlags {
    const HEADING: &'static str = "Address";
    const FLAGS: &'static [FieldFlag] = &[
        FieldFlag::new("address-firstname", PROFILE_ADDRESS, "firstname"),
        FieldFlag::new("address-lastname", PROFILE_ADDRESS, "lastname"),
        FieldFlag::new("street", PROFILE_ADDRESS, "street"),
        FieldFlag::new("city", PROFILE_ADDRESS, "city"),
        FieldFlag::new("postcode", PROFILE_ADDRESS, "postcode"),
        FieldFlag::new("country", PROFILE_ADDRESS, "country_id"),
        FieldFlag::new("region", REGION, "region").within("region"),
        FieldFlag::new("region-code", REGION, "region_code").within("region"),
        FieldFlag::new("region-id", REGION, "region_id").within("region"),
        FieldFlag::new("no-region", PROFILE_ADDRESS, "region").constant(region::none, "Clear the region"),
        FieldFlag::new("telephone", PROFILE_ADDRESS, "telephone"),
        FieldFlag::new("company", PROFILE_ADDRESS, "company"),
        FieldFlag::new("vat-id", PROFILE_ADDRESS, "vat_id"),
    ];
}
