//! Sets values of a product (docs/interface.md, "Values of products"): the product is read in the scope that is written,
//! and one call carries the changes.

use serde_json::{Map, Value};

use super::catalog::AttributeSet;
use super::owner::{ProductOwner, others_changed};
use super::{Catalog, Wanted, export, search, wanted};
use crate::client::service::Service;
use crate::input::Draft;
use crate::journal::Ahead;
use crate::ops::{basis, lock, seen_earlier};
use crate::report::outcome::{ChangedOutcome, Outcome};
use crate::state::LockName;
use crate::write::{self, Call, Written};
use storefront_core::effect::{Before, Change, Effect, Kind, Sent};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::{Bearer, Request, segment};
use storefront_core::operation::{PRODUCT_SET, Success};
use storefront_core::product::asked::Target;
use storefront_core::product::attribute::{Attributes, FIELDS, Scope};
use storefront_core::product::{ALL, Product, body, folded_sku};
use storefront_core::profile::diff::{self, Expected, ensure_planned_in};
use storefront_core::sheet::address::Row;
use storefront_core::sheet::cells::compared;
use storefront_core::sheet::exported::{Edited, Mark};
use storefront_core::text::sanitize::{quoted, sanitize_line};

/// Sets the values, or shows the call. Nothing is sent again.
///
/// # Errors
/// As [`wanted`]; `guard` for other values that the call would change; as [`write::carry_out`].
pub async fn set(
    service: &Service<'_>,
    catalog: &Catalog,
    draft: &Draft,
    allows_sale: bool,
) -> Result<Outcome, Failure> {
    let wanted = wanted(service, catalog, &draft.fields).await?;
    if wanted.targets.is_empty() || catalog.is_unchanged(&wanted.sku) {
        return Ok(unchanged(&wanted));
    }
    let is_dry_run = service.session.global.dry_run;
    let name = LockName::product(&folded_sku(&wanted.sku));
    let _lock =
        if is_dry_run { None } else { Some(lock(service, &name, service.settings.lock_timeout).await?) };
    let exported = draft.row.as_ref().and_then(|row| Some((row, row.exported?)));
    let is_set_for_all = |target: &Target| catalog.set_for_all(&wanted.sku, &target.code).is_some();
    // Nothing of a dry run is sent, so that no read shows what the rows for all leave.
    let follows = is_dry_run && wanted.scope != ALL && wanted.targets.iter().any(is_set_for_all);
    let mut read = Read::basis(service, catalog, &wanted, exported.is_some() || follows).await?;
    if follows {
        read.after_rows_for_all(catalog, &wanted);
    }
    let effect = read.product.changed(&wanted.scope, &wanted.targets);
    if effect.is_empty() {
        return Ok(unchanged(&wanted));
    }
    if let Some((row, mark)) = exported {
        let of_row = export::attributes_of(service, catalog, row).await?;
        read.refuse_changed(&of_row, row, mark)?;
    }
    read.refuse_sale(&wanted, allows_sale)?;
    warn_of_websites(service, catalog, &wanted);
    let ready = Ready::new(service, wanted, read, effect, allows_sale)?;
    ready.ensure_planned(draft)?;
    if is_dry_run { Ok(ready.preview(PRODUCT_SET.name)) } else { ready.send(PRODUCT_SET.name).await }
}

/// One call that sets values, from a read of the product.
pub struct Ready<'a> {
    service: &'a Service<'a>,
    wanted: Wanted,
    read: Read,
    effect: Effect,
    allows_sale: bool,
    request: Request,
    /// The differences that it makes, in words.
    changed: ChangedOutcome,
}

impl<'a> Ready<'a> {
    pub(super) fn new(
        service: &'a Service<'a>,
        wanted: Wanted,
        read: Read,
        effect: Effect,
        allows_sale: bool,
    ) -> Result<Self, Failure> {
        let request = request(service, &wanted.scope, &read, &effect)?;
        let changed = in_words(&read, &effect, &wanted.attributes);
        Ok(Self { service, wanted, read, effect, allows_sale, request, changed })
    }

    /// The differences that it makes, with the labels of options.
    pub fn changes(&self) -> Vec<diff::FieldChange> {
        self.changed.changes.clone()
    }

    /// What a dry run shows.
    pub fn preview(&self, operation: &'static str) -> Outcome {
        let shown = Outcome::dry_run(operation, self.service.preview(self.request.clone()));
        Outcome { changed: Some(self.changed.clone()), ..shown }
    }

