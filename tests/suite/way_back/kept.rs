//! What an undo must leave: what is not ours any more.

use crate::support::database::Database;
use crate::support::magento;
use crate::support::raw_http::ORDER;
use crate::support::storefront::Outcome;
use crate::support::test_env::TestEnv;

/// The customer's next cart, with the same product.
const NEXT_CART: &str = "INSERT INTO quotes (id, customer_id) SELECT 9, 1;
    INSERT INTO quote_items (id, quote_id, sku, options, qty) VALUES (1, 9, 'mug-blue', '[]', '5')";
const CART: &str = "INSERT INTO quote_items (id, quote_id, sku, options, qty) VALUES
    (1, 1, 'mug-blue', '[]', '2'), (2, 1, 'umbrella', '[]', '1')";
const FLAGS: &str = "-q -o json --timeout 10";

/// A case, and what is wrong if it does not hold.
pub type Case = (&'static str, fn() -> Result<(), String>);

pub const CASES: &[Case] = &[
    ("a quantity, after an order, in the next cart", quantity_of_the_next_cart),
    ("a removed item, after an order, in the next cart", item_of_the_next_cart),
    ("a value that somebody changed", value_that_somebody_changed),
    ("a street to which somebody moved", place_that_somebody_changed),
    ("an address that was typed in again", address_that_was_typed_in_again),
    ("a line of the input that was edited", line_that_was_edited),
];

struct Batch {
    env: TestEnv,
    operation: &'static str,
}

impl Batch {
    /// Runs a batch of one record, after this SQL.
    fn done(setup: &str, operation: &'static str, record: &str) -> Result<Self, String> {
        let env = TestEnv::new();
        env.sandbox.sql(setup);
        env.file("a.json", format!("[{record}]"));
        let batch = Self { env, operation };
        let outcome = batch.run(&format!("{operation} -i a.json -y {FLAGS}"));
        if outcome.code == 0 { Ok(batch) } else { Err(format!("{}: {outcome:?}", batch.operation)) }
    }

    fn run(&self, line: &str) -> Outcome {
        magento::program(&self.env, line).run()
    }

    /// Undoes it, however far that goes; nothing that is stored may change.
    fn leaves_all(&self) -> Result<(), String> {
        let before = self.undone();
        let difference = before.difference(&Database::read(self.env.sandbox.data()));
        if difference.is_empty() { Ok(()) } else { Err(difference) }
    }

    /// Undoes it; the database before that.
    fn undone(&self) -> Database {
        let before = Database::read(self.env.sandbox.data());
        let undone = self.run(&format!("undo a.json.journal --plan undo.plan {FLAGS}"));
        if undone.code == 0 || undone.code == 7 {
            self.run(&format!("apply undo.plan -y {FLAGS}"));
        }
        before
    }
}

fn quantity_of_the_next_cart() -> Result<(), String> {
    let batch = Batch::done(CART, "quote set-item", r#"{"customer": 1, "sku": "mug-blue", "qty": 5}"#)?;
    // The shop counts items through all carts; an id may come again where a table is restored.
    batch.env.sandbox.sql(&format!("{ORDER}; DELETE FROM quote_items WHERE id = 1; {NEXT_CART}"));
    batch.leaves_all()
}

fn item_of_the_next_cart() -> Result<(), String> {
    let batch = Batch::done(CART, "quote remove-item", r#"{"customer": 1, "sku": "umbrella"}"#)?;
    batch.env.sandbox.sql(&format!("{ORDER}; DELETE FROM quote_items WHERE id = 1; {NEXT_CART}"));
    batch.leaves_all()
}

const ALBANY: &str = r#"{"customer": 1, "addresses": [{"id": 2, "city": "Albany"}]}"#;

fn value_that_somebody_changed() -> Result<(), String> {
    let batch = Batch::done("", "customer update", ALBANY)?;
    batch.env.sandbox.sql("UPDATE addresses SET body = json_set(body, '$.city', 'Dijon') WHERE id = 2");
    batch.leaves_all()
}

/// Street, city, postcode, region and country of an address are one thing.
fn place_that_somebody_changed() -> Result<(), String> {
    let batch = Batch::done("", "customer update", ALBANY)?;
    let moved =
        "UPDATE addresses SET body = json_set(body, '$.street', json_array('1 Rue Verte')) WHERE id = 2";
    batch.env.sandbox.sql(moved);
    batch.leaves_all()
}

fn address_that_was_typed_in_again() -> Result<(), String> {
    let added = r#"{"customer": 1, "addresses": [{"firstname": "Amina", "lastname": "Haddad", "city": "Boston",
        "street": ["1 Congress Street"], "postcode": "02109", "telephone": "+1 617 555 0100", "country_id": "US",
        "region": {"region_code": "MA", "region": "Massachusetts", "region_id": 32}, "region_id": 32}]}"#;
    let batch = Batch::done("", "customer update", added)?;
    batch
        .env
        .sandbox
        .sql("UPDATE addresses SET id = 99 WHERE id = (SELECT max(id) FROM addresses WHERE customer_id = 1)");
    batch.leaves_all()
}

/// Nothing of what the line says now may be written, and nothing of the address that it names now.
fn line_that_was_edited() -> Result<(), String> {
    let batch = Batch::done("", "customer update", ALBANY)?;
    let now = r#"[{"customer": 1, "addresses": [{"id": 4, "city": "Utica"}]}]"#;
    batch.env.file("a.json", now);
    let before = batch.undone();
    let difference = before.difference(&Database::read(batch.env.sandbox.data()));
    let is_other = |line: &&str| !line.contains("addresses 2 ");
    match difference.lines().find(is_other) {
        None => Ok(()),
        Some(_) => Err(difference),
    }
}
