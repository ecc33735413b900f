//! The service with its store, and everything that takes effect in it, written down.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::customers::{Customer, DEFAULT, Stored, Writer, addresses_after};
use super::editors::{Edit, Moment};
use super::faults::{Delivery, FaultProfile};
use super::random::Random;

/// What the last read before a PUT showed.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The profile.
    pub profile: Stored,
    /// When it was delivered.
    pub at: Duration,
    /// How much the process had written to its disk by then.
    pub writes: u64,
}

/// A request that left a client.
#[derive(Debug)]
pub struct Sent {
    /// Which run of the program sent it.
    pub run: usize,
    /// The record it belongs to; none for a read.
    pub tag: Option<u32>,
    /// The customer, for calls on a profile.
    pub customer: Option<usize>,
    /// When it left.
    pub at: Duration,
    /// Which attempt of its run at its record it is, from 1.
    pub attempt: u32,
    /// JSON.
    pub body: Value,
    /// What the run had read of the profile last.
    pub shown: Option<Shown>,
    /// The snapshot that the run took last.
    pub snapshot: Option<std::path::PathBuf>,
    /// When the client had its answer, or knew that there will be none, and whether that was an answer.
    pub heard: Option<(Duration, bool)>,
    /// What the service answered, once it has.
    pub reply: Option<(u16, String)>,
}

/// A write that took effect.
#[derive(Debug)]
pub struct Effect {
    /// When.
    pub at: Duration,
    /// Of which request.
    pub request: usize,
}

#[derive(Debug)]
enum Event {
    Arrival(usize),
    Edit(usize),
}

/// What one of our records asks for.
#[derive(Debug, Clone)]
pub enum Action {
    /// An item in a cart.
    Item,
    /// An attribute.
    Attribute,
    /// Shipping and payment of the cart of this customer.
    Ship(usize),
    /// Another value of a field, of the profile or of an address.
    Set(Option<i64>, &'static str, String),
    /// One more address.
    Add(Value),
    /// One address less.
    Remove(i64),
    /// Another default address.
    Default(i64),
    /// The newest update undone; with `true` an address that it added is deleted.
    Restore(bool),
}

impl Action {
    /// Whether a profile, stored or sent, has what this asks for.
    pub fn is_shown_by(&self, profile: &Stored) -> bool {
        let addresses = || profile.get("addresses").and_then(Value::as_array).into_iter().flatten();
        let address = |id: &i64| addresses().find(|address| address["id"] == *id);
        match self {
            Self::Item | Self::Attribute | Self::Ship(_) | Self::Restore(_) => false,
            Self::Set(None, name, value) => profile.get(*name).is_some_and(|now| now == value),
            Self::Set(Some(id), name, value) => address(id).is_some_and(|address| address[*name] == *value),
            Self::Add(added) => addresses().any(|address| address["street"] == added["street"]),
            Self::Remove(id) => address(id).is_none(),
            Self::Default(id) => address(id).is_some_and(|address| address[DEFAULT] == true),
        }
    }
}

/// One run of the program.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its records by their tags, with their customers.
    pub records: Vec<(u32, usize)>,
    /// The first record of its command: runs of one command have the same.
    pub command: u32,
    /// Whether it goes over many records.
    pub is_batch: bool,
    /// Whether it was told to act although an earlier outcome is unknown (`--after-unknown`, `--retry-unknown`).
    pub may_repeat: bool,
}

/// Checks a replacement as it takes effect: the request, the customer, both profiles, and the ids of new addresses.
pub type ReplacementCheck = fn(&mut World, usize, usize, &Stored, &Stored, &[i64]);

/// Everything outside the program, its disk excepted.
#[derive(Debug)]
pub struct World {
    /// Where all chance comes from.
    pub random: Random,
    start: Instant,
    /// How network and service behave.
    pub fault_profile: FaultProfile,
    check_replacement: ReplacementCheck,
    /// All customers.
    pub customers: Vec<Customer>,
    /// Codes of the attributes that exist.
    pub attributes: BTreeSet<String>,
    /// What our records ask for, by their tags.
    pub actions: BTreeMap<u32, Action>,
    /// The runs of the program.
    pub runs: Vec<Run>,
    /// All requests, by their numbers.
    pub requests: Vec<Sent>,
    /// All writes that took effect, in their order.
    pub effects: Vec<Effect>,
    /// What foreign editors are going to do, and whether they did.
    pub edits: Vec<(Edit, bool)>,
    events: BTreeMap<(Duration, u64), Event>,
    sequence: u64,
    next_address: i64,
    /// What was broken.
    pub violations: Vec<String>,
    /// Foreign addresses that a PUT removed because they were added after the read before it.
    pub foreign_lost: u64,
    /// What happened, for anyone who replays it.
    pub trace: Vec<String>,
    /// Whether it is kept.
    pub is_traced: bool,
}

impl World {
    /// A world with so many customers.
    pub fn new(
        seed: u64,
        customers: usize,
        fault_profile: FaultProfile,
        check_replacement: ReplacementCheck,
        is_traced: bool,
    ) -> Self {
        let customers = (0..customers).map(Customer::new).collect();
        Self {
            random: Random::new(seed),
            start: Instant::now(),
            fault_profile,
            check_replacement,
            customers,
            attributes: BTreeSet::new(),
            actions: BTreeMap::new(),
            runs: Vec::new(),
            requests: Vec::new(),
            effects: Vec::new(),
            edits: Vec::new(),
            events: BTreeMap::new(),
            sequence: 0,
            next_address: 1000,
            violations: Vec::new(),
            foreign_lost: 0,
            trace: Vec::new(),
            is_traced,
        }
    }

