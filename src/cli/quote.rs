//! The flags of `quote ship` and `quote add-item`.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Number, Value};

use crate::cli::OperationArgs;
use crate::cli::batch::BatchArgs;
use crate::cli::customer::CustomerChoice;
use crate::cli::field_flags::{FieldArgs, FieldFlag, FieldFlags, parse_label_number};
use crate::wire::Table;

const ADDRESS_INFORMATION: Table = |tables| tables.address_information;
const CART_ITEM: Table = |tables| tables.cart_item;
const QUOTE_ADDRESS: Table = |tables| tables.quote_address;

/// Flags of `quote ship`.
#[derive(Debug, Clone, Args)]
pub struct ShipArgs {
    /// Whose quote.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// The shipping address.
    #[command(flatten)]
    pub ship: FieldArgs<ShipTo>,
    /// Ship to a saved address
    #[arg(long, value_name = "ID", help_heading = ShipTo::HEADING)]
    pub ship_to_address: Option<i64>,
    /// The billing address.
    #[command(flatten)]
    pub bill: FieldArgs<BillTo>,
    /// Bill to a saved address
    #[arg(long, value_name = "ID", help_heading = BillTo::HEADING)]
    pub bill_to_address: Option<i64>,
    /// Use the shipping address for billing
    #[arg(long, conflicts_with = "bill_to_address", help_heading = BillTo::HEADING)]
    pub bill_same_as_ship: bool,
    /// Carrier and method.
    #[command(flatten)]
    pub shipping: FieldArgs<Shipping>,
    /// Code of the payment method, sent as {"method": CODE}
    #[arg(long, value_name = "CODE", value_parser = NonEmptyStringValueParser::new(), help_heading = "Payment", group = "payment_choice")]
    pub payment_method: Option<String>,
    /// Payment as JSON, or a file containing it
    #[arg(long, value_name = "JSON|@FILE", value_parser = NonEmptyStringValueParser::new(), help_heading = "Payment", group = "payment_choice")]
    pub payment: Option<String>,
    /// Omit the payment
    #[arg(long, help_heading = "Payment", group = "payment_choice")]
    pub no_payment: bool,
    /// What every operation takes.
    #[command(flatten)]
    pub run: OperationArgs,
    /// Many records.
    #[command(flatten)]
    pub batch: BatchArgs,
}

/// Flags of `quote add-item`.
#[derive(Debug, Clone, Args)]
pub struct AddItemArgs {
    /// Whose quote.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// The item.
    #[command(flatten)]
    pub item: FieldArgs<Item>,
    /// Option of a configurable product, as OPTION_ID=OPTION_VALUE
    #[arg(long = "option", value_name = "OPTION_ID=OPTION_VALUE", num_args = 1.., help_heading = Item::HEADING, value_parser = parse_label_number)]
    pub options: Vec<(String, Number)>,
    /// Verify by comparing the cart before and after
    #[arg(long, help_heading = Item::HEADING)]
    pub verify: bool,
    /// What every operation takes.
    #[command(flatten)]
    pub run: OperationArgs,
    /// Many records.
    #[command(flatten)]
    pub batch: BatchArgs,
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

/// `--sku` and its like
#[derive(Debug, Clone)]
pub struct Item;

/// The flags of one quote address, all beginning with its side.
macro_rules! quote_address_flags {
    ($side:literal) => {
        &[
            FieldFlag::new(concat!($side, "-firstname"), QUOTE_ADDRESS, "firstname"),
            FieldFlag::new(concat!($side, "-lastname"), QUOTE_ADDRESS, "lastname"),
            FieldFlag::new(concat!($side, "-email"), QUOTE_ADDRESS, "email"),
            FieldFlag::new(concat!($side, "-street"), QUOTE_ADDRESS, "street"),
            FieldFlag::new(concat!($side, "-city"), QUOTE_ADDRESS, "city"),
            FieldFlag::new(concat!($side, "-postcode"), QUOTE_ADDRESS, "postcode"),
            FieldFlag::new(concat!($side, "-no-postcode"), QUOTE_ADDRESS, "postcode")
                .constant(|| Value::Null, "No postcode: send null"),
            FieldFlag::new(concat!($side, "-country"), QUOTE_ADDRESS, "country_id"),
            FieldFlag::new(concat!($side, "-region-id"), QUOTE_ADDRESS, "region_id"),
            FieldFlag::new(concat!($side, "-region-code"), QUOTE_ADDRESS, "region_code"),
            FieldFlag::new(concat!($side, "-telephone"), QUOTE_ADDRESS, "telephone"),
            FieldFlag::new(concat!($side, "-company"), QUOTE_ADDRESS, "company"),
            FieldFlag::new(concat!($side, "-vat-id"), QUOTE_ADDRESS, "vat_id"),
            FieldFlag::new(concat!($side, "-customer-id"), QUOTE_ADDRESS, "customer_id"),
        ]
    };
}

impl FieldFlags for ShipTo {
    const HEADING: &'static str = "Shipping address";
    const FLAGS: &'static [FieldFlag] = quote_address_flags!("ship");
}

impl FieldFlags for BillTo {
    const HEADING: &'static str = "Billing address";
    const FLAGS: &'static [FieldFlag] = quote_address_flags!("bill");
}

impl FieldFlags for Shipping {
    const HEADING: &'static str = "Shipping method";
    const FLAGS: &'static [FieldFlag] = &[
        FieldFlag::new("carrier", ADDRESS_INFORMATION, "shipping_carrier_code"),
        FieldFlag::new("method", ADDRESS_INFORMATION, "shipping_method_code"),
    ];
}

impl FieldFlags for Item {
    const HEADING: &'static str = "Item";
    const FLAGS: &'static [FieldFlag] = &[
        FieldFlag::new("sku", CART_ITEM, "sku"),
        FieldFlag::new("qty", CART_ITEM, "qty"),
        FieldFlag::new("quote-id", CART_ITEM, "quote_id"),
    ];
}
