//! Corrects an address of a placed order (docs/magento.md, "Orders"). The order is read under its lock, one call saves
//! each address that changes, and a comment says what was corrected. The comment is sent once, and nothing depends on it.

use serde_json::{Map, Value};

use crate::cli::hint::for_command;
use crate::client::service::Service;
use crate::input::Draft;
use crate::journal::Ahead;
use crate::log::Write;
use crate::ops::calls::{Calls, Planned, preview};
use crate::ops::order_owner::{OrderOwner, corrected_without_comment, read_basis, still_open};
use crate::ops::orders::{self, OrderName};
use crate::ops::profile::read::read_profile;
use crate::ops::shown::show_edits_of_order;
use crate::ops::{found_in_part, lock, read_country_as};
use crate::report::outcome::{Call, ChangedOutcome, Outcome};
use crate::report::style::TextStyle;
use crate::report::{changes, profile};
use crate::state::LockName;
use crate::write;
use storefront_core::absent::Absent;
use storefront_core::cart::from_profile;
use storefront_core::effect::{Document, Effect, are_shown};
use storefront_core::failure::{Applied, Failure, Persistence};
use storefront_core::hint::{Hint, HintCommand, hint, storefront};
use storefront_core::id::{self, AddressId, CustomerId};
use storefront_core::interface::fields::ORDER_FORM;
use storefront_core::interface::request::{Bearer, Request};
use storefront_core::lint;
use storefront_core::operation::{ORDER_UPDATE, Success, scalar};
use storefront_core::order::{
    Order, OrderCalls, Which, changed_fields, comment_of, comment_text, region_country, wanted,
};
use storefront_core::profile::diff::{FieldChange, ensure_planned_in};
use storefront_core::profile::region;
use storefront_core::text::exact_json;
use storefront_core::text::sanitize::sanitize_line;

const OPERATION: &str = ORDER_UPDATE.name;
/// The name of the last call.
const COMMENT: &str = "comment";

/// Corrects the addresses that a draft names, or shows the calls. On a terminal a person must agree.
///
/// # Errors
/// `usage` for an order or an address that is not there, and for invalid values; as [`write::send_and_look`]; `partial`
/// if the first of two addresses was saved.
pub async fn update(service: &Service<'_>, draft: &Draft, no_comment: bool) -> Result<Outcome, Failure> {
    let name = OrderName::in_draft(draft)?;
    let calls = OrderCalls::new(service.settings.dialect)?;
    let id = Box::pin(orders::find(service, &name)).await?;
    let session = service.session;
    let prompt = service.session.prompt();
    let mut agreed = None;
    loop {
        let lock = if session.global.dry_run {
            None
        } else {
            Some(lock(service, &LockName::order(id), service.settings.lock_timeout).await?)
        };
        let order = read_basis(service, &calls, id).await?;
        let owner = OrderOwner { service, calls, order };
        let corrections = Box::pin(Corrections::of(&owner, draft, no_comment)).await?;
        if corrections.is_nothing() {
            if let Some(text) = corrections.missing_comment(service, draft) {
                return complete(&owner, &text).await;
            }
            corrections.warn_of_missing_comment()?;
            return Ok(corrections.unchanged());
        }
        corrections.ensure_planned(draft)?;
        let changes = corrections.changes();
        if agreed.is_none() {
            corrections.ensure_none_open()?;
            corrections.warn(draft);
        }
        if session.global.dry_run {
            return Ok(corrections.preview());
        }
        if prompt.confirms() && agreed.as_ref() != Some(&changes) {
            // Nobody waits for the person.
            drop(lock);
            service.announce(OPERATION, None);
            corrections.show();
            prompt.confirm("Send it?")?;
            agreed = Some(changes);
            continue;
        }
        return corrections.send().await;
    }
}

/// Whether a draft sets anything of an address.
pub fn names_an_address(fields: &Map<String, Value>) -> bool {
    fields.contains_key("from_address") || ORDER_FORM.iter().any(|name| fields.contains_key(*name))
}

