//! The ledger: every request that was sent, every effect it had and every report, of all clients.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::action::Action;
use super::call::Call;
use super::customers::{Customer, Kept, Stored};
use super::editors::{Edit, Moment};
use super::faults::{Delivery, FaultProfile, Observed, Quirk};
use super::goods::{self, Scope};
use super::notation;
use super::random::Random;
use super::rules::{Break, Rule};
use super::states::State;

/// Whose fields a write changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// The profile of a customer.
    Customer(usize),
    /// An order.
    Order(usize),
    /// A product.
    Product(usize),
}

/// What a write changed: a field of an order, or a value of a product.
#[derive(Debug, Clone)]
pub struct Changed {
    /// Of which request.
    pub request: usize,
    /// When.
    pub at: Duration,
    /// Which field.
    pub path: String,
    /// What was there.
    pub before: Option<Value>,
    /// What is there now.
    pub after: Option<Value>,
}

/// What the last read before a PUT showed.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The profile.
    pub profile: Stored,
    /// When it was delivered.
    pub at: Duration,
}

/// What a client got to know of its request.
#[derive(Debug, Clone)]
pub struct Heard {
    /// When.
    pub at: Duration,
    /// What it observed.
    pub observed: Observed,
    /// The status, if there was one.
    pub status: Option<u16>,
    /// The profile in the answer, if there was one.
    pub profile: Option<Stored>,
    /// The orders and the products in the answer, these with the values of a scope.
    pub goods: Vec<(Owner, Scope, Stored)>,
}

/// A request that left a client.
#[derive(Debug)]
pub struct Sent {
    /// Which run of the program sent it.
    pub run: usize,
    /// The record it belongs to; none for a read.
    pub tag: Option<u32>,
    /// What it calls.
    pub call: Call,
    /// When it left.
    pub at: Duration,
    /// JSON.
    pub body: Value,
    /// What the run had read of the profile last.
    pub shown: Option<Shown>,
    /// When the client had its answer, or knew that there will be none, and what it was.
    pub heard: Option<Heard>,
    /// When the service processed it.
    pub processed: Option<Duration>,
    /// What the service answered, once it has.
    pub reply: Option<(u16, String)>,
}

impl Sent {
    /// The customer whose profile it replaces.
    pub fn replaces(&self) -> Option<usize> {
        if let Call::Put(customer) = self.call { Some(customer) } else { None }
    }

    /// The customer whose profile it reads, replaces or removes an address from.
    pub fn profile_of(&self) -> Option<usize> {
        match self.call {
            Call::Read(customer) | Call::Put(customer) | Call::Remove(customer, _) => Some(customer),
            _ => None,
        }
    }

    /// Whose fields it changes, and in which scope.
    pub fn sets(&self) -> Option<(Owner, Scope)> {
        match self.call {
            Call::Put(customer) | Call::Remove(customer, _) => Some((Owner::Customer(customer), Scope::All)),
            Call::SaveAddress(order, _) | Call::Comment(order) => Some((Owner::Order(order), Scope::All)),
            Call::SetValues(scope, product) => Some((Owner::Product(product), scope)),
            _ => None,
        }
    }
}

/// A write that took effect.
#[derive(Debug, Clone, Copy)]
pub struct Effect {
    /// When.
    pub at: Duration,
    /// Of which request.
    pub request: usize,
    /// Whether a proxy handed the request on once more.
    pub is_copy: bool,
}

/// Something of which no client could have known, or that nobody can tell from something else; counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutOfReach {
    /// A change by somebody else, or from another machine, after the read before a PUT.
    ForeignLost,
    /// A change of ours, lost behind replicas that lag further than anybody promises.
    LongLag,
    /// A change of ours, lost after the clock was set forward.
    ClockSetForward,
    /// A change undone by the second copy of a request that a proxy doubled.
    Doubled,
    /// Somebody else did exactly what our lost request asks.
    Indistinguishable,
    /// A change of ours that a read cannot tell from what was there before: of blanks, or of a number for its text.
    Alike,
    /// The service refused what it saved, or gave an error under 200, and nothing that a client may rely on tells that.
    Misled,
    /// The first profile that was ever read with a token was another customer's.
    Unknowable,
}

/// Something that is going to happen.
#[derive(Debug)]
pub enum Event {
    /// This request arrives; whether it is the copy of a proxy.
    Arrival(usize, bool),
    /// This editor acts.
    Edit(usize),
}

