//! The way of a request to the modelled service and of its answer back.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use serde_json::Value;

use super::action::{Action, named_in};
use super::call::Call;
use super::customers::Stored;
use super::disk::{Disk, Process};
use super::faults::{Delivery, ERRORS, Observed};
use super::goods::{self, Scope};
use super::rules;
use super::service::route;
use super::states::State;
use super::world::{Heard, Owner, Run, Sent, Shown, World};
use storefront::client::TransportError;
use storefront::client::transport::{Exchange, Incoming, Transport};

/// So long a shop may take to list the regions of a country: a profile that was read before is too old then.
const SLOW: Duration = Duration::from_secs(3);

/// The network as one run of the program uses it.
#[derive(Debug)]
pub struct Network {
    /// What is at its other end.
    pub world: Rc<RefCell<World>>,
    /// The disk of the machine: what it holds when a request leaves.
    pub disk: Arc<Mutex<Disk>>,
    /// Which run of the program it is.
    pub run: usize,
    /// Whether that lives.
    pub process: Arc<Mutex<Process>>,
    /// The profile that the run was given, in place of one that it could read (`--base`).
    pub base: Option<Stored>,
    /// What the run has read of each owner last, in a scope.
    pub shown: RefCell<BTreeMap<(Owner, Scope), Shown>>,
}

impl Transport for Network {
    fn exchange(&self, request: reqwest::Request, timeout: Duration) -> Exchange<'_> {
        Box::pin(self.carry(request, timeout))
    }
}

impl Network {
    async fn carry(&self, request: reqwest::Request, timeout: Duration) -> Result<Incoming, TransportError> {
        if self.process.lock().unwrap().is_dead {
            return std::future::pending().await;
        }
        let (number, delivery, there, back) = self.leave(&request, timeout);
        match delivery.observed {
            Observed::Silence => tokio::time::sleep(timeout).await,
            _ => tokio::time::sleep(there.min(timeout)).await,
        }
        let outcome = {
            let mut world = self.world.borrow_mut();
            world.catch_up();
            answer(&world, number, &delivery)
        };
        tokio::time::sleep(back).await;
        self.hear(number, delivery.observed, outcome.as_ref().ok());
        outcome
    }

    /// The request leaves: from here on its delivery does not depend on the client.
    fn leave(&self, request: &reqwest::Request, timeout: Duration) -> (usize, Delivery, Duration, Duration) {
        let mut world = self.world.borrow_mut();
        let world = &mut *world;
        world.catch_up();
        let body: Value =
            serde_json::from_slice(request.body().and_then(reqwest::Body::as_bytes).unwrap_or(b"null"))
                .unwrap();
        let token = request.headers()[AUTHORIZATION].to_str().unwrap().trim_start_matches("Bearer ");
        let mut call = route(world, request.method().as_str(), request.url(), token);
        if let Call::SaveAddress(_, id) = &mut call {
            *id = body["entity"]["entity_id"].as_i64().unwrap_or_default();
        }
        let mut sent = Sent {
            run: self.run,
            tag: None,
            call,
            at: world.now(),
            body,
            shown: None,
            heard: None,
            processed: None,
            reply: None,
        };
        let shown = sent.sets().and_then(|of| self.shown.borrow().get(&of).cloned());
        let is_of_profile = sent.profile_of().is_some();
        let base = self.base.clone().filter(|_| is_of_profile);
        sent.shown = shown.or_else(|| Some(Shown { profile: base?, at: world.now() }));
        sent.tag = record_of(world, &sent);
        let (number, now) = (world.requests.len(), world.now());
        let delivery = world.faults.delivery(&mut world.random, number, !sent.call.is_write(), now);
        let (there, mut back) = (world.random.millis(1, 120), world.random.millis(1, 80));
        let is_lookup = matches!(sent.call, Call::Country(_)) && !world.is_calm;
        if is_lookup && timeout > SLOW && world.random.chance(60) {
            back = SLOW;
            world.reach(State::SlowLookup);
        }
        world.log(|| {
            format!("run {} sends {number} ({:?} tag {:?}): {delivery:?}", self.run, sent.call, sent.tag)
        });
        world.send(sent, &delivery, there);
        rules::request::check(world, number, &self.disk.lock().unwrap());
        (number, delivery, there, back)
    }

    /// The answer arrives, or the client knows that there will be none.
    fn hear(&self, number: usize, observed: Observed, incoming: Option<&Incoming>) {
        let mut world = self.world.borrow_mut();
        let at = world.now();
        world.log(|| format!("run {} hears of {number}: {observed:?}", self.run));
        let is_answer = observed == Observed::Answer;
        let body = incoming.filter(|incoming| is_answer && incoming.status == 200);
        let body: Value =
            body.and_then(|incoming| serde_json::from_slice(&incoming.body).ok()).unwrap_or_default();
        let found =
            if world.is_magento { body.pointer("/items/0").unwrap_or(&body) } else { &body["customer"] };
        let profile = found.as_object().filter(|profile| profile.contains_key("addresses")).cloned();
        let reads = match &world.requests[number].call {
            Call::Read(customer) => Some(*customer),
            Call::Search(email) => {
                world.customers.iter().position(|customer| customer.now["email"] == email.as_str())
            }
            _ => None,
        };
        let mut last = self.shown.borrow_mut();
        if let (Some(customer), Some(profile)) = (reads, &profile) {
            last.insert((Owner::Customer(customer), Scope::All), Shown { profile: profile.clone(), at });
        }
        let call = &world.requests[number].call;
        let goods = goods::shown_by(call, &body);
        for (owner, scope, stored) in goods.iter().filter(|_| !call.is_write()) {
            last.insert((*owner, *scope), Shown { profile: stored.clone(), at });
        }
        let status = incoming.map(|incoming| incoming.status);
        world.requests[number].heard = Some(Heard { at, observed, status, profile, goods });
    }
}

