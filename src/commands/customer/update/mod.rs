//! `storefront customer update`: applies a patch to the stored profile.

pub mod dialogue;
mod form;

use std::path::PathBuf;

use clap::Args;
use clap::builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser};
use serde_json::{Map, Value, json};

use crate::cli::field_flags::{FieldArgs, FieldFlags, parse_key_value};
use crate::cli::{CustomerChoice, OperationArgs, ReplacementArgs};
use crate::client::Session;
use crate::client::service::Service;
use crate::commands;
use crate::input::Draft;
use crate::journal::Ahead;
use crate::ops::profile::read::read_base;
use crate::ops::profile::replace::replace;
use crate::ops::profile::{ProfileChange, Update, earlier};
use crate::ops::{Operation, Resolved, RunFuture};
use crate::report::outcome::Outcome;
use storefront_core::check::body::Warnings;
use storefront_core::check::field_names::FieldNames;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::id::AddressId;
use storefront_core::interface::fields::Table;
use storefront_core::lint;
use storefront_core::operation::{CUSTOMER_UPDATE, OperationSpec};
use storefront_core::profile::address::DEFAULTS;
use storefront_core::profile::address::own_id;
use storefront_core::profile::clear::{CLEARABLE, can_clear, nothing};
use storefront_core::profile::defaults::DefaultAddress;
use storefront_core::profile::diff::Expected;
use storefront_core::profile::merge::{refuse_repeated_codes, set_field};
use storefront_core::profile::patch::{ProfilePatch, Twin};

const ATTRIBUTES: &str = "custom_attributes";

/// The names that `--clear` takes; the name of the column is understood, too.
fn clearable_names() -> impl Iterator<Item = PossibleValue> {
    CLEARABLE.iter().map(|field| match field.name {
        "vat-id" => PossibleValue::new(field.name).alias("vat_id"),
        name => PossibleValue::new(name),
    })
}

/// Flags of `customer update`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront customer update --sandbox --address 2 --street '350 Fifth Avenue' 'Floor 34'
  storefront customer update --sandbox --remove-address 3 --dry-run
  storefront customer update --sandbox --address 2 --city Albany --jq '.changes[].after'")]
pub struct UpdateArgs {
    /// Customer ID or email, as with --customer
    #[arg(id = "named_customer", value_name = "ID|EMAIL", value_parser = NonEmptyStringValueParser::new())]
    #[arg(conflicts_with = "customer", hide = true)]
    pub named: Option<String>,
    /// Whose profile.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// The profile.
    #[command(flatten)]
    pub profile: FieldArgs<ProfileFlags>,
    /// Update the address with this ID
    #[arg(long, value_name = "ID", help_heading = AddressFlags::HEADING, group = "which_address")]
    pub address: Option<AddressId>,
    /// Add an address
    #[arg(long, help_heading = AddressFlags::HEADING, group = "which_address")]
    pub add_address: bool,
    /// The address.
    #[command(flatten)]
    pub members: FieldArgs<AddressFlags>,
    /// Set an attribute of the address, or else of the profile
    #[arg(long = "custom-attribute", value_name = "CODE=VALUE", num_args = 1..)]
    #[arg(value_parser = parse_key_value, help_heading = AddressFlags::HEADING)]
    pub custom_attributes: Vec<(String, String)>,
    /// Clear a field of the address, or else of the profile
    #[arg(long, value_name = "FIELD", num_args = 1.., conflicts_with = "add_address")]
    #[arg(value_parser = PossibleValuesParser::new(clearable_names()), hide_possible_values = true)]
    #[arg(help_heading = AddressFlags::HEADING)]
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
    pub remove_addresses: Vec<AddressId>,
    /// Replace the whole list; omitted addresses are deleted
    #[arg(long, conflicts_with = "remove_addresses", help_heading = "Deleting")]
    pub replace_addresses: bool,
    /// Confirm the deletion of exactly N addresses
    #[arg(long, value_name = "N", help_heading = "Deleting")]
    pub allow_delete: Option<usize>,
    /// Use FILE as the current profile if the service cannot be read
    #[arg(long, value_name = "FILE", help_heading = "Update options")]
    pub base: Option<PathBuf>,
    /// Take numbers without the zeros, + and blanks that a spreadsheet removes; the message that needs it names it
    #[arg(long, hide = true)]
    pub allow_spreadsheet_loss: bool,
    /// How the profile is replaced.
    #[command(flatten)]
    pub replacement: ReplacementArgs,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
}

/// Flags that set members of the profile.
#[derive(Debug, Clone)]
pub struct ProfileFlags;

/// Flags that set members of the address.
#[derive(Debug, Clone)]
pub struct AddressFlags;

impl FieldFlags for ProfileFlags {
    const HEADING: &'static str = "Profile";
    const TABLE: Table = |tables| tables.customer;
    const FLAGS: &'static str = "firstname lastname email prefix middlename suffix dob taxvat gender group-id \
        store-id website-id disable-auto-group-change";
    const HIDDEN: &'static [&'static str] = &["store-id", "website-id", "disable-auto-group-change"];
}