/// The corrections of an order, as calls.
pub struct Corrections<'a> {
    owner: &'a OrderOwner<'a>,
    operation: &'static str,
    /// The addresses that are asked for.
    asked: Vec<Which>,
    /// What changes in each address.
    addresses: Vec<(Which, Effect)>,
    /// What a person adds to the comment.
    added: Option<String>,
    no_comment: bool,
    /// Whether nothing but the comment is asked for.
    is_comment_alone: bool,
}

impl<'a> Corrections<'a> {
    /// Compares a draft with the order that was read.
    async fn of(owner: &'a OrderOwner<'a>, draft: &Draft, no_comment: bool) -> Result<Self, Failure> {
        let is_comment_alone = !names_an_address(&draft.fields);
        let asked = if is_comment_alone { Vec::new() } else { sides(owner, draft)? };
        let mut addresses = Vec::new();
        if !is_comment_alone {
            let form = form(owner, draft).await?;
            for which in asked.iter().copied() {
                let effect = correction(owner, &form, which).await?;
                addresses.extend(Some((which, effect)).filter(|(_, effect)| !effect.is_empty()));
            }
        }
        let added = scalar(draft.fields.get(COMMENT));
        Ok(Self { owner, operation: OPERATION, asked, addresses, added, no_comment, is_comment_alone })
    }

    /// The corrections that carry out an effect on the order that was read, as calls of this operation.
    ///
    /// # Errors
    /// As [`Order::stored`].
    pub fn carrying_out(
        owner: &'a OrderOwner<'a>,
        operation: &'static str,
        effect: &Effect,
    ) -> Result<Self, Failure> {
        let mut addresses = Vec::new();
        for (which, fields) in changed_fields(effect) {
            let mut wanted = owner.order.stored(which)?.clone();
            wanted.extend(fields);
            addresses.push((which, owner.order.change(which, &wanted)?));
        }
        let asked = addresses.iter().map(|(which, _)| *which).collect();
        let added = None;
        let no_comment = false;
        let is_comment_alone = false;
        Ok(Self { owner, operation, asked, addresses, added, no_comment, is_comment_alone })
    }

    fn effects(&self) -> Vec<Effect> {
        self.addresses.iter().map(|(_, effect)| effect.clone()).collect()
    }

    /// The differences that it makes.
    pub fn changes(&self) -> Vec<FieldChange> {
        self.addresses.iter().flat_map(|(_, effect)| effect.differences()).collect()
    }

    fn is_nothing(&self) -> bool {
        self.addresses.is_empty() && !self.is_comment_alone
    }

    /// The text of the comment, if one is added.
    fn comment(&self, corrected: &[Effect]) -> Option<String> {
        let text = comment_text(corrected, self.added.as_deref());
        Some(text).filter(|text| !text.is_empty() && !self.no_comment)
    }

    /// Refuses while an earlier correction may still take effect, which would overwrite this one; a person may continue.
    ///
    /// # Errors
    /// `guard` if nobody does.
    pub fn ensure_none_open(&self) -> Result<(), Failure> {
        let session = self.owner.service.session;
        let is_sent = !self.addresses.is_empty() && !session.global.dry_run;
        let Some(open) = still_open(self.owner.service, &self.owner.order)?.filter(|_| is_sent) else {
            return Ok(());
        };
        if session.prompt().accepts(&open)? { Ok(()) } else { Err(Failure::cancelled()) }
    }

    /// What a dry run shows.
    pub fn preview(&self) -> Outcome {
        let shown = preview(self.owner.service, self.operation, self.planned());
        Outcome { changed: Some(self.outcome()), ..shown }
    }

    fn planned(&self) -> Vec<Planned> {
        let comment = self.comment(&self.effects());
        let comment =
            comment.map(|text| (COMMENT.to_owned(), self.owner.calls.comment(self.owner.order.id, &text)));
        self.saved().map(|(_, planned)| planned).chain(comment).collect()
    }