/// The record that a write belongs to. Most bodies carry a name that is only theirs. A PUT of a batch is of the record
/// whose address it adds, or whose change it makes that the last read did not show; where all are shown already, of any that it
/// has. An editor may have added the same street.
fn record_of(world: &World, sent: &Sent) -> Option<u32> {
    let (run, call, body, shown) = (&world.runs[sent.run], &sent.call, &sent.body, sent.shown.as_ref());
    if !call.is_write() {
        return None;
    }
    if !run.is_batch && sent.sets().is_some() {
        return Some(run.command);
    }
    if let Some((owner @ (Owner::Order(number) | Owner::Product(number)), _)) = sent.sets() {
        let is_of = |(tag, of): &&(u32, usize)| *of == number && world.actions[tag].owner(*of) == owner;
        let made: Vec<u32> = run
            .records
            .iter()
            .filter(is_of)
            .map(|(tag, _)| *tag)
            .filter(|tag| goods::is_made_by(&world.actions[tag], sent))
            .collect();
        let is_new = |tag: &&u32| shown.is_none_or(|shown| !world.actions[tag].is_shown_by(&shown.profile));
        return made.iter().find(is_new).or(made.last()).copied();
    }
    if let Call::Remove(customer, id) = call {
        return removing(world, run, *customer, *id);
    }
    let Call::Put(customer) = call else { return named_in(body) };
    let body = body["customer"].as_object()?;
    let records = run.records.iter().filter(|(_, of)| of == customer).map(|(tag, _)| *tag);
    // Addresses that go by calls of their own are still in it.
    let by_call = world.is_magento && run.token.is_none();
    // A plan that undoes a batch has one record of each customer.
    let undoes = |tag: &u32| matches!(world.actions[tag], Action::Restore(_));
    if let Some(tag) =
        run.records.iter().map(|(tag, _)| *tag).filter(undoes).find(|tag| is_of(run, *tag, *customer))
    {
        return Some(tag);
    }
    // Magento is sent an empty text for null.
    let shows = |tag: &u32, profile: &Stored| {
        let action = &world.actions[tag];
        let is_null = matches!(action, Action::Set(_, _, Value::Null));
        action.is_shown_by(profile) || is_null && action.is_alike_in(profile)
    };
    let is_made = |tag: &u32| shows(tag, body) || by_call && world.actions[tag].is_added_by(body);
    let made: Vec<u32> = records.filter(is_made).collect();
    let is_new = |tag: &&u32| shown.is_none_or(|shown| !shows(tag, &shown.profile));
    let adds = |tag: &&u32| world.actions[tag].is_added_by(body);
    made.iter().find(adds).or_else(|| made.iter().find(is_new)).or(made.last()).copied()
}

fn is_of(run: &Run, tag: u32, customer: usize) -> bool {
    run.records.contains(&(tag, customer))
}

/// The record of a batch that removes an address by its own call: the one whose PUT came last, else the first that does not
/// keep it.
fn removing(world: &World, run: &Run, customer: usize, id: i64) -> Option<u32> {
    let removes = |tag: &u32| match &world.actions[tag] {
        Action::Remove(named, _) => *named == id,
        Action::Replace(kept, ..) => !kept.contains(&id),
        Action::Restore(_) => true,
        _ => false,
    };
    let of_run = |sent: &&Sent| std::ptr::eq(run, &raw const world.runs[sent.run]);
    let put = world
        .requests
        .iter()
        .rev()
        .filter(of_run)
        .find(|sent| sent.profile_of() == Some(customer) && sent.tag.is_some());
    let mut records = run.records.iter().filter(|(_, of)| *of == customer).map(|(tag, _)| *tag);
    put.and_then(|put| put.tag).filter(removes).or_else(|| records.find(removes))
}

fn answer(world: &World, number: usize, delivery: &Delivery) -> Result<Incoming, TransportError> {
    let lost = |sent, message: &str| TransportError {
        sent,
        is_permanent: false,
        message: message.to_owned(),
        hint: None,
    };
    let status = |status, retry_after: Option<u64>, body: &str| {
        let mut headers = HeaderMap::new();
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        Incoming { status, headers, body: body.as_bytes().to_vec(), broken: None }
    };
    match delivery.observed {
        Observed::Refused => Err(lost(false, "no connection")),
        Observed::Silence => Err(lost(true, "no answer in time")),
        Observed::Reset => Err(lost(true, "the connection broke")),
        Observed::Status(code, retry_after) => Ok(status(code, retry_after, r#"{"message":"a fault"}"#)),
        Observed::Error(number) => Ok(status(200, None, ERRORS[number])),
        Observed::NoList => {
            let customer = r#"{"id":1,"email":"c1@example.com","firstname":"First","lastname":"Last"}"#;
            let body = format!(r#"{{"customer":{customer}}}"#);
            Ok(status(200, None, if world.is_magento { customer } else { &body }))
        }
        Observed::Page(code) => Ok(status(code, Some(1), "<!DOCTYPE html><html>a page</html>")),
        Observed::Answer | Observed::Cut => {
            let Some((code, body)) = &world.requests[number].reply else {
                return Err(lost(true, "the connection broke"));
            };
            let mut incoming = status(*code, None, body);
            if delivery.observed == Observed::Cut {
                incoming.body.truncate(body.len() / 2);
                incoming.broken = Some("response body ended unexpectedly".to_owned());
            }
            Ok(incoming)
        }
    }
}
