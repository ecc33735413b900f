//! Product attributes: reading and creating them, putting them into sets, and adding options.

pub mod assign;
pub mod catalog;
mod created;
pub mod exchange;
pub mod names;
mod option_owner;
pub mod options;
pub mod removal;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use self::assign::Place;
use self::created::Creation;
use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use crate::input::Draft;
use crate::ops::calls::{Calls, Planned, preview};
use crate::ops::{found_in_part, request, target_without_customer};
use crate::report::outcome::{Call, Outcome};
use crate::write;
use storefront_core::absent::Absent;
use storefront_core::attribute::StoredOptions;
use storefront_core::attribute::export::UNKNOWN;
use storefront_core::attribute::view::Attribute;
use storefront_core::effect::Effect;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::dialect::Dialect;
use storefront_core::interface::request::{Bearer, Filter, Request};
use storefront_core::operation::{ATTRIBUTE_CREATE, Success, scalar};
use storefront_core::profile::path::List;

/// The request that reads the attribute of this code; `None` if neither the interface nor a setting has a path.
pub fn read_request(service: &Service<'_>, code: &str) -> Option<Request> {
    let path = service.settings.read.attribute_path.as_deref().or(service.settings.dialect.attribute)?;
    let path = target_without_customer(service).path(path, &[("code", code)]);
    Some(Request::get(path, Bearer::Admin))
}

/// Reads the attribute of this code by such a request.
///
/// # Errors
/// `usage` if no attribute has this code, and as [`Service::read`].
pub async fn read_named(service: &Service<'_>, request: &Request, code: &str) -> Result<Value, Failure> {
    let failure = match service.read(request).await {
        Ok(reply) => return Ok(reply.value),
        Err(failure) if is_absent(&failure) => Failure::usage(format!("the shop has no attribute `{code}`")),
        Err(failure) => return Err(failure),
    };
    let create = storefront("attribute create");
    Err(failure.hint(if service.settings.dialect.changes_attributes {
        let list = storefront("attribute list");
        hint!("check the code: ", list, " lists the attributes, and ", create, " creates one")
    } else {
        hint!("check the code and `read.attribute-path`; ", create, " creates an attribute")
    }))
}

/// Whether the service says that no attribute has the code that was asked for.
pub fn is_absent(failure: &Failure) -> bool {
    matches!(failure.absent, Some(Absent::Attribute | Absent::Entity))
}

/// Reads an attribute with the labels of administrators.
///
/// # Errors
/// As [`read_named`].
async fn read_existing(service: &Service<'_>, code: &str) -> Result<Map<String, Value>, Failure> {
    let shown = read_named(service, &read_all(service, code)?, code).await?;
    Attribute::shown(&shown)
        .map(|shown| shown.0.clone())
        .ok_or_else(|| Failure::unexpected_reply("unexpected response: not an attribute").hint(LOOK_CLOSER))
}

/// Reads an attribute with the label of its default option, and the labels of all store views; for options those that
/// differ from the administrators'. It takes one request for each store view.
///
/// # Errors
/// As [`read_named`].
pub async fn read_whole(service: &Service<'_>, code: &str) -> Result<Map<String, Value>, Failure> {
    let mut whole = read_existing(service, code).await?;
    let default = whole.get("default_value").and_then(Value::as_str).unwrap_or_default().to_owned();
    let views = names::store_views(service).await?;
    for label in objects(&mut whole, "frontend_labels") {
        let view = views.iter().find(|view| scalar(label.get("store_id")).as_ref() == Some(&view.id));
        view.map(|view| label.insert("store_id".to_owned(), view.name.clone().into()));
    }
    for option in objects(&mut whole, "options") {
        // A multiselect may have several defaults.
        let is_default =
            default.split(',').any(|default| option.get("value").is_some_and(|it| it == default));
        option.insert("is_default".to_owned(), is_default.into());
        option.insert("store_labels".to_owned(), json!([]));
    }
    let has_options = !Attribute(&whole).labels_by_id().is_empty();
    for view in views.iter().filter(|view| has_options && view.id != "0") {
        let values = [("view", view.name.as_str()), ("code", code)];
        let path = names::path(service, "/{view}/V1/products/attributes/{code}", &values)?;
        let shown = service.read(&Request::get(path, Bearer::Admin)).await?.value;
        let labels = Attribute::in_reply(&shown).map(Attribute::labels_by_id).unwrap_or_default();
        for option in objects(&mut whole, "options") {
            let own = scalar(option.get("value")).and_then(|id| labels.get(&id));
            let own = own.filter(|own| option.get("label").is_none_or(|label| label != own.as_str()));
            if let (Some(own), Some(Value::Array(labels))) = (own, option.get_mut("store_labels")) {
                labels.push(json!({"store_id": view.name, "label": own}));
            }
        }
    }
    Ok(whole)
}

