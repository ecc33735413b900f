//! The way of a request to the modelled service and of its answer back.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use serde_json::Value;

use super::customers::Stored;
use super::disk::Process;
use super::faults::{Delivery, Observed};
use super::invariants;
use super::world::{Sent, Shown, World};
use crate::http::TransportError;
use crate::http::transport::{Exchange, Incoming, Outgoing, Transport};

/// The network as one run of the program uses it.
#[derive(Debug)]
pub struct Network {
    /// What is at its other end.
    pub world: Rc<RefCell<World>>,
    /// Which run of the program it is.
    pub run: usize,
    /// Whether that lives.
    pub process: Arc<Mutex<Process>>,
    /// The record of a run that has only one: a restore names none in its body.
    pub tag: Option<u32>,
    /// What the run has read of each customer last.
    pub shown: RefCell<BTreeMap<usize, Shown>>,
}

impl Transport for Network {
    fn exchange(&self, request: Outgoing, timeout: Duration) -> Exchange<'_> {
        Box::pin(self.carry(request, timeout))
    }
}

impl Network {
    async fn carry(&self, request: Outgoing, timeout: Duration) -> Result<Incoming, TransportError> {
        if self.process.lock().unwrap().is_dead {
            return std::future::pending().await;
        }
        let is_read = request.method == reqwest::Method::GET;
        let (number, customer, delivery, there, back) = self.leave(&request, is_read);
        match delivery.observed {
            Observed::Silence => tokio::time::sleep(timeout).await,
            _ => tokio::time::sleep(there.min(timeout)).await,
        }
        let outcome = {
            let mut world = self.world.borrow_mut();
            world.catch_up();
            world.log(|| format!("run {} request {number}: {:?}", self.run, delivery.observed));
            answer(&world, number, &delivery)
        };
        tokio::time::sleep(back).await;
        let now = self.world.borrow().now();
        self.world.borrow_mut().requests[number].heard = Some((now, delivery.observed == Observed::Answer));
        if let (true, Some(customer), Observed::Answer, Ok(incoming)) =
            (is_read, customer, delivery.observed, &outcome)
        {
            let body: Value = serde_json::from_slice(&incoming.body).unwrap();
            if let Some(profile) = body["customer"].as_object() {
                let at = self.world.borrow().now();
                let shown =
                    Shown { profile: profile.clone(), at, writes: self.process.lock().unwrap().writes };
                self.shown.borrow_mut().insert(customer, shown);
            }
        }
        outcome
    }

    /// The request leaves: from here on its delivery does not depend on the client.
    fn leave(
        &self,
        request: &Outgoing,
        is_read: bool,
    ) -> (usize, Option<usize>, Delivery, Duration, Duration) {
        let mut world = self.world.borrow_mut();
        let world = &mut *world;
        world.catch_up();
        let body: Value = serde_json::from_str(request.body.as_deref().unwrap_or("null")).unwrap();
        let token = request.headers[AUTHORIZATION].to_str().unwrap().trim_start_matches("Bearer ");
        let is_profile = request.url.path().ends_with("/customer/profile");
        let customer =
            world.customers.iter().position(|customer| customer.token == token).filter(|_| is_profile);
        let shown = customer.and_then(|customer| self.shown.borrow().get(&customer).cloned());
        let tag = self.tag.or_else(|| match customer {
            Some(customer) => record_of(
                world,
                self.run,
                customer,
                &body["customer"],
                shown.as_ref().map(|shown| &shown.profile),
            ),
            None => tag_of(&body),
        });
        let tag = tag.filter(|_| !is_read);
        let same = |sent: &&Sent| sent.run == self.run && sent.tag.is_some() && sent.tag == tag;
        let attempt = 1 + u32::try_from(world.requests.iter().filter(same).count()).unwrap();
        let (number, now) = (world.requests.len(), world.now());
        let delivery = world.fault_profile.delivery(&mut world.random, number, is_read, now);
        let (there, back) = (world.random.millis(1, 120), world.random.millis(1, 80));
        let process = self.process.lock().unwrap();
        let sent = Sent {
            run: self.run,
            tag,
            customer,
            at: now,
            attempt,
            body,
            shown,
            snapshot: customer
                .and_then(|customer| process.snapshots.get(&(customer + 1).to_string()).cloned()),
            heard: None,
            reply: None,
        };
        world.log(|| {
            format!(
                "run {} sends {number} ({} tag {tag:?} customer {customer:?}): {delivery:?}",
                self.run, request.method
            )
        });
        let (is_put, writes) = (!is_read && customer.is_some(), process.writes);
        world.send(sent, &delivery, there);
        if is_put {
            invariants::check_request(world, number, writes);
        }
        (number, customer, delivery, there, back)
    }
}

/// The record of a batch that a PUT belongs to: the one whose change it makes that the last read did not show; where all
/// are shown already, any that it has.
fn record_of(
    world: &World,
    run: usize,
    customer: usize,
    body: &Value,
    shown: Option<&Stored>,
) -> Option<u32> {
    let records = world.runs[run].records.iter().filter(|(_, of)| *of == customer);
    let body = body.as_object()?;
    let has = |profile: &Stored, tag: &u32| world.actions[tag].is_shown_by(profile);
    let made: Vec<u32> = records.map(|(tag, _)| *tag).filter(|tag| has(body, tag)).collect();
    let is_new = |tag: &&u32| shown.is_none_or(|shown| !has(shown, tag));
    made.iter().find(is_new).or(made.last()).copied()
}

/// The record a body belongs to: it carries a name that is only its own.
fn tag_of(body: &Value) -> Option<u32> {
    let names =
        [&body["cartItem"]["sku"], &body["attribute"]["attribute_code"], &body["paymentMethod"]["method"]];
    let name = names.into_iter().find_map(Value::as_str)?;
    name.rsplit('_').next()?.parse().ok()
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