    /// The calls that save addresses, with what each changes.
    fn saved(&self) -> impl Iterator<Item = (Effect, Planned)> + '_ {
        let OrderOwner { calls, order, .. } = self.owner;
        self.addresses.iter().map(move |(which, effect)| {
            let request: Request = calls.save_address(order.id, order.body(*which, effect));
            (effect.clone(), (which.words().to_owned(), request))
        })
    }

    fn outcome(&self) -> ChangedOutcome {
        ChangedOutcome { changes: self.changes(), owner: self.owner.order.owner() }
    }

    fn unchanged(&self) -> Outcome {
        let unchanged = Some(format!("order {} has this address already", self.owner.order.number));
        let reason = Some("unchanged");
        let changed = Some(ChangedOutcome::default());
        Outcome { reason, changed, unchanged, ..Outcome::not_sent(OPERATION) }
    }

    /// Says that a comment is not there: it goes with a correction, and there is none. It is that of an earlier command that
    /// was cut short, or has the text of a person.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    fn warn_of_missing_comment(&self) -> Result<(), Failure> {
        let order = &self.owner.order;
        let service = self.owner.service;
        let earlier = if self.no_comment {
            Vec::new()
        } else {
            corrected_without_comment(service, order, &self.asked)?
        };
        let text = self.comment(&earlier);
        if let Some(text) = text.filter(|text| !order.says(text)) {
            let what = hint!(
                "the comment was not added, for the address was there already; add it with ",
                comment_command(&order.number, &text)
            );
            service.session.report.warn(&for_command(what, service.session.global).to_string());
        }
        Ok(())
    }

    /// Refuses a correction other than the planned one.
    fn ensure_planned(&self, draft: &Draft) -> Result<(), Failure> {
        let Some(expected) = &draft.expect else { return Ok(()) };
        let order = &self.owner.order;
        let planned = scalar(expected.owner.get("order_id"));
        if planned.as_ref().is_some_and(|planned| *planned != order.id.to_string()) {
            let message = format!(
                "order {} has the ID {}, and had another one when it was planned",
                order.number, order.id
            );
            return Err(Failure::guard(message).hint("make the plan again with --plan").for_good());
        }
        let document = order.document();
        ensure_planned_in(&expected.changes, &self.changes(), |path| Document(&document).at(path).cloned())
    }

    /// What a person should know before it is sent.
    pub fn warnings(&self) -> Vec<String> {
        self.owner.order.warnings(&self.effects())
    }

    /// Says what a person should know before a draft is sent.
    fn warn(&self, draft: &Draft) {
        let report = self.owner.service.session.report;
        let order = &self.owner.order;
        let mut warnings = self.warnings();
        // The check of a draft without a country knows no form of postcodes.
        for (which, _) in self.addresses.iter().filter(|_| !draft.fields.contains_key("country_id")) {
            let country = order.address(*which).and_then(|stored| stored.get("country_id"));
            let named = ["postcode"].into_iter().filter_map(|name| Some((name, draft.fields.get(name)?)));
            let address = named.chain(country.map(|country| ("country_id", country)));
            let address = address.map(|(name, value)| (name.to_owned(), value.clone())).collect();
            warnings.extend(lint::of_order(which.words(), &address, |name| name == "postcode"));
        }
        // A plan has given its own warnings already.
        let new = warnings.iter().filter(|warning| !draft.warnings.contains(warning));
        new.for_each(|warning| report.warn(warning));
    }

    /// Shows what the question is about.
    fn show(&self) {
        let session = self.owner.service.session;
        let prompt = session.prompt();
        let style = session.report.stderr_style;
        let head = profile::owner(&self.owner.order.owner());
        prompt.show(&style.paint(TextStyle::Head, &style.wrapped(&head)));
        if !self.addresses.is_empty() {
            prompt.show(&changes::text(&self.changes(), style));
        }
        if let Some(text) = self.comment(&self.effects()) {
            prompt.show(&style.wrapped(&format!("Comment: {}", sanitize_line(&text))));
        }
        show_edits_of_order(self.owner.service, &self.owner.order);
    }

    /// Saves the addresses, one after another, and adds the comment after the last one that was saved.
    ///
    /// # Errors
    /// As [`write::send_and_look`]; `partial` if only the first of two addresses was saved.
    pub async fn send(&self) -> Result<Outcome, Failure> {
        let service = self.owner.service;
        let order = &self.owner.order;
        if self.is_comment_alone {
            let text = self.comment(&[]).unwrap_or_default();
            return comment_alone(self.owner, &text).await;
        }
        let mut to_send = self.calls();
        write::gate(service, self.operation, &mut to_send, None).await?;
        let mut sent = Calls::new(service, self.operation);
        let mut corrected = Vec::new();
        let mut failed = None;
        let mut is_verified = true;
        for ((which, _), call) in self.addresses.iter().zip(to_send) {
            let written = async {
                if !corrected.is_empty() {
                    self.ensure_as_read(*which).await?;
                }
                sent.carry_out(self.owner, call).await
            };
            match written.await {
                Ok(written) => {
                    is_verified &= written.verified;
                    corrected.push(written.effect);
                }
                Err(failure) => {
                    failed = Some(failure);
                    break;
                }
            }
        }
        // What is reported of the correction is known: the outcome of the comment does not change it.
        let planned: Vec<Planned> = self.saved().map(|(_, planned)| planned).collect();
        let ended = match failed {
            None => Ok(sent.finish()),
            Some(failure) => Err(sent.failed(failure, &planned, None)),
        };
        let comment = match self.comment(&corrected).filter(|_| !corrected.is_empty()) {
            Some(text) => Some(add_comment(self.owner, self.operation, &text).await),
            None => None,
        };
        let mut done = ended.map_err(|failure| {
            let mut calls = failure.calls.into_vec();
            calls.extend(comment.as_ref().map(exact_json::of));
            Failure { calls: calls.into(), ..failure }
        })?;
        done.calls.extend(comment);
        let text = format!("Order {}: {}", order.number, comment_text(&corrected, None));
        let success = Some(Success { text: sanitize_line(&text), covers_response: true });
        Ok(Outcome { changed: Some(self.outcome()), verified: Some(is_verified), success, ..done })
    }

    /// The calls that save the addresses.
    fn calls(&self) -> Vec<write::Call> {
        let people = self.owner.people();
        let call = |(effect, (name, request))| write::Call {
            people: Some(people.clone()),
            ..write::Call::new(name, request, effect)
        };
        self.saved().map(call).collect()
    }

    /// Refuses to save an address that somebody else has changed since the read before the first call, because it is
    /// saved as a whole.
    ///
    /// # Errors
    /// `guard`; as [`read_basis`].
    async fn ensure_as_read(&self, which: Which) -> Result<(), Failure> {
        let OrderOwner { service, calls, order } = self.owner;
        let now = read_basis(service, calls, order.id).await?;
        if now.address(which) == order.address(which) {
            return Ok(());
        }
        let message = format!(
            "the {} of order {} was changed meanwhile, and was not saved",
            which.words(),
            order.number
        );
        Err(Failure::guard(message).lasting(Persistence::Temporary).hint("run it again"))
    }

    /// The comment that an earlier run of a batch did not send after it had saved the addresses. It certainly did not
    /// leave: a call that may have left is in the log.
    fn missing_comment(&self, service: &Service<'_>, draft: &Draft) -> Option<String> {
        let earlier = service.write_ahead?.earlier().effects();
        let is_own = |effect: &Effect| effect.owner.id == Some(self.owner.order.id.to_string());
        let is_left_out = !self.no_comment && earlier.iter().all(is_own);
        match Earlier::of(&self.owner.order, &earlier, draft).filter(|_| is_left_out)? {
            Earlier { is_saved: true, comment: Comment::Missing(text) } => Some(text),
            _ => None,
        }
    }
}

