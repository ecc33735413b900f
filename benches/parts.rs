//! What those parts cost whose work grows with their input: merge, comparison, input, error messages.
//!
//! `cargo bench --bench parts`

use divan::{Bencher, black_box, counter::BytesCount};
use serde_json::{Map, Value, json};

use storefront::client::body::Body;
use storefront::client::error_body;
use storefront::input::{Draft, document};
use storefront_core::interface::dialect::MARKETPLACE;
use storefront_core::operation::{CUSTOMER_UPDATE, QUOTE_ADD_ITEM};
use storefront_core::profile::diff;
use storefront_core::profile::merge::{Merged, merge};
use storefront_core::profile::patch::ProfilePatch;
use storefront_core::profile::stored::{Pointers, Profile};
use storefront_core::profile::verify::verify;

const PROFILES: [usize; 2] = [1_000, 30_000];

fn main() {
    divan::main();
}

/// A stored address of 1 KB, as a store with its own extensions gives it.
fn address(id: usize) -> Value {
    json!({
        "id": id,
        "customer_id": 1,
        "region": {"region_code": "IDF", "region": "Île-de-France", "region_id": 596},
        "region_id": 596,
        "country_id": "FR",
        "street": [format!("{id} rue de la Paix"), "Bâtiment B"],
        "telephone": "+33 1 42 68 53 00",
        "postcode": "75002",
        "city": "Paris",
        "firstname": "Zoé",
        "lastname": "O’Hara-Λάμπρου",
        "extension_attributes": {"delivery": {"floor": 3, "lift": true, "code": "12A34"}},
        "custom_attributes": [
            {"attribute_code": "delivery_note", "value": "Sonnez deux fois. ".repeat(28)},
            {"attribute_code": "geo", "value": {"lat": 48.869_1, "lon": 2.331_6}},
        ],
    })
}

fn profile(addresses: usize) -> Map<String, Value> {
    Map::from_iter([
        ("id".to_owned(), 1.into()),
        ("email".to_owned(), "zoe@shop.example".into()),
        ("firstname".to_owned(), "Zoé".into()),
        ("lastname".to_owned(), "Λάμπρου".into()),
        ("addresses".to_owned(), (1..=addresses).map(address).collect()),
    ])
}

/// A new post code for each tenth address.
fn wish(addresses: usize) -> ProfilePatch {
    let drafts = (1..=addresses).step_by(10).map(|id| json!({"id": id, "postcode": "75001"})).collect();
    ProfilePatch { draft: Map::from_iter([("addresses".to_owned(), drafts)]), ..ProfilePatch::default() }
}

fn merged(addresses: usize) -> Merged {
    merge(&profile(addresses), &wish(addresses)).unwrap_or_else(|failure| unreachable!("{failure}"))
}

fn text(customer: &Map<String, Value>) -> String {
    serde_json::to_string(customer).unwrap_or_default()
}

/// The yardstick of what follows: the profile read from text and written again.
#[divan::bench(args = PROFILES)]
fn a_profile_read_and_written(bencher: Bencher<'_, '_>, addresses: usize) {
    let text = text(&profile(addresses));
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let read: Option<Value> = serde_json::from_str(black_box(&text)).ok();
        read.map(|profile| profile.to_string())
    });
}

/// One address in ten changes.
#[divan::bench(args = PROFILES)]
fn a_profile_merged(bencher: Bencher<'_, '_>, addresses: usize) {
    let (stored, wish) = (profile(addresses), wish(addresses));
    bencher.bench(|| merge(black_box(&stored), &wish));
}

/// What changed, once for each update.
#[divan::bench(args = PROFILES)]
fn two_profiles_compared(bencher: Bencher<'_, '_>, addresses: usize) {
    let (before, after) = (profile(addresses), profile(addresses));
    bencher.bench(|| diff::customers(black_box(&before), black_box(&after)));
}

/// The read-back after a replacement.
#[divan::bench(args = PROFILES)]
fn a_replacement_verified(bencher: Bencher<'_, '_>, addresses: usize) {
    let (before, sent) = (profile(addresses), merged(addresses));
    let Ok(now) = Profile::find(Value::Object(sent.customer.clone()), &Pointers::default()) else { return };
    bencher.bench(|| verify(&before, &sent.customer, black_box(&now), &[], &[]));
}

/// A cart item out of its text, held against the documented shape.
#[divan::bench]
fn a_cart_item_read_and_checked(bencher: Bencher<'_, '_>) {
    let text = json!({"cartItem": {"sku": "MS-CHAMP-01", "qty": 2, "quote_id": "7", "product_option":
        {"extension_attributes": {"configurable_item_options": [{"option_id": "93", "option_value": 52}]}}}})
    .to_string();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let item = document::parse_json(black_box(&text), "item.json").ok();
        Draft::new(&MARKETPLACE, &QUOTE_ADD_ITEM, item.into(), &|_| Ok(()), false)
    });
}

/// A customer's addresses out of a file, held against the documented shape.
#[divan::bench(args = PROFILES)]
fn addresses_read_and_checked(bencher: Bencher<'_, '_>, addresses: usize) {
    let text = Value::Object(wish(addresses * 10).draft).to_string();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let document = document::parse_json(black_box(&text), "customer.json").ok();
        Draft::new(&MARKETPLACE, &CUSTOMER_UPDATE, document.into(), &|_| Ok(()), false)
    });
}

/// A refusal in Magento's own shape, placeholders filled.
#[divan::bench]
fn a_service_error_in_json(bencher: Bencher<'_, '_>) {
    let body = json!({"message": "The \"%fieldName\" value of %1 is wrong.", "parameters":
        {"fieldName": "postcode", "1": "address 12"}, "errors": [{"message": "%1 is required.", "parameters": ["city"]}]})
    .to_string();
    bencher.bench(|| error_body::render(400, Body::read(black_box(body.as_bytes()), false)));
}

/// A proxy's page, long enough to be cut.
#[divan::bench(args = [1_000, 1_000_000])]
fn a_service_error_in_html(bencher: Bencher<'_, '_>, length: usize) {
    let filler = "<p class=\"x\">The server is temporarily unable to service your request.</p>\n";
    let body = format!("<html><body><h1>503</h1>{}</body></html>", filler.repeat(length / filler.len()));
    let read = || Body::read(black_box(body.as_bytes()), false);
    bencher.counter(BytesCount::of_str(&body)).bench(|| error_body::render(503, read()));
}