impl FieldFlags for AddressFlags {
    const HEADING: &'static str = "Address";
    const TABLE: Table = |tables| tables.address;
    const FLAGS: &'static str = "address-firstname=firstname address-lastname=lastname address-prefix=prefix \
        address-middlename=middlename address-suffix=suffix street city postcode \
        country=country_id region=region.region region-code=region.region_code region-id=region.region_id no-region \
        telephone company vat-id";
    const HIDDEN: &'static [&'static str] = &["address-prefix", "address-middlename", "address-suffix"];
}

impl Operation for UpdateArgs {
    fn spec(&self) -> &'static OperationSpec {
        &CUSTOMER_UPDATE
    }

    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        let named = self.address_members();
        let has_address = self.address.is_some() || self.add_address;
        self.refuse_account_names(fields, has_address)?;
        fields.extend(self.profile.named.clone());
        self.refuse_to_clear(has_address)?;
        if !has_address {
            fields.extend(self.clear.iter().map(|name| (name.replace('-', "_"), "".into())));
            if let Some(attributes) = self.attributes() {
                set_field(fields, ATTRIBUTES, &attributes);
            }
            return if named.is_empty() { Ok(()) } else { Err(which_address()) };
        }
        let defaults = self.defaults().count();
        if named.is_empty() || self.add_address && named.len() == defaults {
            return Err(
                Failure::usage("no address field given").hint("set at least one, e.g. --street or --city")
            );
        }
        let addresses = fields.entry("addresses").or_insert_with(|| Value::Array(Vec::new()));
        if !addresses.is_array() {
            *addresses = Value::Array(Vec::new());
        }
        let Value::Array(addresses) = addresses else { return Ok(()) };
        match self.address {
            None => addresses.push(Value::Object(named)),
            Some(id) => {
                let own = addresses.iter_mut().find(|address| own_id(address) == Some(id));
                match own.and_then(Value::as_object_mut) {
                    Some(address) => override_fields(address, &named),
                    None => {
                        addresses.push([("id".to_owned(), id.into())].into_iter().chain(named).collect());
                    }
                }
            }
        }
        Ok(())
    }

    /// Warns of nothing before the patch is merged; refuses what cannot be a change.
    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure> {
        refuse_repeated_codes(&draft.fields)?;
        self.patch(draft.clone()).map(|_| Vec::new())
    }

    fn allows_spreadsheet_loss(&self) -> bool {
        self.allow_spreadsheet_loss
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(async {
            // A row of an export that nobody has edited needs no read.
            if draft.row.is_some() && draft.fields.is_empty() {
                return Ok(Outcome { reason: Some("unchanged"), ..Outcome::not_sent(CUSTOMER_UPDATE.name) });
            }
            let mut update = self.update(draft.clone())?;
            // A sheet may be run again, every night or after a mistake.
            if service.session.report.line.is_some() && update.patch.twin == Twin::Refused {
                update.patch.twin = Twin::Left;
            }
            replace(service, ProfileChange::Update(&update)).await
        })
    }

    fn single_flag(&self) -> Option<&'static str> {
        self.base.is_some().then_some("--base")
    }

    fn resolve_unknown<'a>(
        &'a self,
        service: &'a Service<'_>,
        _: &'a Draft,
        ahead: &'a Ahead,
    ) -> Resolved<'a> {
        Box::pin(earlier::resolve_unknown(service, CUSTOMER_UPDATE.name, &ahead.of))
    }
}

impl UpdateArgs {
    /// The patch for the stored profile. For a plan, the expected state has the removals: each record may have its own.
    fn patch(&self, draft: Draft) -> Result<ProfilePatch, Failure> {
        let mut remove = self.remove_addresses.clone();
        let planned = draft.expect.iter().filter(|_| !self.replace_addresses).flat_map(Expected::removed);
        for id in planned {
            if !remove.contains(&id) {
                remove.push(id);
            }
        }
        let patch = ProfilePatch {
            draft: draft.fields,
            remove,
            replace: self.replace_addresses,
            twin: if self.allow_duplicate { Twin::Added } else { Twin::Refused },
            defaults: self.defaults().collect(),
            deferred: draft.deferred,
        };
        if patch.replace && !patch.draft.contains_key("addresses") {
            let message = "--replace-addresses requires an address list";
            return Err(Failure::usage(message).hint("pass it with --input"));
        }
        Ok(patch)
    }

    /// The change that a draft of these flags asks for.
    fn update(&self, draft: Draft) -> Result<Update, Failure> {
        Ok(Update {
            expect: draft.expect.clone(),
            row: draft.row.clone(),
            warned: draft.warnings.clone(),
            patch: self.patch(draft)?,
            allow_delete: self.allow_delete,
            base: self.base.as_deref().map(read_base).transpose()?,
            replacement: self.replacement.clone(),
        })
    }

