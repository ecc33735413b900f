//! `storefront apply`: whether a plan may be applied, and what a person sees of it before. The journal prevents that
//! anything is done twice; a copy of the file, which would have its own journal, is recognized by the plan's id.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::{Map, Value};

use super::{PLAN_AGAIN, Plan, Planned, is_there, journal_of};
use crate::client::Session;
use crate::client::service::Service;
use crate::log::WriteLog;
use crate::report::fields::format_value;
use crate::report::profile;
use crate::report::style::TextStyle;
use crate::report::summary::{count_more_records, count_records, list_lines, sent_again};
use crate::report::{Report, changes};
use crate::system::storage::real_path;
use storefront_core::failure::Failure;
use storefront_core::operation::{OperationSpec, UNDO, UNDO_DELETED, UNDO_DELETES, UNDO_OWNER, scalar};
use storefront_core::profile::path::FieldPath;
use storefront_core::text::hash::fnv1a;
use storefront_core::text::sanitize::sanitize_line;

/// How many records are shown before the question, besides those that delete something.
const MAX_SHOWN: usize = 20;

/// How many deletions a question names.
const MAX_NAMED: usize = 3;

/// Refuses a plan for another service, one that was applied already, and one that is started too late.
///
/// # Errors
/// `guard`.
pub fn admit(service: &Service<'_>, plan: &Plan) -> Result<(), Failure> {
    let context = service.session.context;
    let header = &plan.header;
    ensure_same_service(service, "plan", [&header.service, &header.interface], header.store_view.as_deref())?;
    let journal = journal_of(&real_path(&plan.path));
    let is_begun = is_there(&*context.storage, &journal);
    let log = WriteLog::to_write(context, service.session.global.dry_run)?;
    match log.map(|log| log.started_plan(&header.id)).transpose()?.flatten() {
        Some(started) if started != name(&journal) || !is_begun => Err(already_applied(plan, &started)),
        _ if !is_begun && context.clock.now() >= header.expires => {
            let message = format!("plan `{}` expired at {}", plan.path.display(), header.expires);
            Err(Failure::guard(message).hint(PLAN_AGAIN))
        }
        _ => Ok(()),
    }
}

/// Refuses a file, a plan or a journal, that is of another service: its base URL, its interface, or its store view.
///
/// # Errors
/// `guard`.
pub fn ensure_same_service(
    service: &Service<'_>,
    file: &str,
    [url, interface]: [&str; 2],
    store_view: Option<&str>,
) -> Result<(), Failure> {
    let id = service.settings.service_id();
    let view = service.settings.store_view.as_ref().map_or("none", |view| view.code());
    let choose = |flag: String| format!("choose it with {flag}");
    let choose_view = store_view
        .map_or("leave --store-view out".to_owned(), |view| choose(format!("`--store-view {view}`")));
    for (what, noted, ours, hint) in [
        ("service", url, &*id.url, choose("--profile".to_owned())),
        ("interface", interface, &id.interface, choose(format!("`--api {interface}`"))),
        ("store view", store_view.unwrap_or("none"), view, choose_view),
    ] {
        if noted != ours {
            let message = format!("the {file} is for the {what} `{noted}`, not for `{ours}`");
            return Err(Failure::guard(message).hint(hint));
        }
    }
    Ok(())
}

/// Notes that a plan is started with this journal, before anything of it is sent; `is_new` says that the journal was just
/// created for it.
///
/// # Errors
/// `guard` if another copy of the plan was started meanwhile, or if it cannot be noted.
pub async fn claim(
    session: &Session<'_>,
    log: &WriteLog,
    plan: &Plan,
    journal: &Path,
    is_new: bool,
) -> Result<(), Failure> {
    match log.start_plan(&plan.header.id, &name(journal)).await? {
        Some(started) if started != name(journal) => {
            // Without the new journal the plan does not seem started when it is tried again.
            if is_new {
                let failed =
                    |error| Failure::internal(format!("cannot delete `{}`: {error}", journal.display()));
                session.context.storage.remove(journal).map_err(failed)?;
            }
            Err(already_applied(plan, &started))
        }
        _ => Ok(()),
    }
}

/// The name of a journal in the log.
fn name(journal: &Path) -> String {
    journal.display().to_string()
}

fn already_applied(plan: &Plan, journal: &str) -> Failure {
    let plan = plan.path.display();
    Failure::guard(format!("plan `{plan}` was applied already, with journal `{journal}`")).hint(PLAN_AGAIN)
}