    /// The time since the world began.
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// The time since the world began at this moment.
    pub fn time_of(&self, moment: Instant) -> Duration {
        moment - self.start
    }

    /// Writes down what happened at this moment.
    pub fn log_at(&mut self, moment: Instant, what: impl FnOnce() -> String) {
        if self.is_traced {
            self.trace.push(format!("{:>9.3} {}", self.time_of(moment).as_secs_f64(), what()));
        }
    }

    /// Writes down what happened, where somebody wants to know.
    pub fn log(&mut self, what: impl FnOnce() -> String) {
        if self.is_traced {
            let line = format!("{:>9.3} {}", self.now().as_secs_f64(), what());
            self.trace.push(line);
        }
    }

    /// Notes that a promise was broken.
    pub fn violated(&mut self, invariant: u8, what: String) {
        self.log(|| format!("VIOLATED ({invariant}) {what}"));
        self.violations.push(format!("({invariant}) {what}"));
    }

    /// Sets what foreign editors do.
    pub fn plan(&mut self, edits: Vec<Edit>) {
        for edit in edits {
            let number = self.edits.len();
            if let Moment::At(time) = edit.moment {
                self.schedule(time, Event::Edit(number));
            }
            self.edits.push((edit, false));
        }
    }

    /// Lets a request arrive where its delivery says so; nobody has to wait for it.
    pub fn send(&mut self, request: Sent, delivery: &Delivery, on_its_way: Duration) -> usize {
        let number = self.requests.len();
        self.requests.push(request);
        if let Some(delay) = delivery.processed {
            self.schedule(self.now() + on_its_way + delay, Event::Arrival(number));
        }
        number
    }

    fn schedule(&mut self, at: Duration, event: Event) {
        self.sequence += 1;
        self.events.insert((at, self.sequence), event);
    }

    /// Lets everything happen that was due until now.
    pub fn catch_up(&mut self) {
        self.catch_up_until(self.now());
    }

    /// Lets everything happen that is still to come.
    pub fn finish(&mut self) {
        self.catch_up_until(Duration::MAX);
    }

    fn catch_up_until(&mut self, now: Duration) {
        while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((at, _), event) = entry.remove_entry();
            match event {
                Event::Edit(number) => self.edit(number, at),
                Event::Arrival(request) => {
                    self.edit_around(request, at, true);
                    let reply = self.process(request, at);
                    self.log(|| format!("  request {request} processed (due {at:?}): {}", reply.0));
                    self.requests[request].reply = Some(reply);
                    self.edit_around(request, at, false);
                }
            }
        }
    }

    /// Editors who strike just before or after a request is processed.
    fn edit_around(&mut self, request: usize, at: Duration, before: bool) {
        let wanted = if before { Moment::Before(request) } else { Moment::After(request) };
        for number in 0..self.edits.len() {
            if self.edits[number].0.moment == wanted {
                self.edit(number, at);
            }
        }
    }

    fn edit(&mut self, number: usize, at: Duration) {
        let edit = self.edits[number].0.clone();
        let id = self.next_address;
        let customer = &mut self.customers[edit.customer];
        let before = customer.now.clone();
        if !edit.apply(&mut customer.now, id) {
            return;
        }
        self.next_address += 1;
        self.edits[number].1 = true;
        customer.changed(&before, at, Writer::Foreign);
        self.log(|| format!("  foreign edit: {edit:?} (address {id} if new)"));
    }

    fn process(&mut self, request: usize, at: Duration) -> (u16, String) {
        let sent = &self.requests[request];
        match (sent.tag, sent.customer) {
            (None, Some(customer)) => {
                let found = self.read(customer, at);
                (200, json!({ "customer": found }).to_string())
            }
            (Some(_), Some(customer)) => self.replace(request, customer, at),
            (_, None) => {
                if let Some(code) = sent.body["attribute"]["attribute_code"].as_str()
                    && !self.attributes.insert(code.to_owned())
                {
                    return (400, r#"{"message":"Attribute with the same code already exists."}"#.to_owned());
                }
                self.effects.push(Effect { at, request });
                (200, r#"{"id":7}"#.to_owned())
            }
        }
    }

    /// What a read shows: the profile, or what a replica still has of it.
    fn read(&mut self, customer: usize, at: Duration) -> Stored {
        let lag = self.fault_profile.lag(&mut self.random);
        let customer = &self.customers[customer];
        let then = at.saturating_sub(lag);
        let past = customer.past.iter().rev().find(|(since, _)| *since <= then);
        past.map_or(&customer.now, |(_, past)| past).clone()
    }

    fn replace(&mut self, request: usize, number: usize, at: Duration) -> (u16, String) {
        let sent = &self.requests[request];
        let Some(body) = sent.body["customer"].as_object().cloned() else { return (400, "{}".to_owned()) };
        let before = self.customers[number].now.clone();
        let mut after = before.clone();
        let mut added = Vec::new();
        for (name, value) in &body {
            let value = match (name.as_str(), value.as_array()) {
                ("addresses", Some(list)) => {
                    match addresses_after(&before["addresses"], list, &mut self.next_address, &mut added) {
                        Some(list) => Value::Array(list),
                        None => return (404, r#"{"message":"No such address."}"#.to_owned()),
                    }
                }
                _ => value.clone(),
            };
            after.insert(name.clone(), value);
        }
        after.insert("updated_at".to_owned(), json!(format!("{}", at.as_millis())));
        (self.check_replacement)(self, request, number, &before, &after, &added);
        let customer = &mut self.customers[number];
        customer.now = after;
        customer.changed(&before, at, Writer::Ours(request));
        self.effects.push(Effect { at, request });
        (200, "{\"ok\":true}".to_owned())
    }
}