/// One run of the program.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Its records by their tags, with their customers.
    pub records: Vec<(u32, usize)>,
    /// Where each stands in the input of a batch, with its hash; none of a plan, whose records are named by their numbers.
    pub places: Vec<(usize, u64)>,
    /// The machine it is on.
    pub machine: usize,
    /// The first record of its command: runs of one command have the same.
    pub command: u32,
    /// Whether it goes over many records.
    pub is_batch: bool,
    /// Whether it applies a plan.
    pub is_plan: bool,
    /// Whether it may be run over a part of its records.
    pub is_part: bool,
    /// `--verify`
    pub verifies: bool,
    /// The one record of a plan that it applies.
    pub only: Option<usize>,
    /// Whether it began again from the first record.
    pub is_restarted: bool,
    /// When the first and the second signal came.
    pub signalled: Option<Duration>,
    /// See `signalled`.
    pub signalled_again: Option<Duration>,
    /// Whether its input was edited after it had been checked.
    pub is_edited: bool,
    /// Whether it was told to act although an earlier outcome is unknown (`--after-unknown`, `--retry-unknown`).
    pub may_repeat: bool,
    /// Which of the customer's tokens it has; none where it has an administrator's.
    pub token: Option<usize>,
    /// Its journal.
    pub journal: Option<PathBuf>,
    /// `--jobs`
    pub jobs: u16,
    /// `--resume`
    pub is_resumed: bool,
    /// `--mark-done`
    pub marks: bool,
    /// When it began and ended.
    pub began: Duration,
    /// See `began`.
    pub ended: Option<Duration>,
    /// Its exit code; none while it runs, and where it died.
    pub code: Option<u8>,
}

/// What a run said about a record.
#[derive(Debug, Clone)]
pub struct Reported {
    /// Which run.
    pub run: usize,
    /// Which record.
    pub tag: u32,
    /// When it was said.
    pub at: Duration,
    /// `yes`, `no`, `partial` or `unknown`.
    pub applied: String,
    /// `unchanged`, `not sent`, `done earlier`, or the message of a failure.
    pub reason: String,
    /// The kind of a failure.
    pub kind: Option<String>,
    /// `verified`
    pub verified: Option<bool>,
    /// The number by which the record is named.
    pub line: Option<usize>,
    /// Whether it says that one of its calls was not applied.
    pub warned: bool,
    /// What its write is known by in the log of its machine.
    pub write: Option<String>,
}

impl Reported {
    /// Whether the record is done, or had nothing to do.
    pub fn is_fine(&self) -> bool {
        self.kind.is_none() && (self.applied == "yes" || self.reason == "unchanged")
    }
}

