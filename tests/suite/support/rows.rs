//! The operations that write, as a user calls them: the rows of the tables that compare what a run says with the database.

use storefront_core::operation::{OPERATIONS, OperationSpec};

/// A cart with two items; the seed's is empty.
const CART: &str = "INSERT INTO quote_items (id, quote_id, sku, options, qty) VALUES
    (1, 1, 'mug-blue', '[]', '2'), (2, 1, 'umbrella', '[]', '1')";

/// Faults that the client tells from no other one: 500 and 503 are 502 to it, and an answer that is cut, is a page or comes too
/// late is none. The code that takes them so is the same for all calls of an operation: the first call meets them.
pub const ALIKE: [&str; 10] = [
    "500",
    "503",
    "500-after-commit",
    "503-after-commit",
    "truncated",
    "html",
    "varnish",
    "error-shape",
    "latency",
    "latency-after-commit",
];

/// Faults that end each in a way of its own: refused or not known, saved or not, in whole or in part. They also befall the second
/// of several calls.
pub const DECISIVE: [&str; 7] = [
    "429",
    "502",
    "reset-before-commit",
    "reset-after-commit",
    "502-after-commit",
    "reject-after-commit",
    "lose=1",
];

/// The name of a fault: `late` of `late=500`.
pub fn fault_name(fault: &str) -> &str {
    fault.split('=').next().unwrap()
}

/// Whose the write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Customer(i64),
    Cart(i64),
    /// A cart that is made for this customer.
    NewCart(i64),
    Attribute(&'static str),
    /// The product with this SKU.
    Product(&'static str),
    /// The order with this id.
    Order(i64),
}

impl Owner {
    /// The tables that hold it.
    pub fn tables(self) -> &'static [&'static str] {
        match self {
            Self::Customer(_) => &["customers", "addresses"],
            Self::Cart(_) | Self::NewCart(_) => &["quotes", "quote_items"],
            Self::Product(_) => &["products", "product_values"],
            Self::Order(_) => &["order_addresses"],
            Self::Attribute(_) => &["attributes", "attribute_options", "attribute_assignments"],
        }
    }
}

/// One thing to do with an operation.
#[derive(Debug)]
pub struct Call {
    /// The operation as it is typed.
    pub operation: &'static str,
    /// What is done, where an operation has several calls; with it a row's name is unique.
    pub what: &'static str,
    /// `magento` or `marketplace`.
    pub api: &'static str,
    pub owner: Owner,
    /// SQL that is run on the seed first.
    pub setup: &'static str,
    /// The customer whose it is, where an administrator does it.
    pub customer: Option<i64>,
    /// Flags of every way to call it.
    pub flags: &'static str,
    /// Flags that say what is to be done; where there are none, the record is the input of a single run.
    pub by_flags: &'static str,
    /// The same as a record of a batch, an object without its braces; where it is empty, there is no batch.
    pub record: &'static str,
}

/// A call in one of the ways to make it.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub call: &'static Call,
    pub is_batch: bool,
}

impl Row {
    /// The name of its input in the home.
    pub const INPUT: &str = "input.json";

    /// Such as `magento customer update, change, in a batch`.
    pub fn name(&self) -> String {
        let Call { operation, what, api, .. } = self.call;
        let what = if what.is_empty() { String::new() } else { format!(", {what}") };
        format!("{api} {operation}{what}{}", if self.is_batch { ", in a batch" } else { "" })
    }

    /// Whether it is the first of its operation and interface.
    pub fn is_first(&self) -> bool {
        !self.is_batch && self.has_first_call()
    }

    /// Whether its call is the first of its operation and interface.
    pub fn has_first_call(&self) -> bool {
        let is_same = |call: &&Call| call.operation == self.call.operation && call.api == self.call.api;
        CALLS.iter().find(is_same).is_some_and(|first| std::ptr::eq(first, self.call))
    }

    /// Whether a look can show what was written.
    pub fn can_be_read(&self) -> bool {
        self.is_magento() || self.call.operation == "customer update"
    }