/// Shows the records that are going to be sent, by their numbers, and asks once. The plan shows all deletions, so the
/// question, or `--yes`, confirms them, too. If some records are sent `again`, that needs a yes.
///
/// # Errors
/// As [`crate::prompt::Prompt::confirm`] and [`crate::prompt::Prompt::confirm_deletion`].
pub fn confirm(
    session: &Session<'_>,
    operation: &OperationSpec,
    plan: &Plan,
    again: u64,
    is_sent: impl Fn(u64) -> bool,
) -> Result<(), Failure> {
    let prompt = session.prompt();
    let sent = RecordsToSend::of(plan, is_sent)?;
    if prompt.can_ask() && !prompt.assume_yes() {
        prompt.show(&sent.text(session, plan)?);
    }
    if again > 0 {
        session.report.warn(&sent_again(again));
    }
    if *operation == UNDO {
        return sent.confirm_undo(session);
    }
    let noun = if operation.key_field == Some("sku") { "product" } else { "customer" };
    let question = match sent.changes {
        0 => format!("{} {}", operation.batch_action, count_records(sent.records.len() as u64)),
        changes => format!("Apply {} to {}", count(changes, "change"), count(sent.owners.len(), noun)),
    };
    match (sent.addresses, sent.items) {
        (0, 0) if again > 0 => prompt.confirm_deletion(&format!("{question}?")),
        (0, 0) => prompt.confirm(&format!("{question}?")),
        (1, _) => prompt.confirm_deletion(&format!("{question} and delete 1 address?")),
        (0, items) => prompt.confirm_deletion(&format!("{question} and remove {}?", count(items, "item"))),
        (addresses, _) => prompt.confirm_deletion(&format!("{question} and delete {addresses} addresses?")),
    }
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A body in one line, without its wrapper: `attribute_code: size, options: S / M / L`.
fn input_text(input: &Map<String, Value>) -> String {
    let mut values = input.values();
    let fields =
        values.next().and_then(Value::as_object).filter(|_| values.next().is_none()).unwrap_or(input);
    let field =
        |(name, value): (&String, &Value)| format!("{}: {}", sanitize_line(name), format_value(Some(value)));
    fields.iter().map(field).collect::<Vec<_>>().join(", ")
}

/// What a record changes: whose profile or cart, or which attribute.
pub fn owner(record: &Planned) -> String {
    let owner = profile::owner(&record.expect.owner);
    if !owner.is_empty() {
        return sanitize_line(&owner);
    }
    if let Some(owner) = scalar(record.input.get(UNDO_OWNER)) {
        return owner;
    }
    let of_product = |name: &str| scalar(record.expect.owner.get(name));
    if let Some(sku) = of_product("sku") {
        let view = of_product("store_view").map(|view| format!(" in store view {view}")).unwrap_or_default();
        return sanitize_line(&format!("product {sku}{view}"));
    }
    let mut bodies = record.input.values().filter_map(Value::as_object).chain([&record.input]);
    let code = bodies.find_map(|body| scalar(body.get("attribute_code")));
    let attribute = code.map(|code| format!("attribute {code}"));
    let named = attribute.or_else(|| Some(format!("customer {}", record.customer.as_ref()?)));
    named.map_or_else(|| "the token's own customer".to_owned(), |named| sanitize_line(&named))
}

/// Shows the warnings of a plan, each once, with its records.
///
/// # Errors
/// As [`Plan::each`].
pub fn warn(report: &Report, plan: &Plan) -> Result<(), Failure> {
    let mut known: Vec<(String, Vec<u64>)> = Vec::new();
    plan.each(|number, record| {
        for warning in record.warnings {
            match known.iter_mut().find(|(text, _)| *text == warning) {
                Some((_, numbers)) => numbers.push(number),
                None => known.push((warning, vec![number])),
            }
        }
        Ok(())
    })?;
    for (text, numbers) in known {
        let plural = if numbers.len() == 1 { "" } else { "s" };
        let numbers = list_lines(&numbers, numbers.len() as u64);
        report.warn(&format!("record{plural} {numbers}: {text}"));
    }
    Ok(())
}

/// The records that are going to be sent, counted.
#[derive(Default)]
struct RecordsToSend {
    /// Each with its owner, its number, and whether it deletes something.
    records: Vec<(Option<String>, u64, bool)>,
    /// Hashes of the customers and products.
    owners: HashSet<u64>,
    changes: usize,
    /// How many addresses are deleted, and how many items.
    addresses: usize,
    items: usize,
    /// For an undo: what the first records delete, in words, and how many deletions there are.
    deleted: Vec<String>,
    deletes: u64,
}

impl RecordsToSend {
    fn of(plan: &Plan, is_sent: impl Fn(u64) -> bool) -> Result<Self, Failure> {
        let mut sent = Self::default();
        plan.each(|number, record| {
            if !is_sent(number) {
                return Ok(());
            }
            let changes = &record.expect.changes;
            let deleted = |is_one: fn(&FieldPath) -> bool| {
                changes.iter().filter(|change| change.after.is_none() && is_one(&change.path)).count()
            };
            sent.changes += changes.len();
            sent.addresses += deleted(FieldPath::is_address);
            sent.items += deleted(FieldPath::is_item);
            if sent.deleted.len() <= MAX_NAMED {
                sent.deleted.extend(scalar(record.input.get(UNDO_DELETED)));
            }
            sent.deletes += record.input.get(UNDO_DELETES).and_then(Value::as_u64).unwrap_or(0);
            let owner = format!("{:?} {:?}", record.customer, record.expect.owner.get("sku"));
            sent.owners.insert(fnv1a(owner.as_bytes()));
            let is_deletion = deletes(&record);
            sent.records.push((record.customer, number, is_deletion));
            Ok(())
        })?;
        sent.records.sort();
        Ok(sent)
    }

    /// As [`confirm`], for a plan that undoes a batch.
    fn confirm_undo(&self, session: &Session<'_>) -> Result<(), Failure> {
        let changes = count(self.changes, "change");
        let question = format!("Undo {changes} of {}", count(self.records.len(), "owner"));
        let prompt = session.prompt();
        if self.deleted.is_empty() {
            return prompt.confirm(&format!("{question}?"));
        }
        // A long list is replaced by its number.
        let things = if self.deleted.len() <= MAX_NAMED {
            self.deleted.join(", ")
        } else {
            format!("{} addresses, items, options or attributes", self.deletes)
        };
        prompt.confirm_deletion(&format!("{question} and delete {things}?"))
    }

    /// The records as an update shows them; if the changes of one are not known, its input.
    fn text(&self, session: &Session<'_>, plan: &Plan) -> Result<String, Failure> {
        let shown =
            self.records.iter().enumerate().filter(|(index, (.., deletes))| *index < MAX_SHOWN || *deletes);
        let places: HashMap<u64, usize> =
            shown.enumerate().map(|(place, (_, (_, number, _)))| (*number, place)).collect();
        let mut parts = vec![String::new(); places.len()];
        plan.each(|number, record| {
            if let Some(place) = places.get(&number) {
                parts[*place] = record_text(session, number, &record);
            }
            Ok(())
        })?;
        let hidden = (self.records.len() - places.len()) as u64;
        if hidden > 0 {
            parts.push(format!("{}; --dry-run shows all", count_more_records(hidden)));
        }
        Ok(parts.join("\n"))
    }
}

fn record_text(session: &Session<'_>, number: u64, record: &Planned) -> String {
    let changes = &record.expect.changes;
    let mut parts = vec![format!("Record {number}, {}", owner(record))];
    let warnings = record.warnings.iter();
    parts.extend(warnings.map(|warning| session.report.labelled(TextStyle::Warning, "warning", warning)));
    parts.push(if changes.is_empty() {
        input_text(&record.input)
    } else {
        changes::text(changes, session.report.stderr_style)
    });
    parts.join("\n")
}

/// Whether a record deletes something.
fn deletes(record: &Planned) -> bool {
    record.expect.changes.iter().any(|change| change.after.is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::input_text;

    #[test]
    fn a_body_is_one_line() {
        let body = json!({"attribute": {"attribute_code": "size", "is_required": true,
            "options": [{"label": "S", "is_default": true, "store_labels": [{"store_id": "fr", "label": "P"}]}, {"label": "M\n"}],
            "frontend_labels": [{"store_id": 1, "label": "Taille"}]}});
        assert_eq!(
            input_text(body.as_object().unwrap()),
            "attribute_code: size, is_required: yes, options: *S (fr: P) / M\\n, frontend_labels: 1: Taille"
        );
        let item = json!({"cartItem": {"sku": "a", "qty": 2}});
        assert_eq!(input_text(item.as_object().unwrap()), "sku: a, qty: 2");
    }
}