/// Everything outside the program, its disk excepted.
#[derive(Debug)]
pub struct World {
    /// Where all chance comes from.
    pub random: Random,
    start: Instant,
    /// Whether the service is a Magento shop.
    pub is_magento: bool,
    /// How network and service behave.
    pub faults: FaultProfile,
    /// What the service did besides, before everything was made good.
    pub began_with: Quirk,
    /// Whether answers to writes could be false then.
    pub began_misreported: bool,
    /// From when to when nothing went through then.
    pub began_with_outage: Option<(Duration, Duration)>,
    /// Whether profiles could not be read then.
    pub began_without_reads: bool,
    /// Whether replicas lagged behind then.
    pub began_with_lag: bool,
    /// Whether files could not always be read then.
    pub began_with_read_faults: bool,
    /// Set where nothing goes wrong at all.
    pub is_calm: bool,
    /// Set where replicas lag further than anybody promises.
    pub is_long_lag: bool,
    /// When a machine's clock was set forward.
    pub set_forward: Vec<(usize, Duration)>,
    /// When a machine's clock was set back.
    pub set_back: Vec<(usize, Duration)>,
    /// By how much all clocks were set back.
    pub lost_time: Duration,
    /// Since when everything is made good again.
    pub healing_since: Option<Duration>,
    /// All customers.
    pub customers: Vec<Customer>,
    /// As many orders, one of each.
    pub orders: Vec<Kept>,
    /// As many products.
    pub products: Vec<Kept>,
    /// The attributes that exist, by their codes.
    pub attributes: BTreeMap<String, Map<String, Value>>,
    /// The attributes that are in the attribute set, by their codes.
    pub assigned: BTreeSet<String>,
    /// Records that a person has noted as done.
    pub marked: BTreeSet<u32>,
    /// Histories that were deleted: on which machine, whose, and when.
    pub forgotten: Vec<(usize, usize, Duration)>,
    /// The answer that the cache keeps, and since when.
    pub cached: Option<(Duration, String)>,
    /// What our records ask for, by their tags.
    pub actions: BTreeMap<u32, Action>,
    /// What the plans expect of the profiles of their records.
    pub planned: BTreeMap<u32, Value>,
    /// The runs of the program.
    pub runs: Vec<Run>,
    /// All requests, by their numbers.
    pub requests: Vec<Sent>,
    /// All writes that took effect, in their order.
    pub effects: Vec<Effect>,
    /// What they changed of orders and products.
    pub changed: Vec<Changed>,
    /// All that was said.
    pub reported: Vec<Reported>,
    /// What foreign editors are going to do.
    pub edits: Vec<Edit>,
    /// What is going to happen, by its time.
    pub events: BTreeMap<(Duration, u64), Event>,
    sequence: u64,
    /// The id of the next address.
    pub next_address: i64,
    /// How often each rule had something to check.
    pub checked: RefCell<BTreeMap<Rule, u64>>,
    /// What was broken.
    pub broken: Vec<Break>,
    /// What was out of reach.
    pub out_of_reach: BTreeMap<OutOfReach, u64>,
    /// The records of which a warning said that their comment is not there.
    pub without_comment: BTreeSet<u32>,
    /// What has happened that should happen in some worlds.
    pub reached: BTreeSet<State>,
    /// Journals that somebody has cut.
    pub cut: BTreeSet<PathBuf>,
    /// What happened, for anyone who replays it.
    pub trace: Vec<String>,
    /// Whether it is kept.
    pub is_traced: bool,
}

impl World {
    /// A world with so many customers.
    pub fn new(seed: u64, customers: usize, is_magento: bool, faults: FaultProfile, is_traced: bool) -> Self {
        let is_rewritten = faults.quirk == Quirk::Notation;
        let customer = |number| {
            let mut customer = Customer::new(number, is_magento);
            if is_rewritten {
                notation::rewrite(&mut customer.now);
                customer.past = vec![(Duration::ZERO, customer.now.clone())];
            }
            customer
        };
        let orders = (0..customers).map(goods::order).collect();
        let products = (0..customers).map(|number| goods::product(number, number == 1)).collect();
        let customers = (0..customers).map(customer).collect();
        Self {
            random: Random::new(seed),
            start: Instant::now(),
            is_magento,
            began_with: faults.quirk,
            began_misreported: faults.misreported > 0,
            began_with_outage: faults.outage.map(|(from, until, _)| (from, until)),
            began_without_reads: faults.has_no_read,
            began_with_lag: faults.replicas != [Duration::ZERO; 2],
            began_with_read_faults: false,
            faults,
            is_calm: false,
            is_long_lag: false,
            set_forward: Vec::new(),
            set_back: Vec::new(),
            lost_time: Duration::ZERO,
            healing_since: None,
            customers,
            orders,
            products,
            attributes: BTreeMap::new(),
            assigned: BTreeSet::new(),
            marked: BTreeSet::new(),
            forgotten: Vec::new(),
            cached: None,
            actions: BTreeMap::new(),
            planned: BTreeMap::new(),
            runs: Vec::new(),
            requests: Vec::new(),
            effects: Vec::new(),
            changed: Vec::new(),
            reported: Vec::new(),
            edits: Vec::new(),
            events: BTreeMap::new(),
            sequence: 0,
            next_address: 1000,
            checked: RefCell::default(),
            broken: Vec::new(),
            out_of_reach: BTreeMap::new(),
            without_comment: BTreeSet::new(),
            reached: BTreeSet::new(),
            cut: BTreeSet::new(),
            trace: Vec::new(),
            is_traced,
        }
    }

    /// What is kept of an owner.
    pub fn kept(&self, owner: Owner) -> &Kept {
        match owner {
            Owner::Customer(number) => &self.customers[number].kept,
            Owner::Order(number) => &self.orders[number],
            Owner::Product(number) => &self.products[number],
        }
    }