    pub fn is_magento(&self) -> bool {
        self.call.api == "magento"
    }

    /// The command line.
    pub fn line(&self) -> String {
        let Call { operation, flags, by_flags, customer, .. } = self.call;
        let customer = customer.map(|id| format!("--customer {id} ")).unwrap_or_default();
        match (self.is_batch, by_flags.is_empty()) {
            (true, _) => format!("{operation} {flags} -i {}", Self::INPUT),
            (false, true) => format!("{operation} {customer}{flags} -i {}", Self::INPUT),
            (false, false) => format!("{operation} {customer}{flags} {by_flags}"),
        }
    }

    /// The content of the input, where there is one.
    pub fn input(&self) -> Option<String> {
        let Call { by_flags, record, customer, .. } = self.call;
        let customer = customer.map(|id| format!("\"customer\": {id}, ")).unwrap_or_default();
        match (self.is_batch, by_flags.is_empty()) {
            (true, _) => Some(format!("[{{{customer}{record}}}]")),
            (false, true) => Some(format!("{{{record}}}")),
            (false, false) => None,
        }
    }
}

/// Every row of these operations: single, and in a batch of one record.
pub fn rows_of(operations: &[&str]) -> Vec<Row> {
    let calls = CALLS.iter().filter(|call| operations.contains(&call.operation));
    let ways = |call: &'static Call| {
        let batch = (!call.record.is_empty()).then_some(true);
        [Some(false), batch].into_iter().flatten().map(move |is_batch| Row { call, is_batch })
    };
    calls.flat_map(ways).collect()
}

/// The operations of the program's own table that have no row.
pub fn without_row() -> Vec<&'static str> {
    let has_row = |operation: &&OperationSpec| CALLS.iter().any(|call| call.operation == operation.name);
    OPERATIONS.into_iter().filter(|operation| !has_row(operation)).map(|operation| operation.name).collect()
}

const MAGENTO: Call = Call {
    operation: "",
    what: "",
    api: "magento",
    owner: Owner::Customer(1),
    setup: "",
    customer: None,
    flags: "",
    by_flags: "",
    record: "",
};
const MARKETPLACE: Call = Call { api: "marketplace", ..MAGENTO };
const PROFILE: Call = Call { operation: "customer update", customer: Some(1), ..MAGENTO };
const ITS_PROFILE: Call = Call { operation: "customer update", ..MARKETPLACE };
const CART_OF_1: Call = Call { owner: Owner::Cart(1), setup: CART, ..MAGENTO };

/// A new address, in an object of its own.
macro_rules! added {
    () => {
        r#"{"firstname": "Amina", "lastname": "Haddad", "street": ["1 Congress Street"], "city": "Boston",
            "postcode": "02109", "telephone": "+1 617 555 0100", "country_id": "US",
            "region": {"region_code": "MA", "region": "Massachusetts", "region_id": 32}, "region_id": 32}"#
    };
}

const ADD: &str = "--add-address --address-firstname Amina --address-lastname Haddad --street '1 Congress Street' \
     --city Boston --postcode 02109 --telephone '+1 617 555 0100' --country US --region Massachusetts \
     --region-code MA --region-id 32";

const SHIP: &str = "--ship-to-address 2 --carrier flatrate --method flatrate --payment-method checkmo";

/// The record of a shipment, whatever the interface calls the codes.
macro_rules! shipment {
    ($carrier:literal, $method:literal) => {
        concat!(
            r#""addressInformation": {"shipping_address": {"region_id": 43, "country_id": "US",
            "street": ["350 Fifth Avenue"], "telephone": "+1 212 736 3100", "postcode": "10118", "city": "New York",
            "firstname": "Amina", "lastname": "Haddad", "email": "amina.haddad@example.com"}, ""#,
            $carrier,
            r#"": "flatrate", ""#,
            $method,
            r#"": "flatrate"}, "paymentMethod": {"method": "checkmo"}"#
        )
    };
}