    /// Refuses a change other than the planned one.
    fn ensure_planned(&self, draft: &Draft) -> Result<(), Failure> {
        let Some(expected): Option<&Expected> = draft.expect.as_ref() else { return Ok(()) };
        ensure_planned_in(&expected.changes, &self.changed.changes, |path| {
            let code = path.last_name();
            let value = self.read.product.values.get(code);
            value.map(|value| self.wanted.attributes.in_words(code, value.clone()))
        })
    }

    /// Sends it.
    ///
    /// # Errors
    /// As [`write::carry_out`].
    pub async fn send(self, operation: &'static str) -> Result<Outcome, Failure> {
        let Self { service, wanted, read, effect, allows_sale, request, changed } = self;
        let owner = ProductOwner {
            service,
            scope: &wanted.scope,
            product: &read.product,
            before: read.product.document(),
            attributes: &wanted.attributes,
            of_all: read.of_all.as_ref().map(Product::document),
            allows_sale,
        };
        let call = Call::new(operation, request, effect);
        let written = write::carry_out(service, operation, &owner, call).await;
        let written = written.map_err(|failure| read.with_required(failure))?;
        read.warn_of_others(service, &written, &wanted.attributes);
        let text = said(&read.product, &wanted.scope, &changed);
        let Written { reply, status, verified, .. } = written;
        Ok(Outcome {
            applied: Applied::Yes,
            status,
            response: reply.map(|reply| reply.value),
            changed: Some(changed),
            verified: Some(verified),
            success: Some(Success { text, covers_response: true }),
            ..Outcome::not_sent(operation)
        })
    }
}

/// What is read for one call.
pub(super) struct Read {
    pub(super) product: Product,
    set: std::rc::Rc<AttributeSet>,
    /// The values for all, if those of a store view are written and they are needed.
    pub(super) of_all: Option<Product>,
    is_on_sale: bool,
}

impl Read {
    /// As [`Self::of`], as new as our own calls of the last minute: an earlier row may have set the same values.
    ///
    /// # Errors
    /// `guard` if the shop does not show that; as [`Self::of`].
    pub(super) async fn basis(
        service: &Service<'_>,
        catalog: &Catalog,
        wanted: &Wanted,
        needs_all: bool,
    ) -> Result<Self, Failure> {
        let read = async || Self::of(service, catalog, wanted, needs_all).await;
        let missing = |read: &Self| {
            let owner = read.product.effect(&wanted.scope).owner;
            basis::not_shown(service, &owner, &read.product.document(), |_| ())
        };
        let look = storefront("product show").arg(&*wanted.sku);
        basis::read(service, Kind::Product.noun(), look, read, missing).await
    }

    /// Reads the product, and what is known of its set.
    ///
    /// # Errors
    /// `usage` for an unknown product, and for an attribute that is not in its set; `guard` for a store view of a website
    /// that it is not in.
    pub(super) async fn of(
        service: &Service<'_>,
        catalog: &Catalog,
        wanted: &Wanted,
        needs_all: bool,
    ) -> Result<Self, Failure> {
        let Wanted { sku, scope, targets, attributes } = wanted;
        let product = search::read(service, scope, sku, attributes).await?;
        let set = catalog.set(service, &product.set).await?;
        ensure_members(service, &set, attributes).await?;
        let is_of_view = scope != ALL;
        if is_of_view {
            let website = catalog.website_of(service, scope).await?;
            if product.websites.as_ref().is_some_and(|ids| !ids.iter().any(|id| id == website)) {
                let message = format!("`{sku}` is not in the website of the store view `{scope}`");
                return Err(Failure::guard(message).hint("set the value for all").for_good());
            }
        }
        let of_sheet = catalog.is_on_sale(sku);
        let needs_all = needs_all || of_sheet.is_none() || targets.iter().any(Target::clears);
        let of_all = if is_of_view && needs_all {
            Some(search::read(service, ALL, sku, attributes).await?)
        } else {
            None
        };
        let is_on_sale = of_sheet.unwrap_or_default()
            || of_all.as_ref().is_some_and(Product::has_special_price)
            || product.has_special_price();
        Ok(Self { product, set, of_all, is_on_sale: is_on_sale && is_of_view })
    }

    /// What a store view shows once the rows of the same sheet for all are sent. Where it shows the value for all, no read
    /// tells that from a value of its own: it is taken for none.
    fn after_rows_for_all(&mut self, catalog: &Catalog, wanted: &Wanted) {
        let Some(of_all) = &mut self.of_all else { return };
        for code in wanted.targets.iter().map(|target| &target.code) {
            let Some(value) = catalog.set_for_all(&wanted.sku, code) else { continue };
            let is_own = self.product.values.get(code) != of_all.values.get(code);
            let own = Some(&mut self.product.values).filter(|_| !is_own);
            for values in own.into_iter().chain([&mut of_all.values]) {
                match &value {
                    Some(value) => drop(values.insert(code.clone(), value.clone())),
                    None => drop(values.shift_remove(code)),
                }
            }
        }
    }

