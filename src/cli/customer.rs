//! `storefront customer …`

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::cli::batch::BatchArgs;
use crate::cli::field_flags::{FieldArgs, FieldFlag, FieldFlags, parse_key_value};
use crate::plan::profile::region;
use crate::wire::{CUSTOMER, PROFILE_ADDRESS, PROFILE_ADDRESS_FLAGS, REGION};

/// Customers: the profile and its addresses.
#[derive(Debug, Subcommand)]
pub enum CustomerCommand {
    /// Change the profile and its addresses, keeping every address not named
    Update(Box<UpdateArgs>),
    /// Print the stored profile and addresses
    Show(CustomerChoice),
    /// Search customers by email and name, with an administrator's token
    Find(FindArgs),
    /// List the snapshots taken before each replacement
    History(HistoryArgs),
    /// Undo the last update, or put a snapshot back, keeping newer addresses
    Restore(RestoreArgs),
}

/// Whose profile or quote it is.
#[derive(Debug, Clone, Default, Args)]
pub struct CustomerChoice {
    /// Customer by id or email, with an administrator's token [default: the token's own customer]
    #[arg(long, value_name = "ID|EMAIL")]
    pub customer: Option<String>,
}

/// Flags of `customer find`.
#[derive(Debug, Clone, Args)]
pub struct FindArgs {
    /// Words, each a part of the email, the first or the last name
    #[arg(value_name = "TEXT", required = true)]
    pub text: Vec<String>,
    /// Show at most N customers
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: u16,
}

/// Flags of `customer update`.
#[derive(Debug, Clone, Args)]
pub struct UpdateArgs {
    /// Whose profile.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// The profile.
    #[command(flatten)]
    pub profile: FieldArgs<ProfileFlags>,
    /// Change the stored address with this id
    #[arg(long, value_name = "ID", help_heading = AddressFlags::HEADING, group = "which_address")]
    pub address: Option<i64>,
    /// Add an address
    #[arg(long, help_heading = AddressFlags::HEADING, group = "which_address")]
    pub add_address: bool,
    /// The address.
    #[command(flatten)]
    pub members: FieldArgs<AddressFlags>,
    /// Custom attribute of the address
    #[arg(long = "custom-attribute", value_name = "CODE=VALUE", num_args = 1.., value_parser = parse_key_value, help_heading = AddressFlags::HEADING)]
    pub custom_attributes: Vec<(String, String)>,
    /// Make it the default shipping address
    #[arg(long, help_heading = AddressFlags::HEADING, requires = "which_address")]
    pub default_shipping: bool,
    /// Make it the default billing address
    #[arg(long, help_heading = AddressFlags::HEADING, requires = "which_address")]
    pub default_billing: bool,
    /// Add the address even if an equal one is stored
    #[arg(long, help_heading = AddressFlags::HEADING)]
    pub allow_duplicate: bool,
    /// Remove these stored addresses
    #[arg(long = "remove-address", value_name = "ID", num_args = 1.., help_heading = "Deleting")]
    pub remove_addresses: Vec<i64>,
    /// Send exactly the given list: what it leaves out is deleted
    #[arg(long, conflicts_with = "remove_addresses", help_heading = "Deleting")]
    pub replace_addresses: bool,
    /// Allow exactly this many addresses to be deleted by leaving them out
    #[arg(long, value_name = "N", help_heading = "Deleting")]
    pub allow_delete: Option<usize>,
    /// The existing profile, where the service cannot be read
    #[arg(long, value_name = "FILE", help_heading = "Reading")]
    pub base: Option<PathBuf>,
    /// How the profile is replaced.
    #[command(flatten)]
    pub replacement: ReplacementArgs,
    /// Many records.
    #[command(flatten)]
    pub batch: BatchArgs,
}

/// Flags of every command that replaces a profile.
#[derive(Debug, Clone, Default, Args)]
pub struct ReplacementArgs {
    /// How long to read the profile until it shows what was written [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = super::duration::or_zero, help_heading = "Replacing")]
    pub settle: Option<Duration>,
    /// How long to wait for another storefront command that writes to the same customer [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = super::duration::or_zero, help_heading = "Replacing")]
    pub lock_timeout: Option<Duration>,
    /// Go on although an earlier update of unknown outcome may still take effect
    #[arg(long, help_heading = "Replacing")]
    pub after_unknown: bool,
}

/// Flags of `customer restore`.
#[derive(Debug, Clone, Args)]
pub struct RestoreArgs {
    /// Whose profile.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// Name of the snapshot, as `customer history` lists it, or its file; that of the last update where none is given
    #[arg(value_name = "SNAPSHOT")]
    pub snapshot: Option<String>,
    /// Allow exactly this many addresses newer than the snapshot to be deleted
    #[arg(long, value_name = "N")]
    pub allow_delete: Option<usize>,
    /// Put the whole profile back, not only what that update changed
    #[arg(long)]
    pub all: bool,
    /// How the profile is replaced.
    #[command(flatten)]
    pub replacement: ReplacementArgs,
}

/// Flags of `customer history`.
#[derive(Debug, Clone, Args)]
pub struct HistoryArgs {
    /// Whose profile.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// Look again whether the newest update of unknown outcome took effect
    #[arg(long)]
    pub check: bool,
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
        FieldFlag::new("firstname", &CUSTOMER, "firstname"),
        FieldFlag::new("lastname", &CUSTOMER, "lastname"),
        FieldFlag::new("email", &CUSTOMER, "email"),
        FieldFlag::new("gender", &CUSTOMER, "gender"),
        FieldFlag::new("group-id", &CUSTOMER, "group_id"),
        FieldFlag::new("store-id", &CUSTOMER, "store_id"),
        FieldFlag::new("website-id", &CUSTOMER, "website_id"),
        FieldFlag::new("disable-auto-group-change", &CUSTOMER, "disable_auto_group_change"),
    ];
}

impl FieldFlags for AddressFlags {
    const HEADING: &'static str = "Address";
    const FLAGS: &'static [FieldFlag] = &[
        FieldFlag::new("address-firstname", &PROFILE_ADDRESS, "firstname"),
        FieldFlag::new("address-lastname", &PROFILE_ADDRESS, "lastname"),
        FieldFlag::new("street", &PROFILE_ADDRESS, "street"),
        FieldFlag::new("city", &PROFILE_ADDRESS, "city"),
        FieldFlag::new("postcode", &PROFILE_ADDRESS, "postcode"),
        FieldFlag::new("country", &PROFILE_ADDRESS, "country_id"),
        FieldFlag::new("region", &REGION, "region").within("region"),
        FieldFlag::new("region-code", &REGION, "region_code").within("region"),
        FieldFlag::new("region-id", &REGION, "region_id").within("region"),
        FieldFlag::new("no-region", &PROFILE_ADDRESS, "region")
            .constant(region::none, "No region: both ids 0, texts null"),
        FieldFlag::new("telephone", &PROFILE_ADDRESS, "telephone"),
        FieldFlag::new("company", &PROFILE_ADDRESS_FLAGS, "company"),
        FieldFlag::new("vat-id", &PROFILE_ADDRESS_FLAGS, "vat_id"),
    ];
}