/// What became of the comment is not what is said of the address.
const ORDER: Call =
    Call { operation: "order update", owner: Owner::Order(2), flags: "--no-comment", ..MAGENTO };

/// All calls. Each operation of the program's table has at least one in every interface that has it.
pub static CALLS: &[Call] = &[
    Call {
        what: "change",
        by_flags: "--address 2 --city Albany",
        record: r#""addresses": [{"id": 2, "city": "Albany"}]"#,
        ..PROFILE
    },
    Call { what: "name", customer: None, by_flags: "--firstname Anna", ..PROFILE },
    Call { what: "add", by_flags: ADD, record: concat!(r#""addresses": ["#, added!(), "]"), ..PROFILE },
    Call { what: "remove", by_flags: "--remove-address 3", ..PROFILE },
    Call { what: "remove two", by_flags: "--remove-address 3 4", ..PROFILE },
    Call { what: "remove a default", by_flags: "--remove-address 2", ..PROFILE },
    Call { what: "remove by the customer", customer: None, by_flags: "--remove-address 3", ..PROFILE },
    Call { what: "remove and change", by_flags: "--remove-address 3 --address 2 --city Albany", ..PROFILE },
    Call {
        what: "replace",
        flags: "--replace-addresses --allow-delete 2",
        record: concat!(r#""addresses": [{"id": 1}, {"id": 2, "city": "Albany"}, "#, added!(), "]"),
        ..PROFILE
    },
    Call { what: "default by flag", by_flags: "--address 4 --default-billing", ..PROFILE },
    Call { what: "default", record: r#""addresses": [{"id": 4, "default_shipping": true}]"#, ..PROFILE },
    Call {
        what: "change",
        by_flags: "--address 2 --city Albany",
        record: r#""addresses": [{"id": 2, "city": "Albany"}]"#,
        ..ITS_PROFILE
    },
    Call { what: "add", by_flags: ADD, ..ITS_PROFILE },
    Call { what: "remove", by_flags: "--remove-address 3", ..ITS_PROFILE },
    Call {
        what: "remove and change",
        by_flags: "--remove-address 3 --address 2 --city Albany",
        ..ITS_PROFILE
    },
    Call {
        what: "replace",
        flags: "--replace-addresses --allow-delete 2",
        record: concat!(r#""addresses": [{"id": 1}, {"id": 2, "city": "Albany"}, "#, added!(), "]"),
        ..ITS_PROFILE
    },
    Call { what: "default by flag", by_flags: "--address 4 --default-billing", ..ITS_PROFILE },
    Call { what: "default", record: r#""addresses": [{"id": 4, "default_shipping": true}]"#, ..ITS_PROFILE },
    Call {
        operation: "quote ship",
        by_flags: SHIP,
        record: shipment!("shipping_carrier_code", "shipping_method_code"),
        ..CART_OF_1
    },
    Call {
        operation: "quote ship",
        owner: Owner::Cart(1),
        setup: CART,
        by_flags: SHIP,
        record: shipment!("shipping_carrier_code", "shipping_method_code"),
        ..MARKETPLACE
    },
    Call {
        operation: "quote add-item",
        by_flags: "--sku mug-blue --qty 3",
        record: r#""sku": "mug-blue", "qty": 3"#,
        ..CART_OF_1
    },
    Call {
        operation: "quote add-item",
        what: "verified",
        flags: "--verify",
        by_flags: "--sku mug-blue --qty 3",
        record: r#""sku": "mug-blue", "qty": 3"#,
        ..CART_OF_1
    },
    Call {
        operation: "quote add-item",
        what: "to a new cart",
        customer: Some(6),
        by_flags: "--sku mug-blue --qty 3",
        owner: Owner::NewCart(6),
        ..MAGENTO
    },
    Call {
        operation: "quote add-item",
        owner: Owner::Cart(1),
        setup: CART,
        by_flags: "--sku mug-blue --qty 3 --quote-id 1",
        record: r#""sku": "mug-blue", "qty": 3, "quote_id": "1""#,
        ..MARKETPLACE
    },
    Call {
        operation: "quote set-item",
        by_flags: "--item 1 --qty 5",
        record: r#""sku": "mug-blue", "qty": 5"#,
        ..CART_OF_1
    },
    Call {
        operation: "quote remove-item",
        by_flags: "--sku mug-blue",
        record: r#""item_id": 1"#,
        ..CART_OF_1
    },
    Call { operation: "quote clear", by_flags: "--quote-id 1", record: r#""quote_id": "1""#, ..CART_OF_1 },
    Call {
        operation: "quote clear",
        what: "by an administrator",
        customer: Some(1),
        by_flags: "--quote-id 1",
        ..CART_OF_1
    },
    Call {
        operation: "attribute create",
        owner: Owner::Attribute("fabric"),
        by_flags: "--code fabric --label Fabric --type select --option Wool Silk --default-option Silk",
        record: r#""attribute_code": "fabric", "default_frontend_label": "Fabric", "frontend_input": "text""#,
        ..MAGENTO
    },
    Call {
        operation: "attribute create",
        what: "assigned",
        owner: Owner::Attribute("fabric"),
        by_flags: "--code fabric --label Fabric --type text --set Default",
        record: r#""attribute_code": "fabric", "default_frontend_label": "Fabric", "frontend_input": "text",
            "attribute_set": ["Default", "Clothing"]"#,
        ..MAGENTO
    },
    Call {
        operation: "attribute create",
        owner: Owner::Attribute("fabric"),
        by_flags: "--code fabric --label Fabric --type text",
        record: r#""attribute_code": "fabric", "default_frontend_label": "Fabric", "frontend_input": "text""#,
        ..MARKETPLACE
    },
    Call {
        operation: "attribute assign",
        owner: Owner::Attribute("size"),
        by_flags: "size --set Default",
        record: r#""attribute_code": "size", "attribute_set": ["Default"]"#,
        ..MAGENTO
    },
    Call {
        operation: "attribute assign",
        what: "two sets",
        owner: Owner::Attribute("size"),
        by_flags: "size --set Default Home/Kitchen/'Product Details'",
        ..MAGENTO
    },
    Call {
        operation: "attribute option add",
        owner: Owner::Attribute("color"),
        by_flags: "color --option Orange",
        record: r#""attribute_code": "color", "options": [{"label": "Orange"}]"#,
        ..MAGENTO
    },
    Call {
        operation: "attribute option add",
        what: "two",
        owner: Owner::Attribute("color"),
        by_flags: "color --option Orange Pink",
        ..MAGENTO
    },
    Call {
        operation: "attribute option add",
        what: "a new default",
        owner: Owner::Attribute("color"),
        by_flags: "color --option Orange --default-option Orange",
        ..MAGENTO
    },
    Call {
        operation: "attribute option default",
        owner: Owner::Attribute("color"),
        by_flags: "color Blue",
        record: r#""attribute_code": "color", "label": "Blue""#,
        ..MAGENTO
    },
    Call {
        operation: "product set",
        owner: Owner::Product("mug-blue"),
        by_flags: "mug-blue color=Red weight=0.5",
        record: r#""sku": "mug-blue", "custom_attributes": [{"attribute_code": "color", "value": "Red"}]"#,
        ..MAGENTO
    },
    Call {
        operation: "product set",
        what: "in a store view",
        owner: Owner::Product("mug-blue"),
        by_flags: "mug-blue name=Tasse --store-view fr",
        record: r#""sku": "mug-blue", "store_view": "fr", "name": "Tasse""#,
        ..MAGENTO
    },
    Call {
        by_flags: "000000002 --shipping --postcode 10119",
        record: r#""order": "000000002", "address": "shipping", "postcode": "10119""#,
        ..ORDER
    },
    Call {
        what: "both addresses",
        by_flags: "--id 2 --both --telephone '+1 212 555 0100' --clear company",
        record: r#""order_id": 2, "address": "both", "telephone": "+1 212 555 0100", "company": null"#,
        ..ORDER
    },
];
