//! `storefront apply`: whether a plan may be applied, and what a person sees of it before. That nothing of it is done twice
//! is the journal's business; a copy of the file, which would have a journal of its own, is known by the plan's id.

use std::collections::HashSet;
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
use storefront_core::profile::diff::Expected;
use storefront_core::profile::path::FieldPath;
use storefront_core::text::sanitize::sanitize_line;

/// The number of records that are shown before the question, beside those that delete something.
const MAX_SHOWN: usize = 20;

/// The number of deletions that a question names.
const MAX_NAMED: usize = 3;

/// Refuses a plan for another service, one that was applied already, and one that is started too late.
///
/// # Errors
/// `guard`.
pub fn admit(service: &Service<'_>, plan: &Plan) -> Result<(), Failure> {
    let (context, header) = (service.session.context, &plan.header);
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
    for (what, noted, ours, flag) in [
        ("service", url, &*id.url, "--profile"),
        ("interface", interface, &id.interface, "--api"),
        ("store view", store_view.unwrap_or("none"), view, "--store-view"),
    ] {
        if noted != ours {
            return Err(Failure::guard(format!("the {file} is for the {what} `{noted}`, not for `{ours}`"))
                .hint(format!("choose it with {flag}")));
        }
    }
    Ok(())
}

/// Notes that a plan is started with this journal, before anything of it is sent; `is_new` says that the journal was made
/// for it just now.
///
/// # Errors
/// `guard` where another copy of the plan was started meanwhile, or where it cannot be noted.
pub async fn claim(
    session: &Session<'_>,
    log: &WriteLog,
    plan: &Plan,
    journal: &Path,
    is_new: bool,
) -> Result<(), Failure> {
    match log.start_plan(&plan.header.id, &name(journal)).await? {
        Some(started) if started != name(journal) => {
            // Without it the plan does not seem started when it is tried again.
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

/// A journal as the log names it.
fn name(journal: &Path) -> String {
    journal.display().to_string()
}

fn already_applied(plan: &Plan, journal: &str) -> Failure {
    let plan = plan.path.display();
    Failure::guard(format!("plan `{plan}` was applied already, with journal `{journal}`")).hint(PLAN_AGAIN)
}

/// Shows the records that are going to be sent, by their numbers, and asks once. The plan shows what is deleted whole, so the
/// question, or `--yes`, confirms that, too. So many of the records are sent `again`: that needs a yes.
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
    let mut sent: Vec<(u64, &Planned)> =
        (1..).zip(&plan.records).filter(|(number, _)| is_sent(*number)).collect();
    sent.sort_by_key(|(_, record)| &record.customer);
    let prompt = session.prompt();
    if prompt.can_ask() && !prompt.assume_yes() {
        prompt.show(&text(session, &sent));
    }
    if again > 0 {
        session.report.warn(&sent_again(again));
    }
    if *operation == UNDO {
        return confirm_undo(session, &sent);
    }
    let all = || sent.iter().flat_map(|(_, record)| &record.expect.changes);
    let owners: HashSet<_> =
        sent.iter().map(|(_, record)| (&record.customer, record.expect.owner.get("sku"))).collect();
    let noun = if operation.key_field == Some("sku") { "product" } else { "customer" };
    let question = match all().count() {
        0 => format!("{} {}", operation.batch_action, count_records(sent.len() as u64)),
        changes => format!("Apply {} to {}", count(changes, "change"), count(owners.len(), noun)),
    };
    let deleted = |is_one: fn(&FieldPath) -> bool| {
        all().filter(|change| change.after.is_none() && is_one(&change.path)).count()
    };
    match (deleted(FieldPath::is_address), deleted(FieldPath::is_item)) {
        (0, 0) if again > 0 => prompt.confirm_deletion(&format!("{question}?")),
        (0, 0) => prompt.confirm(&format!("{question}?")),
        (1, _) => prompt.confirm_deletion(&format!("{question} and delete 1 address?")),
        (0, items) => prompt.confirm_deletion(&format!("{question} and remove {}?", count(items, "item"))),
        (addresses, _) => prompt.confirm_deletion(&format!("{question} and delete {addresses} addresses?")),
    }
}

/// As [`confirm`], of a plan that undoes a batch.
fn confirm_undo(session: &Session<'_>, sent: &[(u64, &Planned)]) -> Result<(), Failure> {
    let changes = count(sent.iter().map(|(_, record)| record.expect.changes.len()).sum(), "change");
    let question = format!("Undo {changes} of {}", count(sent.len(), "owner"));
    let (prompt, things) = (session.prompt(), things(sent));
    if things.is_empty() {
        return prompt.confirm(&format!("{question}?"));
    }
    prompt.confirm_deletion(&format!("{question} and delete {}?", things.join(", ")))
}

/// In words what a plan that undoes a batch deletes; of a long list its number.
fn things(sent: &[(u64, &Planned)]) -> Vec<String> {
    let deleted = |(_, record): &(u64, &Planned)| scalar(record.input.get(UNDO_DELETED));
    let things: Vec<String> = sent.iter().filter_map(deleted).collect();
    if things.len() <= MAX_NAMED {
        return things;
    }
    let number = |(_, record): &(u64, &Planned)| record.input.get(UNDO_DELETES).and_then(Value::as_u64);
    let total: u64 = sent.iter().filter_map(number).sum();
    vec![format!("{total} items, options or attributes")]
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A body in one line, without what it is wrapped in: `attribute_code: size, options: S / M / L`.
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
pub fn warn(report: &Report, records: &[Planned]) {
    let mut known: Vec<(&str, Vec<u64>)> = Vec::new();
    for (number, record) in (1..).zip(records) {
        for warning in &record.warnings {
            match known.iter_mut().find(|(text, _)| *text == warning) {
                Some((_, numbers)) => numbers.push(number),
                None => known.push((warning, vec![number])),
            }
        }
    }
    for (text, numbers) in known {
        let plural = if numbers.len() == 1 { "" } else { "s" };
        let numbers = list_lines(&numbers, numbers.len() as u64);
        report.warn(&format!("record{plural} {numbers}: {text}"));
    }
}

/// The records as an update shows them; those whose changes are not known with their input.
fn text(session: &Session<'_>, records: &[(u64, &Planned)]) -> String {
    let (mut parts, mut hidden) = (Vec::new(), 0);
    for (index, (number, record)) in records.iter().enumerate() {
        if index >= MAX_SHOWN && !deletes(record) {
            hidden += 1;
            continue;
        }
        let Expected { changes, .. } = &record.expect;
        let style = session.report.stderr_style;
        parts.push(format!("Record {number}, {}", owner(record)));
        let warnings = record.warnings.iter();
        parts.extend(warnings.map(|warning| session.report.labelled(TextStyle::Warning, "warning", warning)));
        parts.push(if changes.is_empty() {
            input_text(&record.input)
        } else {
            changes::text(changes, style)
        });
    }
    if hidden > 0 {
        parts.push(format!("{}; --dry-run shows all", count_more_records(hidden)));
    }
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
