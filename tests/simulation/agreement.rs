//! The simulation's Magento and the sandbox are two models of one shop, written apart: what one of them has wrong the other would
//! have to have wrong, too. Random profiles and PUTs become the same in both.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use super::call::Call;
use super::customers::{DEFAULT, addresses};
use super::faults::FaultProfile;
use super::magento;
use super::service;
use super::world::{Run, Sent, World};

/// How many PUTs are compared.
const CASES: u32 = 150;

/// Both shops, each with its profile of one customer.
struct Shops {
    world: World,
    url: String,
    token: String,
    http: reqwest::Client,
    is_own: bool,
}

impl Shops {
    fn path(&self) -> String {
        let whose = if self.is_own { "me" } else { "1" };
        format!("{}/rest/default/V1/customers/{whose}", self.url)
    }

    /// What the sandbox shows.
    async fn sandbox(&self) -> Map<String, Value> {
        let request = self.http.get(self.path()).bearer_auth(&self.token);
        let text = request.send().await.unwrap().text().await.unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Sends a PUT to both; the statuses.
    async fn put(&mut self, customer: &Value) -> [u16; 2] {
        let body = json!({ "customer": customer });
        let request = self.http.put(self.path()).bearer_auth(&self.token).body(body.to_string());
        let request = request.header("content-type", "application/json");
        let in_sandbox = request.send().await.unwrap().status().as_u16();
        let world = &mut self.world;
        let (number, at) = (world.requests.len(), Duration::from_secs(world.requests.len() as u64));
        world.requests.push(Sent {
            run: 0,
            tag: None,
            call: Call::Put(0),
            at,
            body,
            shown: None,
            heard: None,
            processed: None,
            reply: None,
        });
        [in_sandbox, service::serve(world, number, at, false).0]
    }

    /// Gives the simulation the profile that the sandbox shows.
    async fn begin(&mut self) -> Map<String, Value> {
        let shown = self.sandbox().await;
        let mut stored = magento::plain(&shown);
        stored.shift_remove("extension_attributes");
        self.world.customers[0].now = stored;
        shown
    }
}

/// What both shops show, in one form: what stands for nothing left out, new addresses without their ids.
fn comparable(shown: &Map<String, Value>, known: &[i64]) -> Value {
    let mut plain = magento::plain(shown);
    let mut list: Vec<Value> = plain["addresses"].as_array().unwrap().clone();
    list.sort_by_key(|address| address["id"].as_i64());
    for address in list.iter_mut().filter_map(Value::as_object_mut) {
        if !address["id"].as_i64().is_some_and(|id| known.contains(&id)) {
            address.shift_remove("id");
        }
        address.shift_remove("customer_id");
        address.sort_keys();
    }
    let fields = ["firstname", "lastname", "email"].map(|name| (name, plain.shift_remove(name)));
    json!({ "addresses": list, "fields": fields })
}

/// A change of what was shown, before it is sent back.
#[derive(Debug, Clone)]
enum Edit {
    /// A field of an address, or none.
    Field(usize, &'static str, Value),
    /// A field is left out.
    LeaveOut(usize, &'static str),
    /// The region in one of its forms.
    Region(usize, Value, Value),
    /// An address is left out.
    Remove(usize),
    /// A new one, with this id.
    Add(&'static str, Value),
    /// Another customer's address, or none at all.
    Unknown,
    /// A flag of a default.
    Flag(usize, bool),
    /// No flags at all.
    NoFlags,
    /// The default at the top of the profile: this address, none, or left out.
    Top(Option<usize>, bool),
    /// A name of the customer.
    Name(&'static str, &'static str),
    /// The whole list is left out.
    NoList,
    /// The addresses in another order.
    Reverse,
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = 0..3_usize;
    let text = prop_oneof![Just("Aachen"), Just("Zürich"), Just("x y")].prop_map(Value::from);
    let required = prop_oneof![Just("city"), Just("telephone"), Just("postcode"), Just("firstname")];
    let optional = prop_oneof![Just("company"), Just("vat_id"), Just("fax")];
    let nothing = prop_oneof![Just(Value::Null), Just(json!("")), Just(json!("V1"))];
    let id = prop_oneof![Just(json!(12)), Just(json!(43)), Just(json!(0)), Just(Value::Null)];
    let region = prop_oneof![
        Just(Value::Null),
        Just(json!({"region_code": "NY", "region": "New York", "region_id": 43})),
        Just(json!({"region_code": "CA"})),
        Just(json!({"region_id": 12})),
    ];
    let new_id = prop_oneof![Just(json!("none")), Just(json!(0)), Just(Value::Null)];
    prop_oneof![
        3 => (at.clone(), required, text).prop_map(|(at, name, value)| Edit::Field(at, name, value)),
        3 => (at.clone(), optional.clone(), nothing).prop_map(|(at, name, value)| Edit::Field(at, name, value)),
        1 => (at.clone(), optional).prop_map(|(at, name)| Edit::LeaveOut(at, name)),
        3 => (at.clone(), id, region).prop_map(|(at, id, region)| Edit::Region(at, id, region)),
        2 => at.clone().prop_map(Edit::Remove),
        2 => new_id.prop_map(|id| Edit::Add("New", id)),
        1 => Just(Edit::Unknown),
        2 => (at.clone(), any::<bool>()).prop_map(|(at, is_set)| Edit::Flag(at, is_set)),
        1 => Just(Edit::NoFlags),
        2 => (proptest::option::of(at), any::<bool>()).prop_map(|(at, is_out)| Edit::Top(at, is_out)),
        1 => prop_oneof![Just("firstname"), Just("lastname")].prop_map(|name| Edit::Name(name, "Zoë")),
        1 => Just(Edit::NoList),
        1 => Just(Edit::Reverse),
    ]
}

fn new_address(city: &str) -> Value {
    json!({"firstname": "N", "lastname": "M", "street": ["Main 1"], "city": city, "postcode": "10001",
        "country_id": "US", "telephone": "5", "region_id": 12,
        "region": {"region_code": "CA", "region": "California", "region_id": 12}})
}

impl Edit {
    fn apply(&self, customer: &mut Map<String, Value>) {
        let ids: Vec<i64> = addresses(customer).filter_map(|address| address["id"].as_i64()).collect();
        let is_out = matches!(self, Self::NoList);
        if is_out {
            customer.shift_remove("addresses");
        }
        let mut none = Vec::new();
        let list = customer.get_mut("addresses").and_then(Value::as_array_mut).unwrap_or(&mut none);
        let count = list.len().max(1);
        match self {
            Self::Field(at, name, value) => {
                list.get_mut(at % count).into_iter().for_each(|address| address[*name] = value.clone());
            }
            Self::LeaveOut(at, name) => {
                let address = list.get_mut(at % count).and_then(Value::as_object_mut);
                if let Some(address) = address {
                    address.shift_remove(*name);
                }
            }
            Self::Region(at, id, region) => {
                let address = list.get_mut(at % count).and_then(Value::as_object_mut);
                if let Some(address) = address {
                    for (name, value) in [("region_id", id), ("region", region)] {
                        address.shift_remove(name);
                        if !value.is_null() {
                            address.insert(name.to_owned(), value.clone());
                        }
                    }
                }
            }
            Self::Remove(at) if list.len() > 1 => drop(list.remove(at % count)),
            Self::Add(city, id) => {
                let mut address = new_address(city);
                if id != "none" {
                    address["id"] = id.clone();
                }
                list.push(address);
            }
            Self::Unknown => {
                list.get_mut(0).into_iter().for_each(|address| address["id"] = json!(999_999));
            }
            Self::Flag(at, is_set) => {
                list.get_mut(at % count).into_iter().for_each(|address| address[DEFAULT] = json!(is_set));
            }
            Self::NoFlags => list.iter_mut().filter_map(Value::as_object_mut).for_each(|address| {
                address.shift_remove(DEFAULT);
            }),
            Self::Top(at, is_left_out) => {
                customer.shift_remove(DEFAULT);
                let id = at.and_then(|at| ids.get(at).map(ToString::to_string));
                if !is_left_out {
                    customer.insert(DEFAULT.to_owned(), json!(id));
                }
            }
            Self::Name(name, value) => drop(customer.insert((*name).to_owned(), json!(value))),
            Self::Reverse => list.reverse(),
            Self::Remove(_) | Self::NoList => {}
        }
    }
}

/// What differs after these edits of one profile.
async fn compare(shops: &mut Shops, count: usize, edits: &[Edit]) -> Result<(), TestCaseError> {
    let mut start = shops.sandbox().await;
    let list: Vec<Value> = (0..=count).map(|at| new_address(&format!("Town {at}"))).collect();
    start.insert("addresses".to_owned(), list.into());
    start.shift_remove(DEFAULT);
    start.shift_remove("default_shipping");
    let [in_sandbox, _] = shops.put(&Value::Object(start)).await;
    prop_assert_eq!(in_sandbox, 200);
    let mut customer = shops.begin().await;
    let known: Vec<i64> = addresses(&customer).filter_map(|address| address["id"].as_i64()).collect();
    customer.shift_remove("extension_attributes");
    for edit in edits {
        edit.apply(&mut customer);
    }
    let customer = Value::Object(customer);
    let [in_sandbox, in_simulation] = shops.put(&customer).await;
    prop_assert_eq!(
        in_sandbox == 200,
        in_simulation == 200,
        "{}: {} {}",
        customer,
        in_sandbox,
        in_simulation
    );
    let stored = magento::as_shown(&shops.world.customers[0].now);
    let simulated = comparable(stored.as_object().unwrap(), &known);
    let found = comparable(&shops.sandbox().await, &known);
    prop_assert_eq!(found, simulated, "the sandbox and the simulation, after {}", customer);
    Ok(())
}

fn agree(is_own: bool) {
    let home = tempfile::tempdir().unwrap();
    let options = storefront_sandbox::Options::new(home.path().join("sandbox.db"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let running = runtime.block_on(storefront_sandbox::start(options)).unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let token = if is_own { &running.customer_token } else { &running.admin_token };
    let mut shops = runtime.block_on(async {
        Shops {
            world: World::new(0, 1, true, FaultProfile::default(), false),
            url: running.url.clone(),
            token: token.clone(),
            http: reqwest::Client::new(),
            is_own,
        }
    });
    let seed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, seed);
    let cases = (0..3_usize, proptest::collection::vec(edit(), 1..4));
    shops.world.runs.push(Run { token: is_own.then_some(0), ..Run::default() });
    let shops = std::cell::RefCell::new(&mut shops);
    let compared = runner
        .run(&cases, |(count, edits)| runtime.block_on(compare(&mut shops.borrow_mut(), count, &edits)));
    compared.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_sandbox_and_the_simulation_make_the_same_of_a_customers_own_put() {
    agree(true);
}

#[test]
fn the_sandbox_and_the_simulation_make_the_same_of_an_administrators_put() {
    agree(false);
}
