//! `storefront customer …`

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::cli::LazyArgs;
use crate::cli::batch::BatchArgs;
use crate::cli::field_flags::{FieldArgs, FieldFlag, FieldFlags, parse_key_value};
use crate::cli::number::integer;
use crate::plan::profile::region;
use crate::wire::Table;

const CUSTOMER: Table = |tables| tables.customer;
const PROFILE_ADDRESS: Table = |tables| tables.address;
const REGION: Table = |tables| tables.region;

/// Show, update and restore customer profiles.
#[derive(Debug, Subcommand)]
pub enum CustomerCommand {
    /// Update the profile; addresses you do not name are kept
    Update(LazyArgs<UpdateArgs>),
    /// Print the stored profile and addresses
    Show(LazyArgs<CustomerChoice>),
    /// Search customers by email and name, with an administrator's token
    Find(LazyArgs<FindArgs>),
    /// List the changes made from this machine, each with its outcome
    History(LazyArgs<HistoryArgs>),
    /// Undo the last update, or put a snapshot back, keeping newer addresses
    Restore(LazyArgs<RestoreArgs>),
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
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = integer::<u16>)]
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
    /// Update the address with this ID
    #[arg(long, value_name = "ID", value_parser = integer::<i64>, help_heading = AddressFlags::HEADING, group = "which_address")]
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
    #[arg(long = "remove-address", value_name = "ID", num_args = 1.., value_parser = integer::<i64>, help_heading = "Deleting")]
    pub remove_addresses: Vec<i64>,
    /// Replace the whole list with the given one; omitted addresses are deleted
    #[arg(long, conflicts_with = "remove_addresses", help_heading = "Deleting")]
    pub replace_addresses: bool,
    /// Confirm the deletion of exactly N addresses
    #[arg(long, value_name = "N", value_parser = integer::<usize>, help_heading = "Deleting")]
    pub allow_delete: Option<usize>,
    /// Use FILE as the current profile if the service cannot be read
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
    #[arg(long, value_name = "N", value_parser = integer::<usize>)]
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
    /// Show at most N changes
    #[arg(long, value_name = "N", value_parser = integer::<usize>, conflicts_with_all = ["check", "delete"])]
    pub limit: Option<usize>,
    /// Look again whether the newest update of unknown outcome took effect
    #[arg(long)]
    pub check: bool,
    /// Delete a snapshot, by the beginning of its name, or `all` of this customer
    #[arg(long, value_name = "SNAPSHOT|all", conflicts_with = "check")]
    pub delete: Option<String>,
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