/// The fields that a draft asks for; those of a stored address of the customer come first, if one is named.
async fn form(owner: &OrderOwner<'_>, draft: &Draft) -> Result<Map<String, Value>, Failure> {
    let mut form = match draft.fields.get("from_address").and_then(id::integer) {
        Some(id) => stored_address(owner, AddressId(id)).await?,
        None => Map::new(),
    };
    let is_region = |name: &str| name.starts_with("region");
    if ORDER_FORM.iter().any(|name| is_region(name) && draft.fields.contains_key(*name)) {
        form.retain(|name, _| !is_region(name));
    }
    let named = draft.fields.iter().filter(|(name, _)| ORDER_FORM.contains(&name.as_str()));
    form.extend(named.map(|(name, value)| (name.clone(), value.clone())));
    Ok(form)
}

/// The fields of an address that the customer of the order has stored; fields that it lacks are emptied.
async fn stored_address(owner: &OrderOwner<'_>, id: AddressId) -> Result<Map<String, Value>, Failure> {
    let Some(customer) = owner.order.customer_id() else {
        return Err(Failure::usage(format!(
            "order {} is a guest's, who has no stored addresses",
            owner.order.number
        ))
        .hint("give the fields of the address with flags"));
    };
    let service = owner.service.of_customer(Some(CustomerId(customer)));
    let profile = Box::pin(read_profile(&service)).await?;
    let stored = from_profile(&profile, id, service.settings.dialect.fields.quote_address)?;
    let mut form: Map<String, Value> = ORDER_FORM
        .into_iter()
        .map(|name| (name.to_owned(), stored.get(name).cloned().unwrap_or_default()))
        .collect();
    // The id says everything; without an id the name does.
    let other = if region::has_id(&form) { "region" } else { "region_id" };
    form.shift_remove("region_code");
    form.shift_remove(other);
    Ok(form)
}

