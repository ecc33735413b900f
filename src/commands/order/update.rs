//! `storefront order update`

use clap::Args;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};
use serde_json::{Map, Value};

use super::OrderChoice;
use crate::cli::OperationArgs;
use crate::cli::field_flags::{FieldArgs, FieldFlags};
use crate::client::service::Service;
use crate::input::{Draft, RawInput};
use crate::journal::Ahead;
use crate::ops::order_update::{self, names_an_address};
use crate::ops::orders::{Numbers, OrderName};
use crate::ops::{Examiner, Operation, Resolved, RunFuture};
use storefront_core::check::body::Warnings;
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::interface::dialect::Dialect;
use storefront_core::interface::fields::Table;
use storefront_core::lint;
use storefront_core::operation::{ORDER_UPDATE, OperationSpec, scalar};

/// Fields that `--clear` takes.
const CLEARABLE: [&str; 10] =
    ["city", "postcode", "region", "telephone", "company", "vat-id", "fax", "prefix", "middlename", "suffix"];
/// Fields of an address that only a read has.
const OF_THE_READ: [&str; 4] = ["entity_id", "parent_id", "address_type", "email"];

/// Flags of `order update`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront order update --sandbox --api magento 000000002 --shipping --postcode 10119
  storefront order update --sandbox --api magento 000000003 --both --from-address 2 --dry-run
  storefront template order-update | storefront order update --sandbox --api magento -i -")]
pub struct UpdateArgs {
    /// Which order.
    #[command(flatten)]
    pub choice: OrderChoice,
    /// Correct the shipping address
    #[arg(long, help_heading = AddressFlags::HEADING, group = "which_address")]
    pub shipping: bool,
    /// Correct the billing address
    #[arg(long, help_heading = AddressFlags::HEADING, group = "which_address")]
    pub billing: bool,
    /// Correct both
    #[arg(long, help_heading = AddressFlags::HEADING, group = "which_address")]
    pub both: bool,
    /// The address.
    #[command(flatten)]
    pub members: FieldArgs<AddressFlags>,
    /// Clear a field
    #[arg(long, value_name = "FIELD", num_args = 1.., help_heading = AddressFlags::HEADING)]
    #[arg(value_parser = PossibleValuesParser::new(CLEARABLE), hide_possible_values = true)]
    pub clear: Vec<String>,
    /// Take the fields of this stored address of the customer
    #[arg(long, value_name = "ID", help_heading = AddressFlags::HEADING)]
    pub from_address: Option<AddressId>,
    /// Add this text to the comment; without an address only the comment is added
    #[arg(long, value_name = "TEXT", help_heading = "Comment", value_parser = NonEmptyStringValueParser::new())]
    pub comment: Option<String>,
    /// Add no comment; the list of the admin panel keeps the old address
    #[arg(long, help_heading = "Comment", conflicts_with = "comment")]
    pub no_comment: bool,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
}

/// Flags that set fields of the address.
#[derive(Debug, Clone)]
pub struct AddressFlags;

impl FieldFlags for AddressFlags {
    const HEADING: &'static str = "Address";
    const TABLE: Table = |tables| tables.order_change;
    const FLAGS: &'static str = "address-firstname=firstname address-lastname=lastname address-prefix=prefix \
        address-middlename=middlename address-suffix=suffix street city postcode \
        country=country_id region region-code region-id no-region telephone company vat-id fax";
    const HIDDEN: &'static [&'static str] =
        &["address-prefix", "address-middlename", "address-suffix", "fax"];
}

impl UpdateArgs {
    /// Which address the flags name.
    pub fn side(&self) -> Option<&'static str> {
        let sides = [(self.shipping, "shipping"), (self.billing, "billing"), (self.both, "both")];
        sides.into_iter().find(|(is_given, _)| *is_given).map(|(_, side)| side)
    }

    /// Whether the flags name what changes in the address.
    pub fn names_a_change(&self) -> bool {
        !self.members.named.is_empty() || !self.clear.is_empty() || self.from_address.is_some()
    }

    /// Whether only a comment is asked for.
    pub fn is_comment_alone(&self) -> bool {
        self.comment.is_some() && self.side().is_none() && !self.names_a_change()
    }

    /// Names the order by the command line; a record that names another one contradicts it.
    fn name(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        let id = self.choice.id.map(|id| id.to_string());
        for (name, given) in [("order", self.choice.number.clone()), ("order_id", id)] {
            let Some(given) = given else { continue };
            let others = ["order", "order_id"].into_iter().filter_map(|name| scalar(fields.get(name)));
            if let Some(other) = others.into_iter().find(|other| *other != given) {
                return Err(Failure::usage(format!(
                    "the command names order `{given}`, and the input `{other}`"
                ))
                .hint("name the order once"));
            }
            fields.insert(name.to_owned(), given.into());
        }
        Ok(())
    }
}