    /// Refuses to write over what others have changed since the row was exported.
    fn refuse_changed(&self, attributes: &Attributes, row: &Row, mark: Mark) -> Result<(), Failure> {
        let titles: Vec<&str> = row.cells.iter().map(|(title, _)| &**title).collect();
        let now = export::cells(&titles, attributes, &self.product.values, self.values_of_all());
        let texts: Vec<&str> = now.iter().map(|cell| cell.as_deref().unwrap_or_default()).collect();
        if mark.compare(&Mark::of(titles.iter().copied().zip(texts.iter().copied()), [false; 2]))
            == Edited::No
        {
            return Ok(());
        }
        let differing =
            row.cells.iter().zip(&texts).filter(|((_, cell), now)| compared(cell) != compared(now));
        let said: Vec<String> = differing
            .map(|((title, cell), now)| {
                format!("{} is {}, and {} in the sheet", quoted(title), quoted(now), quoted(compared(cell)))
            })
            .collect();
        let message = format!(
            "{} was changed in the shop since the export: {}",
            quoted(&self.product.sku),
            said.join(", ")
        );
        Err(Failure::guard(sanitize_line(&message))
            .hint("export it again, and edit the new sheet")
            .for_good())
    }

    /// The values for all, if those of a store view are written.
    fn values_of_all(&self) -> Option<&Map<String, Value>> {
        self.of_all.as_ref().map(|of_all| &of_all.values)
    }

    /// Refuses a call in a store view that would set the first day of a sale to today.
    pub(super) fn refuse_sale(&self, wanted: &Wanted, allows_sale: bool) -> Result<(), Failure> {
        if !self.is_on_sale || allows_sale {
            return Ok(());
        }
        let sku = &self.product.sku;
        let message = format!(
            "`{sku}` has a special price: with a value for the store view `{}` the shop lets it begin today in every store view \
             of the website",
            wanted.scope
        );
        Err(Failure::guard(message)
            .hint("set the value for all, or add --allow-special-price if the sale may begin")
            .for_good())
    }

    /// Names the attribute in the refusal of a product that lacks a required value.
    fn with_required(&self, failure: Failure) -> Failure {
        let label = failure
            .message
            .split_once("The \"")
            .and_then(|(_, rest)| rest.split_once("\" attribute value is empty"));
        match label.and_then(|(label, _)| self.set.labelled(label)) {
            Some(code) => {
                let set = storefront("product set").arg(&*self.product.sku).arg(format!("{code}=VALUE"));
                failure.hint(hint!(
                    "the product needs a value of `",
                    code.to_owned(),
                    "`: ",
                    set,
                    " sets it, with others or alone"
                ))
            }
            None => failure,
        }
    }

    /// Warns of other values that the call changed.
    fn warn_of_others(&self, service: &Service<'_>, written: &Written, attributes: &Attributes) {
        let reply = written.reply.as_ref().and_then(|reply| Product::of(&reply.value, attributes));
        let Some(after) = reply.filter(|after| after.id == self.product.id) else { return };
        let changed = others_changed(&self.product.values, &after.values, &written.effect.changes);
        if !changed.is_empty() {
            let sku = &self.product.sku;
            let codes = changed.join(", ");
            service.session.report.warn(&format!("other values of {sku} changed at the same time: {codes}"));
        }
    }
}

/// Refuses attributes that are not in the set of the product: the shop would ignore their values.
///
/// # Errors
/// `usage`.
pub(super) async fn ensure_members(
    service: &Service<'_>,
    set: &AttributeSet,
    attributes: &Attributes,
) -> Result<(), Failure> {
    let is_missing = |code: &&str| !FIELDS.contains(code) && !set.has(code);
    let missing: Vec<&str> = attributes.codes().filter(is_missing).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    let sets = crate::ops::attribute::names::sets(service).await?;
    let name = sets.iter().find(|known| known.id == set.id).map_or(&*set.id, |known| &known.name);
    let codes = missing.join("`, `");
    let are = if missing.len() == 1 { "is" } else { "are" };
    let assign = storefront("attribute assign").arg(*first).arg("--set").arg(name);
    Err(Failure::usage(format!(
        "`{codes}` {are} not in the attribute set `{name}`, so that the shop would ignore the value"
    ))
    .hint(hint!("assign it with ", assign)))
}