    /// See [`Self::kept`].
    pub fn kept_mut(&mut self, owner: Owner) -> &mut Kept {
        match owner {
            Owner::Customer(number) => &mut self.customers[number].kept,
            Owner::Order(number) => &mut self.orders[number],
            Owner::Product(number) => &mut self.products[number],
        }
    }

    /// What is kept of the owner that a record with this number is about.
    pub fn kept_of(&self, tag: u32, number: usize) -> &Kept {
        self.kept(self.actions[&tag].owner(number))
    }

    /// The moment whose state a read of now shows: that of one of the replicas.
    pub fn replica(&mut self, at: Duration) -> Duration {
        let replica = usize::from(self.faults.replicas != [Duration::ZERO; 2] && self.random.chance(50));
        at.saturating_sub(self.faults.replicas[replica])
    }

    /// The time since the world began.
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// The time since the world began at this moment.
    pub fn time_of(&self, moment: Instant) -> Duration {
        moment - self.start
    }

    /// Writes down what happened at this moment, where somebody wants to know.
    pub fn log_at(&mut self, moment: Duration, what: impl FnOnce() -> String) {
        if self.is_traced {
            self.trace.push(format!("{:>9.3} {}", moment.as_secs_f64(), what()));
        }
    }

    /// The same of now.
    pub fn log(&mut self, what: impl FnOnce() -> String) {
        self.log_at(self.now(), what);
    }

    /// Notes that a rule was broken by a run, and by which request.
    pub fn broke(&mut self, rule: Rule, run: usize, request: Option<usize>, what: String) {
        let tag = request.and_then(|request| self.requests[request].tag);
        self.broke_of(rule, run, request, tag.as_slice(), what);
    }

    /// [`Self::broke`], with the records that it is about.
    pub fn broke_of(&mut self, rule: Rule, run: usize, request: Option<usize>, tags: &[u32], what: String) {
        let of = request.map(|request| format!("request {request}: ")).unwrap_or_default();
        let what = format!("run {run}: {of}{what}");
        self.log(|| format!("BROKEN ({rule:?}) {what}"));
        self.broken.push(Break { rule, tags: tags.to_vec(), what });
    }

    /// Takes note that a rule has something to check: what it forbids could have happened here.
    pub fn checks(&self, rule: Rule) {
        *self.checked.borrow_mut().entry(rule).or_default() += 1;
    }

    /// Counts something that is out of reach.
    pub fn count(&mut self, what: OutOfReach) {
        *self.out_of_reach.entry(what).or_default() += 1;
    }

    /// Takes note that something has happened that should happen in some worlds.
    pub fn reach(&mut self, state: State) {
        self.log(|| format!("reached: {state:?}"));
        self.reached.insert(state);
    }

    /// Sets what foreign editors do.
    pub fn plan(&mut self, edits: Vec<Edit>) {
        for edit in edits {
            let number = self.edits.len();
            if let Moment::At(time) = edit.moment {
                self.schedule(time, Event::Edit(number));
            }
            self.edits.push(edit);
        }
    }

    /// Lets a request arrive where its delivery says so; nobody has to wait for it.
    pub fn send(&mut self, request: Sent, delivery: &Delivery, on_its_way: Duration) -> usize {
        let number = self.requests.len();
        self.requests.push(request);
        if let Some(delay) = delivery.processed {
            let at = self.now() + on_its_way + delay;
            self.schedule(at, Event::Arrival(number, false));
            if let Some(later) = delivery.copy {
                self.schedule(at + later, Event::Arrival(number, true));
            }
        }
        number
    }

    fn schedule(&mut self, at: Duration, event: Event) {
        self.sequence += 1;
        self.events.insert((at, self.sequence), event);
    }

    /// The effects of a record.
    pub fn effects_of(&self, tag: u32) -> impl Iterator<Item = &Effect> {
        self.effects.iter().filter(move |effect| self.requests[effect.request].tag == Some(tag))
    }

    /// The machine on which a request was made.
    pub fn machine_of(&self, request: usize) -> usize {
        self.runs[self.requests[request].run].machine
    }

    /// Whether the clock of a machine was set forward between two moments.
    pub fn was_set_forward(&self, machine: usize, from: Duration, until: Duration) -> bool {
        self.set_forward.iter().any(|(of, at)| *of == machine && (from..=until).contains(at))
    }
}
