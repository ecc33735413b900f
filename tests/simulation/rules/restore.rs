//! What a restore may set back.

use serde_json::Value;

use crate::action::{Action, Undo};
use crate::customers::{Writer, addresses, content, fields, is_empty};
use crate::magento;
use crate::world::{Sent, World};

/// Whether the profile has had this value, and an update of ours has written the one that is there now.
pub fn was_value(world: &World, sent: &Sent, path: &str, now: Option<&Value>) -> bool {
    let Some(customer) = sent.replaces().map(|customer| &world.customers[customer]) else { return false };
    customer.past.iter().any(|(_, past)| {
        let past = if world.is_magento { &magento::plain(past) } else { past };
        let then = fields(past).get(path).copied();
        // Nothing may be written as null.
        then == now || then.is_none_or(is_empty) && now.is_none_or(is_empty)
    })
}

/// Whether the profile has had this address, and has it no more.
pub fn was_there(world: &World, sent: &Sent, address: &Value) -> bool {
    let (Some(customer), Some(wanted)) = (sent.replaces(), content(address)) else { return false };
    let has = |past: &crate::customers::Stored| {
        addresses(past).filter_map(content).any(|past| {
            // The service stores what stands for nothing in its own way.
            past.iter().all(|(name, value)| wanted.get(name).is_none_or(|wanted| wanted == value))
                && wanted.contains_key("street")
        })
    };
    world.customers[customer].past.iter().any(|(_, past)| has(past))
}

/// Whether the value of this path was written by an update of ours that is older than the one that a plain restore is
/// for: the newest on this machine that took effect.
pub fn undoes_another(world: &World, sent: &Sent, undo: &Undo, path: &str) -> Option<String> {
    let Undo::Newest(_) = undo else { return None };
    let customer = sent.replaces()?;
    let machine = world.runs[sent.run].machine;
    let is_update = |request: usize| {
        let other = &world.requests[request];
        let action = other.tag.map(|tag| &world.actions[&tag]);
        other.replaces() == Some(customer)
            && world.runs[other.run].machine == machine
            && other.at < sent.at
            && !matches!(action, Some(Action::Restore(_)))
    };
    let effects = world.effects.iter().map(|effect| effect.request);
    let newest = effects.filter(|request| is_update(*request)).max()?;
    let shown = sent.shown.as_ref()?;
    let (writer, _) = world.customers[customer].writer_at(path, shown.at)?;
    match writer {
        Writer::Ours(request)
            if request < newest
                && world.requests[request].tag != world.requests[newest].tag
                // A late copy has set back what the newest one had written.
                && !world.effects.iter().any(|effect| effect.request == request && effect.is_copy) =>
        {
            Some(format!("it undoes request {request} ({path}), and the newest update is request {newest}"))
        }
        _ => None,
    }
}