/// The call. It has `null` for attributes whose default option it would write otherwise.
fn request(service: &Service<'_>, scope: &str, read: &Read, effect: &Effect) -> Result<Request, Failure> {
    let product = &read.product;
    let is_named = |code: &str| effect.changes.iter().any(|change| change.path.last_name() == code);
    let empty = read.set.defaults(|code| product.values.contains_key(code) || is_named(code));
    let body = body(&product.sku, effect, &empty).to_string();
    let path = format!("{}/{}", search::path(service, scope)?, segment(&product.sku));
    Ok(Request::put(path, body.into(), Bearer::Admin))
}

/// Warns once in a run of attributes whose values are those of a website.
pub(super) fn warn_of_websites(service: &Service<'_>, catalog: &Catalog, wanted: &Wanted) {
    let of_website = wanted.attributes.iter().filter(|it| it.scope == Scope::Website && wanted.scope != ALL);
    for attribute in of_website {
        let code = &attribute.code;
        let said = format!("`{code}` has one value for a website: it is set for all of its store views");
        if catalog.is_new(&said) {
            service.session.report.for_line(None).warn(&said);
        }
    }
}

/// The changes with the labels of options, and whose they are.
fn in_words(read: &Read, effect: &Effect, attributes: &Attributes) -> ChangedOutcome {
    let product = &read.product;
    let change = |change: &Change| {
        let code = change.path.last_name();
        let words = |value: Option<&Value>| value.map(|value| attributes.in_words(code, value.clone()));
        let of_all = read.of_all.as_ref().and_then(|of_all| of_all.values.get(code));
        let before = match &change.before {
            Before::NotRead => Some("(not read)".into()),
            Before::Read(before) => words(before.as_ref()),
        };
        let after = match &change.sent {
            Sent::Value(Some(after)) => words(Some(after)),
            // A store view then shows the value for all.
            _ => words(of_all),
        };
        diff::FieldChange { before, after, path: change.path.clone() }
    };
    let view = effect.owner.scope.clone().filter(|scope| scope != ALL).map(|view| ("store_view", view));
    let owner = [("sku", product.sku.clone()), ("product", product.id.clone())].into_iter().chain(view);
    let owner = owner.map(|(name, value)| (name.to_owned(), value.into())).collect();
    ChangedOutcome { changes: effect.changes.iter().map(change).collect(), owner }
}

fn unchanged(wanted: &Wanted) -> Outcome {
    let said = format!("{} has these values already", sanitize_line(&wanted.sku));
    let reason = Some("unchanged");
    let changed = Some(ChangedOutcome::default());
    Outcome { reason, changed, unchanged: Some(said), ..Outcome::not_sent(PRODUCT_SET.name) }
}

fn said(product: &Product, scope: &str, of_product: &ChangedOutcome) -> String {
    let sku = sanitize_line(&product.sku);
    let whose = if scope == ALL { String::new() } else { format!(" in store view {scope}") };
    let text = |value: &Option<Value>| match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => sanitize_line(text),
        Some(other) => sanitize_line(&other.to_string()),
    };
    match &of_product.changes[..] {
        [only] => {
            let (before, after) = (text(&only.before), text(&only.after));
            format!("Set {} of {sku}{whose} from {before} to {after}", only.path.last_name())
        }
        changes => {
            let codes: Vec<&str> = changes.iter().map(|change| change.path.last_name()).collect();
            format!("Set {} of {sku}{whose}", codes.join(", "))
        }
    }
}

/// Whether the product shows what a record of an earlier run was to change; `None` while that is unknown.
///
/// # Errors
/// If the product cannot be read.
pub async fn resolve_unknown(
    service: &Service<'_>,
    catalog: &Catalog,
    draft: &Draft,
    ahead: &Ahead,
) -> Result<Option<Outcome>, Failure> {
    let Some((write, effect)) = ahead.writes.last().and_then(|write| Some((write, write.changes()?))) else {
        return Ok(None);
    };
    let wanted = wanted(service, catalog, &draft.fields).await?;
    let scope = effect.owner.scope.as_deref().unwrap_or(ALL);
    let product = match search::read(service, scope, &wanted.sku, &wanted.attributes).await {
        Err(failure) if failure.kind == FailureKind::Usage => return Ok(None),
        product => product?,
    };
    if effect.owner.id.as_ref() != Some(&product.id) {
        return Ok(None);
    }
    seen_earlier(service, &PRODUCT_SET, std::slice::from_ref(write), &product.document())
}
