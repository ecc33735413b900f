//! `storefront quote ship`

use std::cell::OnceCell;
use std::path::Path;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Map, Value, json};

use super::questions::{self, ShipNames};
use crate::cli::field_flags::{FieldArgs, FieldFlags};
use crate::cli::{CustomerChoice, OperationArgs};
use crate::client::Session;
use crate::client::service::Service;
use crate::commands;
use crate::input::{Draft, Overrides, RawInput, document};
use crate::ops::customers::with_id;
use crate::ops::{Operation, RunFuture, ship};
use storefront_core::check::body::Warnings;
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::interface::fields::Table;
use storefront_core::interface::request::Dialect;
use storefront_core::lint;
use storefront_core::operation::{OperationSpec, QUOTE_SHIP};

/// Flags of `quote ship`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  storefront quote ship --sandbox --ship-to-address 2 --payment-method checkmo
  storefront quote ship --sandbox --ship-to-address 2 --bill-to-address 1 --payment-method free
  storefront template quote-ship | storefront quote ship --sandbox -i - --dry-run")]
pub struct ShipArgs {
    /// Whose quote.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// The shipping address.
    #[command(flatten)]
    pub ship: FieldArgs<ShipTo>,
    /// Ship to a saved address
    #[arg(long, value_name = "ID", help_heading = ShipTo::HEADING)]
    pub ship_to_address: Option<AddressId>,
    /// The billing address.
    #[command(flatten)]
    pub bill: FieldArgs<BillTo>,
    /// Bill to a saved address
    #[arg(long, value_name = "ID", help_heading = BillTo::HEADING)]
    pub bill_to_address: Option<AddressId>,
    /// Use the shipping address for billing
    #[arg(long, conflicts_with = "bill_to_address", help_heading = BillTo::HEADING)]
    pub bill_same_as_ship: bool,
    /// Carrier and method.
    #[command(flatten)]
    pub shipping: FieldArgs<Shipping>,
    /// Code of the payment method, sent as {"method": CODE}
    #[arg(long, value_name = "CODE", help_heading = "Payment", group = "payment_choice")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub payment_method: Option<String>,
    /// Payment as JSON, or a file containing it
    #[arg(long, value_name = "JSON|@FILE", help_heading = "Payment", group = "payment_choice")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub payment: Option<String>,
    /// The contents of that file, read once.
    #[arg(skip)]
    payment_file: OnceCell<Value>,
    /// Omit the payment
    #[arg(long, help_heading = "Payment", group = "payment_choice")]
    pub no_payment: bool,
    /// Quote ID (Magento)
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub quote_id: Option<String>,
    /// The flags of every operation.
    #[command(flatten)]
    pub run: OperationArgs,
}

/// `--ship-…`
#[derive(Debug, Clone)]
pub struct ShipTo;

/// `--bill-…`
#[derive(Debug, Clone)]
pub struct BillTo;

/// `--carrier`, `--method`
#[derive(Debug, Clone)]
pub struct Shipping;

impl FieldFlags for ShipTo {
    const HEADING: &'static str = "Shipping address";
    const TABLE: Table = |tables| tables.quote_address;
    const PREFIX: &'static str = "ship-";
    const FLAGS: &'static str = "ship-firstname ship-lastname ship-email ship-street ship-city ship-postcode \
        ship-no-postcode ship-country=country_id ship-region-id ship-region-code ship-telephone ship-company \
        ship-vat-id ship-customer-id";
}

impl FieldFlags for BillTo {
    const HEADING: &'static str = "Billing address";
    const TABLE: Table = |tables| tables.quote_address;
    const PREFIX: &'static str = "bill-";
    const FLAGS: &'static str = "bill-firstname bill-lastname bill-email bill-street bill-city bill-postcode \
        bill-no-postcode bill-country=country_id bill-region-id bill-region-code bill-telephone bill-company \
        bill-vat-id bill-customer-id";
}

impl FieldFlags for Shipping {
    const HEADING: &'static str = "Shipping method";
    const TABLE: Table = |tables| tables.address_information;
    const FLAGS: &'static str = "carrier=shipping_carrier_code method=shipping_method_code";
}