impl Operation for UpdateArgs {
    fn spec(&self) -> &'static OperationSpec {
        &ORDER_UPDATE
    }

    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        self.name(fields)?;
        if let Some(side) = self.side() {
            fields.insert("address".to_owned(), side.into());
        }
        let is_region = |name: &str| name.starts_with("region");
        // A region of the input would contradict that of a flag.
        let names_region = self.members.named.keys().any(|name| is_region(name));
        if names_region || self.clear.iter().any(|name| is_region(name)) {
            fields.retain(|name, _| !is_region(name));
        }
        fields.extend(self.members.named.clone());
        for name in &self.clear {
            let name = name.replace('-', "_");
            if self.members.named.contains_key(&name) || is_region(&name) && names_region {
                let message = format!("`--clear {name}` contradicts a flag that sets the field");
                return Err(Failure::usage(message).hint("leave out one of them"));
            }
            fields.insert(name, Value::Null);
        }
        let from = self.from_address.map(|id| ("from_address".to_owned(), id.into()));
        let comment = self.comment.as_ref().map(|text| ("comment".to_owned(), text.as_str().into()));
        fields.extend(from.into_iter().chain(comment));
        Ok(())
    }

    fn sets_what_is_compared(&self) -> bool {
        self.names_a_change()
    }

    fn prepare(&self, dialect: &Dialect, written: RawInput, allow_unknown: bool) -> Result<Draft, Failure> {
        let is_document = written.document.is_some();
        let draft = self.checked(dialect, written, &|fields| self.apply(fields), allow_unknown)?;
        // Running the same sheet again would add the comments again.
        if is_document && !names_an_address(&draft.fields) {
            return Err(Failure::usage("no field of an address is given")
                .hint("a comment alone is added with --comment, to one order at a time"));
        }
        Ok(draft)
    }

    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure> {
        let fields = &draft.fields;
        let names = &draft.names;
        OrderName::in_draft(draft)?;
        if let Some(name) = OF_THE_READ.into_iter().find(|name| fields.contains_key(*name)) {
            let message =
                format!("{} of an address cannot be changed: it is that of the order", names.quoted(name));
            return Err(Failure::usage(message).hint("leave it out"));
        }
        let address = scalar(fields.get("address"));
        let is_side = |name: &str| ["shipping", "billing", "both"].contains(&name.trim());
        if !names_an_address(fields) {
            return match (&address, fields.contains_key("comment")) {
                (None, true) => Ok(Vec::new()),
                _ => Err(Failure::usage("nothing to change")
                    .hint("name a field of the address, such as --postcode 10119")),
            };
        }
        match address {
            Some(address) if is_side(&address) => {}
            Some(address) => {
                let message = format!(
                    "{} must be shipping, billing or both, found `{address}`",
                    names.quoted("address")
                );
                return Err(Failure::usage(message));
            }
            None => {
                return Err(Failure::usage("which address of the order it is was not said")
                    .hint("use --shipping, --billing or --both, or the field `address`"));
            }
        }
        Ok(lint::of_order("the address", fields, |name| fields.contains_key(name)))
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(order_update::update(service, draft, self.no_comment))
    }

    fn examiner<'a>(&'a self, service: &'a Service<'a>) -> Option<Box<dyn Examiner + 'a>> {
        Some(Box::new(Numbers::new(service)))
    }

    fn resolve_unknown<'a>(
        &'a self,
        service: &'a Service<'_>,
        draft: &'a Draft,
        ahead: &'a Ahead,
    ) -> Resolved<'a> {
        Box::pin(order_update::resolve_unknown(service, draft, ahead, self.no_comment))
    }
}