    /// The defaults that the flags make the address.
    pub fn defaults(&self) -> impl Iterator<Item = (&'static str, DefaultAddress)> + use<> {
        let address = self.address.map_or(DefaultAddress::New, DefaultAddress::Stored);
        let asked = DEFAULTS.into_iter().zip([self.default_billing, self.default_shipping]);
        asked.filter(|(_, is_asked)| *is_asked).map(move |(name, _)| (name, address))
    }

    /// `--firstname` names the account holder, and so does `firstname` in a document without a list of addresses.
    fn refuse_account_names(&self, document: &Map<String, Value>, has_address: bool) -> Result<(), Failure> {
        if let Some(name) = lint::misplaced_name(&self.profile.named, has_address) {
            let message = format!("`--{name}` changes the account holder, not the address");
            return Err(Failure::usage(message).hint(format!(
                "use --address-{name} for the address; change the account holder in a separate command"
            )));
        }
        if document.contains_key("addresses") {
            return Ok(());
        }
        let has_address = has_address || lint::has_address_field(document);
        match lint::misplaced_name(document, has_address) {
            None => Ok(()),
            Some(name) => Err(Failure::usage(lint::misplaced(name, &FieldNames::default()))
                .hint("change the account holder in a separate command, and the address in `addresses`")),
        }
    }

    fn refuse_to_clear(&self, has_address: bool) -> Result<(), Failure> {
        let set = if has_address { &self.members.named } else { &self.profile.named };
        for name in &self.clear {
            if !can_clear(name, has_address) {
                return Err(if has_address {
                    Failure::usage(format!("an address has no `{name}`"))
                        .hint(format!("`--clear {name}` without --address clears it in the profile"))
                } else {
                    Failure::usage(format!("`--clear {name}` requires --address ID"))
                        .hint(hint!(storefront("customer show"), " lists the IDs"))
                });
            }
            if set.contains_key(&name.replace('-', "_")) {
                return Err(Failure::usage(format!(
                    "`--clear {name}` contradicts a flag that sets the field"
                ))
                .hint("leave out one of them"));
            }
        }
        Ok(())
    }

    /// The custom attributes that flags name: those of the address, or else of the customer.
    fn attributes(&self) -> Option<Value> {
        let attribute = |(code, value): &(String, String)| json!({"attribute_code": code, "value": value});
        let all = self.custom_attributes.iter().map(attribute);
        (!self.custom_attributes.is_empty()).then(|| all.collect())
    }

    fn address_members(&self) -> Map<String, Value> {
        let mut named = self.members.named.clone();
        for name in self.clear.iter().filter(|_| self.address.is_some()) {
            let member = name.replace('-', "_");
            let nothing = nothing(&member);
            named.insert(member, nothing);
        }
        let has_address = self.address.is_some() || self.add_address;
        let attributes = self.attributes().filter(|_| has_address);
        named.extend(attributes.map(|attributes| (ATTRIBUTES.to_owned(), attributes)));
        named.extend(self.defaults().map(|(name, _)| (name.to_owned(), true.into())));
        named
    }
}

/// Sets the fields that flags name in an address of the input.
fn override_fields(address: &mut Map<String, Value>, named: &Map<String, Value>) {
    // The region id of the input may be in the other place, and would contradict that of the flag.
    if named.get("region").and_then(|region| region.get("region_id")).is_some() {
        address.shift_remove("region_id");
    }
    named.iter().for_each(|(name, value)| set_field(address, name, value));
}

fn which_address() -> Failure {
    Failure::usage("address fields given without an address").hint(hint!(
        "use --address ID or --add-address; ",
        storefront("customer show"),
        " lists the IDs"
    ))
}

/// Reads the input, then replaces the profile, of one record or of many. On a terminal, what is not named is asked for.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, args: &UpdateArgs) -> Result<(), Failure> {
    commands::run_records(session, args, async |document| {
        let prompt = session.prompt();
        // If an address is named without a change, the questions begin there.
        let names_address = args.address.is_some() || args.add_address;
        if document.is_some() || names_a_change(args) || names_address && !prompt.can_ask() {
            return commands::run_one(session, args, document).await;
        }
        if !prompt.can_ask() {
            return Err(Failure::usage("nothing to change").hint(hint!(
                "name what to change, such as `--address ID --city CITY`; ",
                storefront("customer show"),
                " lists the IDs"
            )));
        }
        let ask = async |service: &Service<'_>| dialogue::update(service, &prompt, args).await;
        commands::with_customer(session, ask).await
    })
    .await
}

fn names_a_change(args: &UpdateArgs) -> bool {
    !args.address_members().is_empty()
        || !args.clear.is_empty()
        || !args.custom_attributes.is_empty()
        || !args.profile.named.is_empty()
        || !args.remove_addresses.is_empty()
        || args.replace_addresses
}