/// The objects of a list that a reply has under this name. What else is in there stays as it came.
fn objects<'a>(
    whole: &'a mut Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let list = whole.get_mut(name).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// The request that reads an attribute with the labels of administrators, if the interface has it.
///
/// # Errors
/// As [`names::path`].
pub fn read_all(service: &Service<'_>, code: &str) -> Result<Request, Failure> {
    let path = names::path(service, "/all/V1/products/attributes/{code}", &[("code", code)])?;
    Ok(Request::get(path, Bearer::Admin))
}

/// The name of the first call of a creation.
const CREATE: &str = "create";

/// Puts a `textarea` with `is_wysiwyg_enabled` in place of a `texteditor` whose values the service would not store.
pub fn replace_texteditor(dialect: &Dialect, attribute: &mut Map<String, Value>) {
    if !dialect.stores_texteditor && attribute.get("frontend_input").is_some_and(|it| it == "texteditor") {
        attribute.insert("frontend_input".to_owned(), "textarea".into());
        attribute.insert("is_wysiwyg_enabled".to_owned(), true.into());
    }
}

/// Creates the attribute and puts it into the sets that are named, or shows what would be sent. Names are looked up
/// before anything is sent. `created_earlier` is the id of the attribute that an earlier run created: then only its
/// assignments are sent.
///
/// # Errors
/// As [`write::carry_out`]; `usage` for names that the shop does not have, `refused` if the code exists, `partial` if it
/// was created and an assignment failed.
pub async fn create(
    service: &Service<'_>,
    draft: &Draft,
    created_earlier: Option<u64>,
) -> Result<Outcome, Failure> {
    let mut draft = draft.clone();
    let sets = Attribute(&draft.fields).set_names();
    draft.fields.shift_remove("attribute_set");
    draft.fields.shift_remove(UNKNOWN);
    if service.settings.dialect.changes_attributes {
        number_options(&mut draft.fields);
    }
    names::resolve_store_views(service, &mut draft.fields).await?;
    replace_texteditor(service.settings.dialect, &mut draft.fields);
    let groups = names::find_groups(service, &sets).await?;
    if groups.is_empty() {
        return create_only(service, &draft).await;
    }
    let code = Attribute(&draft.fields).code();
    let count = groups.len();
    let places = Place::all(service, code, None, groups.clone());
    let assignments = assign::planned(&places)?;
    if service.session.global.dry_run {
        let first = request(service, &draft, service.settings.dialect.create_attribute)?;
        let calls = [(CREATE.to_owned(), first)].into_iter().chain(assignments).collect();
        return Ok(preview(service, ATTRIBUTE_CREATE.name, calls));
    }
    let (calls, id) = create_first(service, &draft, created_earlier, &assignments).await?;
    // The attribute has an id since the first call.
    let places = Place::all(service, code, id, groups);
    let outcome = assign::send(service, calls, code, &places).await;
    let outcome = outcome.map_err(|failure| {
        let message =
            format!("the attribute was created, but not put into all of its sets: {}", failure.message);
        Failure { created: id, message, ..failure }
    })?;
    let sets = if count == 1 { "set" } else { "sets" };
    let text = format!("Created attribute {code} and put it into {count} attribute {sets}");
    Ok(Outcome { success: Some(Success { text, covers_response: true }), ..outcome })
}