/// The addresses that the draft names. A virtual order has only one.
fn sides(owner: &OrderOwner<'_>, draft: &Draft) -> Result<Vec<Which>, Failure> {
    let order = &owner.order;
    Ok(match scalar(draft.fields.get("address")).unwrap_or_default().trim() {
        "shipping" => vec![Which::Shipping],
        "billing" => vec![Which::Billing],
        "both" if order.is_virtual() && order.address(Which::Shipping).is_none() => {
            let report = owner.service.session.report;
            report.warn(&format!("order {} is virtual: only its billing address is corrected", order.number));
            vec![Which::Billing]
        }
        "both" => vec![Which::Shipping, Which::Billing],
        other => {
            return Err(Failure::usage(format!(
                "`address` must be shipping, billing or both, found `{other}`"
            ))
            .hint("use --shipping, --billing or --both"));
        }
    })
}

/// What changes in one address.
async fn correction(
    owner: &OrderOwner<'_>,
    form: &Map<String, Value>,
    which: Which,
) -> Result<Effect, Failure> {
    let service = owner.service;
    let stored = owner.order.stored(which)?;
    if let Some(country) = region_country(stored, form) {
        read_country_as(service, &country, Bearer::Admin).await?;
    }
    let wanted = wanted(stored, form, &service.regions.borrow(), which)?;
    owner.order.change(which, &wanted)
}

/// Adds the comment that follows a correction. Its outcome does not change what is reported of the correction.
async fn add_comment(owner: &OrderOwner<'_>, operation: &'static str, text: &str) -> Call {
    match send_comment(owner, operation, text).await {
        Ok(call) => call,
        Err(failure) => {
            let number = &*owner.order.number;
            let session = owner.service.session;
            let show = storefront("order show").arg(number);
            let again = comment_command(number, text);
            let what: Hint = match failure.applied {
                Applied::Unknown => hint!(
                    format!("whether the comment was added is unknown: {}; look with ", failure.message),
                    show,
                    ", and add it with ",
                    again
                ),
                _ => hint!(
                    format!(
                        "the comment was not added, and the list of the admin panel shows the old address: {}; add it with ",
                        failure.message
                    ),
                    again
                ),
            };
            session.report.warn(&for_command(what, session.global).to_string());
            Call::failed(COMMENT, &failure)
        }
    }
}

/// The command that adds a comment alone.
fn comment_command(number: &str, text: &str) -> HintCommand {
    storefront("order update").arg(number).arg("--comment").arg(text)
}

/// Sends a comment, once.
async fn send_comment(owner: &OrderOwner<'_>, operation: &'static str, text: &str) -> Result<Call, Failure> {
    // The service may have refused the other address for the time being; what a comment says does not get old.
    owner.service.wait_as_asked().await;
    let effect = owner.order.comment(text);
    let call = write::Call::new(COMMENT, owner.calls.comment(owner.order.id, text), effect);
    let call = write::Call { is_looked_at_later: true, people: Some(owner.people()), ..call };
    let written = write::carry_out(owner.service, operation, owner, call).await?;
    let response = written.reply.map(|reply| reply.value);
    Ok(Call { status: written.status, response, ..Call::new(COMMENT, Applied::Yes) })
}