impl Operation for ShipArgs {
    fn spec(&self) -> &'static OperationSpec {
        &QUOTE_SHIP
    }

    fn apply(&self, fields: &mut Map<String, Value>) -> Result<(), Failure> {
        let mut information = match fields.shift_remove("addressInformation") {
            Some(Value::Object(information)) => information,
            _ => Map::new(),
        };
        set_address(&mut information, "shipping_address", &self.ship.named);
        // An address of the profile is not known yet.
        if self.bill_same_as_ship && !self.takes_stored() {
            let ship = information.get("shipping_address").cloned().ok_or_else(|| {
                Failure::usage("--bill-same-as-ship requires a shipping address")
                    .hint("use --ship-…, --ship-to-address ID or an input with one")
            })?;
            information.insert("billing_address".to_owned(), ship);
        }
        set_address(&mut information, "billing_address", &self.bill.named);
        information.extend(self.shipping.named.clone());
        if !information.is_empty() {
            fields.shift_insert(0, "addressInformation".to_owned(), Value::Object(information));
        }
        let is_empty = |fields: &Map<String, Value>| fields.keys().all(|name| name == "quote_id");
        let has_something = self.takes_stored() || !is_empty(fields);
        if let Some(payment) = self.payment()? {
            fields.insert("paymentMethod".to_owned(), payment);
        }
        if self.no_payment {
            fields.shift_remove("paymentMethod");
        } else if has_something && !fields.contains_key("paymentMethod") {
            return Err(Failure::usage("a payment is required")
                .hint("use --payment-method CODE, such as checkmo, --payment JSON, or --no-payment"));
        }
        if is_empty(fields) && !self.takes_stored() {
            return Err(Failure::usage("nothing to save")
                .hint("use --ship-to-address ID or --ship-… with --carrier and --method, or --input FILE"));
        }
        fields.extend(self.quote_id.iter().map(|id| ("quote_id".to_owned(), id.as_str().into())));
        Ok(())
    }

    fn lint(&self, draft: &Draft) -> Result<Warnings, Failure> {
        Ok(lint::of_quote(&draft.fields))
    }

    fn checked(
        &self,
        dialect: &Dialect,
        written: RawInput,
        flags: Overrides<'_>,
        allow_unknown: bool,
    ) -> Result<Draft, Failure> {
        let mut draft = Draft::new(dialect, self.spec(), written, flags, allow_unknown)?;
        if dialect.carts.is_some() {
            ship::refuse_unsent(&draft.fields, self.takes_stored())?;
        }
        draft.warnings.extend(self.lint(&draft)?);
        Ok(draft)
    }

    fn run<'a>(&'a self, service: &'a Service<'_>, draft: &'a Draft, _: Option<u64>) -> RunFuture<'a> {
        Box::pin(async move {
            if !self.takes_stored() {
                return ship::perform(&with_id(service).await?, draft).await;
            }
            let (draft, service) = self.with_stored_addresses(service, draft).await?;
            ship::perform(&service, &draft).await
        })
    }
}

/// Reads the input and saves it; on a terminal, an address, a method and a payment that are not named are asked for.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, args: &ShipArgs) -> Result<(), Failure> {
    let names_address = args.takes_stored() || !args.ship.named.is_empty() || !args.bill.named.is_empty();
    commands::run_records(session, args, async |document| {
        let asks = document.is_none() && !names_address && session.prompt().can_ask();
        if asks && session.dialect.carts.is_some() {
            let ask = async |service: &Service<'_>| {
                let named = ShipNames {
                    quote_id: args.quote_id.as_deref(),
                    has_method: args.shipping.named.contains_key("shipping_method_code"),
                    has_payment: args.no_payment || args.payment.is_some() || args.payment_method.is_some(),
                };
                questions::ship::<ShipArgs>(service, named).await
            };
            return commands::with_customer(session, ask).await;
        }
        commands::run_one(session, args, document).await
    })
    .await
}

impl ShipArgs {
    fn takes_stored(&self) -> bool {
        self.ship_to_address.or(self.bill_to_address).is_some()
    }

    /// The draft with addresses of the stored profile under those that the flags name.
    async fn with_stored_addresses<'a>(
        &self,
        service: &Service<'a>,
        draft: &Draft,
    ) -> Result<(Draft, Service<'a>), Failure> {
        let ids = [self.ship_to_address, self.bill_to_address];
        let (stored, service) = ship::stored_addresses(service, ids).await?;
        let mut args = Self { ship_to_address: None, bill_to_address: None, payment: None, ..self.clone() };
        for (mut stored, named) in stored.into_iter().zip([&mut args.ship.named, &mut args.bill.named]) {
            stored.append(named);
            *named = stored;
        }
        let session = service.session;
        let body = Value::Object(draft.body());
        let complete =
            args.prepare(session.dialect, Some(body).into(), session.global.input.allow_unknown)?;
        let complete = Draft { expect: draft.expect.clone(), ..complete };
        if service.write_ahead.is_none() {
            let new = complete.warnings.iter().filter(|warning| !draft.warnings.contains(warning));
            new.for_each(|warning| session.report.warn(warning));
        }
        Ok((complete, service))
    }

    fn payment(&self) -> Result<Option<Value>, Failure> {
        if let Some(code) = &self.payment_method {
            return Ok(Some(json!({"method": code})));
        }
        let Some(given) = &self.payment else { return Ok(None) };
        let payment = match given.strip_prefix('@') {
            Some(file) => {
                if self.payment_file.get().is_none() {
                    let _ = self.payment_file.set(document::read_json(Path::new(file))?);
                }
                self.payment_file.get().cloned().unwrap_or_default()
            }
            None => document::parse_json(given, "--payment")
                .map_err(|failure| failure.hint("a code alone is given with --payment-method CODE"))?,
        };
        if payment.is_object() {
            Ok(Some(payment))
        } else {
            Err(Failure::usage("--payment must be a JSON object"))
        }
    }
}

/// Sets the named fields of an address; the address is made if it is missing.
fn set_address(information: &mut Map<String, Value>, side: &str, named: &Map<String, Value>) {
    if named.is_empty() {
        return;
    }
    let address = information.entry(side).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(address) = address {
        address.extend(named.clone());
    }
}