/// The first call: creates the attribute, unless an earlier run did. Returns its id, if known.
///
/// # Errors
/// As [`create_only`].
async fn create_first<'a>(
    service: &'a Service<'a>,
    draft: &Draft,
    created_earlier: Option<u64>,
    assignments: &[Planned],
) -> Result<(Calls<'a>, Option<u64>), Failure> {
    let mut calls = Calls::new(service, ATTRIBUTE_CREATE.name);
    let code = Attribute(&draft.fields).code();
    if created_earlier.is_some() && created_earlier == Attribute(&read_existing(service, code).await?).id() {
        calls.skip(CREATE, "done earlier");
        return Ok((calls, created_earlier));
    }
    match create_only(service, draft).await {
        Ok(Outcome { status, response, .. }) => {
            let mut id = response.as_ref().and_then(|reply| Attribute::in_reply(reply)?.id());
            if id.is_none() {
                // The answer was lost: a resumed run must know that the attribute is ours.
                id = read_existing(service, code).await.ok().and_then(|it| Attribute(&it).id());
            }
            calls.push(Call { status, response, ..Call::new(CREATE, Applied::Yes) });
            Ok((calls, id))
        }
        Err(failure) => {
            calls.push(Call::failed(CREATE, &failure));
            Err(calls.failed(failure, assignments, None))
        }
    }
}

/// Numbers the options if none has a place, as in an export: the shop orders equal places as it likes.
fn number_options(fields: &mut Map<String, Value>) {
    if objects(fields, "options").any(|option| option.contains_key("sort_order")) {
        return;
    }
    for (place, option) in (1..).zip(objects(fields, "options")) {
        option.insert("sort_order".to_owned(), Value::from(place));
    }
}

/// Resolves the store views and sets that an attribute, or its options, name.
///
/// # Errors
/// `usage` for names that the shop does not have, and as [`Service::read`].
pub async fn resolve_names(service: &Service<'_>, asked: &Map<String, Value>) -> Result<(), Failure> {
    names::resolve_store_views(service, &mut asked.clone()).await?;
    names::find_groups(service, &Attribute(asked).set_names()).await.map(drop)
}

/// Creates the attribute, or shows what would be sent. If attributes can be read, it is read first, because some shops
/// replace an attribute of the same code. After an unknown outcome it is read, too.
///
/// # Errors
/// As [`write::carry_out`]; `refused` if the code exists.
async fn create_only(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let asked = Attribute(&draft.fields);
    let request = request(service, draft, service.settings.dialect.create_attribute)?;
    if service.session.global.dry_run {
        return Ok(Outcome::dry_run(ATTRIBUTE_CREATE.name, service.preview(request)));
    }
    let read = Some(asked.code()).filter(|code| !code.is_empty());
    let read = read.and_then(|code| read_request(service, code));
    if let Some(read) = &read {
        ensure_absent(service, asked, read).await?;
    }
    let creation = Creation { service, asked, read: read.as_ref() };
    // The answer has the whole attribute: after success nothing more is read.
    let call =
        write::Call { is_looked_at_later: true, ..write::Call::new(CREATE, request, creation.effect()) };
    let written = write::carry_out(service, ATTRIBUTE_CREATE.name, &creation, call).await?;
    let Some(reply) = written.reply else {
        return Ok(Outcome {
            status: written.status,
            applied: Applied::Yes,
            verified: Some(true),
            ..Outcome::not_sent(ATTRIBUTE_CREATE.name)
        });
    };
    // Only people read it.
    let is_read = !service.session.report.is_json();
    let success = is_read.then(|| created(asked, &reply.value)).flatten();
    Ok(Outcome { success, ..Outcome::applied(&ATTRIBUTE_CREATE, reply.status, reply.value) })
}