/// Adds a comment if nothing else is asked for.
async fn comment_alone(owner: &OrderOwner<'_>, text: &str) -> Result<Outcome, Failure> {
    let call = send_comment(owner, OPERATION, text).await?;
    let success = Success { text: format!("Commented order {}", owner.order.number), covers_response: true };
    Ok(Outcome {
        applied: Applied::Yes,
        status: call.status,
        calls: vec![call],
        success: Some(success),
        changed: Some(ChangedOutcome::default()),
        ..Outcome::not_sent(OPERATION)
    })
}

/// Adds the comment that an earlier run did not send.
async fn complete(owner: &OrderOwner<'_>, text: &str) -> Result<Outcome, Failure> {
    let comment = add_comment(owner, OPERATION, text).await;
    let success = Success { text: format!("Order {}: {text}", owner.order.number), covers_response: true };
    Ok(Outcome { calls: vec![comment], success: Some(success), ..Outcome::seen_earlier(OPERATION) })
}

/// What an order shows of a record of an earlier run.
struct Earlier {
    /// Whether every address is as it was to be.
    is_saved: bool,
    comment: Comment,
}

/// What is known of the comment of an earlier run.
enum Comment {
    /// It is there.
    Added,
    /// It was sent, and is not shown.
    Unknown,
    /// It was never sent.
    Missing(String),
}

impl Earlier {
    /// Compares an order with what was to be changed; `None` if nothing is known of that.
    fn of(order: &Order, effects: &[Effect], draft: &Draft) -> Option<Self> {
        let document = order.document();
        let (comments, addresses): (Vec<Effect>, Vec<Effect>) =
            effects.iter().cloned().partition(|effect| comment_of(effect).is_some());
        let is_saved = are_shown(&addresses, &document);
        let text = comment_text(&addresses, scalar(draft.fields.get(COMMENT)).as_deref());
        let comment = match comments.first() {
            Some(comment) if comment.look(&document).shows_any() => Comment::Added,
            Some(_) => Comment::Unknown,
            None if order.has_comment(&text) => Comment::Added,
            None => Comment::Missing(text),
        };
        (!addresses.is_empty()).then_some(Self { is_saved, comment })
    }
}

/// Whether the order shows what a record of an earlier run was to correct; `None` while that is unknown.
///
/// # Errors
/// If the order cannot be read, and [`found_in_part`] if only the comment is missing.
pub async fn resolve_unknown(
    service: &Service<'_>,
    draft: &Draft,
    ahead: &Ahead,
    no_comment: bool,
) -> Result<Option<Outcome>, Failure> {
    let calls = OrderCalls::new(service.settings.dialect)?;
    let effects = ahead.effects();
    let id = effects.first().and_then(|effect| effect.owner.id.as_deref()?.parse().ok());
    let Some(id) = id else { return Ok(None) };
    let order = match orders::read_by_id(service, &calls, id).await {
        Ok(order) => order,
        Err(failure) if failure.absent == Some(Absent::Entity) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let earlier = Earlier::of(&order, &effects, draft);
    if let Some(Earlier { is_saved: true, comment }) = &earlier {
        let is_shown = |write: &&Write| {
            matches!(comment, Comment::Added)
                || write.changes().is_some_and(|effect| comment_of(&effect).is_none())
        };
        service.log()?.note_shown(ahead.writes.iter().filter(is_shown), &order.document());
    }
    match earlier {
        Some(Earlier { is_saved: true, comment: Comment::Missing(_) }) if !no_comment => {
            let number = &order.number;
            return Err(found_in_part(format!("order {number} is corrected, and its comment is missing")));
        }
        Some(Earlier { is_saved: true, comment: Comment::Unknown }) => {
            let text = format!("whether the comment of order {} was added is unknown", order.number);
            service.session.report.warn(&text);
        }
        Some(Earlier { is_saved: true, .. }) => {}
        _ => return Ok(None),
    }
    Ok(Some(Outcome::seen_earlier(OPERATION)))
}