/// Refuses an attribute that exists.
///
/// # Errors
/// `refused` if it exists, and as [`Service::read`].
async fn ensure_absent(service: &Service<'_>, asked: Attribute<'_>, read: &Request) -> Result<(), Failure> {
    match service.read(read).await {
        Ok(reply) if Attribute::shown(&reply.value).is_some() => Err(exists(asked)),
        Ok(_) => {
            let message = "whether the attribute exists could not be read: the response is not an attribute";
            Err(Failure::unexpected_reply(message).hint(LOOK_CLOSER))
        }
        Err(failure) if is_absent(&failure) => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// Whether the attribute of an earlier run exists as it was asked for, and is in its sets. `None` while that is unknown.
///
/// # Errors
/// [`found_in_part`] if an assignment is missing.
pub async fn resolve_unknown(
    service: &Service<'_>,
    asked: &Map<String, Value>,
) -> Result<Option<Outcome>, Failure> {
    let asked = Attribute(asked);
    let code = asked.code();
    let Some(request) = read_request(service, code) else { return Ok(None) };
    // What cannot be read or looked up stays unknown.
    let Ok(reply) = service.read(&request).await else { return Ok(None) };
    let Some(stored) = Attribute::in_reply(&reply.value).filter(|stored| stored.is_as(asked)) else {
        return Ok(None);
    };
    let Some(missing) = assign::missing(service, asked).await else { return Ok(None) };
    if missing.is_empty() {
        return Ok(Some(Outcome::seen_earlier(ATTRIBUTE_CREATE.name)));
    }
    let message = format!("the attribute was created, and is not known to be in {}", missing.join(", "));
    Err(Failure { created: stored.id(), ..found_in_part(message) })
}

fn created(asked: Attribute<'_>, reply: &Value) -> Option<Success> {
    let stored = Attribute::in_reply(reply);
    let shown = |field| scalar(stored?.0.get(field));
    let code = shown("attribute_code").or_else(|| scalar(asked.0.get("attribute_code")))?;
    let id = shown("attribute_id");
    let covers_response = id.is_some();
    let id = id.map(|id| format!(" (id {id})")).unwrap_or_default();
    Some(Success { text: format!("Created attribute {code}{id}"), covers_response })
}

fn exists(asked: Attribute<'_>) -> Failure {
    let code = asked.code();
    Failure::new(FailureKind::Refused, format!("attribute `{code}` already exists")).hint(hint!(
        storefront("attribute show").arg(code),
        " prints it; choose another code for a new attribute"
    ))
}

async fn is_in_set(service: &Service<'_>, code: &str, set: &str) -> Result<bool, Failure> {
    let codes = BTreeSet::from([code]);
    let filters = catalog::only(&codes).into_iter().chain([Filter::equal(&["attribute_set_id"], set)]);
    Ok(!catalog::members(service, &filters.collect::<Vec<_>>(), &codes).await?.is_empty())
}

/// The attribute with this id, with its options and the sets that `effect` names, as effects see it; `None` if it is
/// gone.
///
/// # Errors
/// As [`Service::read`].
pub async fn by_id(
    service: &Service<'_>,
    id: &str,
    effect: &Effect,
) -> Result<Option<(String, Map<String, Value>)>, Failure> {
    // The shop cannot search by this id: other joined tables have the column, too.
    let all = catalog::read(service, catalog::ADMINISTRATORS, &[], Some("attribute_id"), |_, _| ()).await?;
    let is_it =
        |attribute: &&Map<String, Value>| scalar(attribute.get("attribute_id")).as_deref() == Some(id);
    let Some(code) = all.iter().find(is_it).and_then(|attribute| scalar(attribute.get("attribute_code")))
    else {
        return Ok(None);
    };
    let mut whole = read_existing(service, &code).await?;
    // Attributes of other types have no options, or show them as they are.
    if let Ok(options) = StoredOptions::of(Attribute(&whole)) {
        whole.extend(options.document());
    }
    let mut sets = Vec::new();
    for change in &effect.changes {
        let set = change.path.element_id().filter(|_| List::of(&change.path) == Some(List::Sets));
        if let (Some(set), Some(Some(there))) = (set, change.after(&[]))
            && is_in_set(service, &code, &set.to_string()).await?
        {
            sets.push(there);
        }
    }
    whole.insert(List::Sets.name().to_owned(), sets.into());
    Ok(Some((code, whole)))
}
