//! Checks a whole sheet of values against the shop before anything is sent: it finds what the shop does not have, and
//! sorts out what it has already. Each request reads as many products as its URL can hold.

use std::collections::{BTreeMap, HashMap, HashSet};

use futures_util::future::LocalBoxFuture;

use super::catalog::Examined;
use super::search::{self, Room};
use super::set::{ensure_members, warn_of_websites};
use super::{Catalog, Wanted, wanted};
use crate::client::service::Service;
use crate::input::Draft;
use crate::ops::{Examiner, Refused};
use storefront_core::effect::Sent;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::product::attribute::Scope;
use storefront_core::product::{ALL, Product, hash_of};
use storefront_core::text::hash::{Fnv1a, fnv1a};

/// The check of a sheet.
pub struct Sheet<'a> {
    service: &'a Service<'a>,
    catalog: &'a Catalog,
    /// Records that are not looked up yet, by their scopes.
    pending: BTreeMap<String, Pending>,
    examined: Examined,
    /// Products for which a row sets values of a store view.
    of_views: HashSet<u64>,
    /// What rows set for a website: the value and its line.
    of_websites: HashMap<u64, (u64, u64)>,
}

struct Pending {
    records: Vec<(u64, Wanted)>,
    room: Room,
}

impl<'a> Sheet<'a> {
    /// A sheet of which no row was checked yet.
    pub fn new(service: &'a Service<'a>, catalog: &'a Catalog) -> Self {
        let pending = BTreeMap::new();
        let examined = Examined::default();
        Self { service, catalog, pending, examined, of_views: HashSet::new(), of_websites: HashMap::new() }
    }

    async fn add(&mut self, line: u64, draft: &Draft) -> Result<Vec<Refused>, Failure> {
        let wanted = match wanted(self.service, self.catalog, &draft.fields).await {
            Ok(wanted) => wanted,
            Err(failure) if matches!(failure.kind, FailureKind::Usage | FailureKind::Guard) => {
                return Ok(vec![(line, failure)]);
            }
            Err(failure) => return Err(failure),
        };
        if wanted.targets.is_empty() {
            return Ok(Vec::new());
        }
        if let Err(failure) = self.refuse_order(line, &wanted).await? {
            return Ok(vec![(line, failure)]);
        }
        warn_of_websites(self.service, self.catalog, &wanted);
        let scope = wanted.scope.clone();
        let takes = self.pending.get_mut(&scope).is_none_or(|pending| pending.room.takes(&wanted.sku));
        let mut refused = Vec::new();
        if !takes && let Some(full) = self.pending.remove(&scope) {
            refused = self.compare(&scope, full.records).await?;
        }
        if let Some(pending) = self.pending.get_mut(&scope) {
            pending.records.push((line, wanted));
        } else {
            let mut room = Room::of(self.service, &scope)?;
            room.takes(&wanted.sku);
            self.pending.insert(scope, Pending { records: vec![(line, wanted)], room });
        }
        Ok(refused)
    }

    /// Refuses rows in the wrong order and contradictions: rows for all come before those for store views of the same
    /// product, and two store views of a website share one value of an attribute of the website.
    async fn refuse_order(&mut self, line: u64, wanted: &Wanted) -> Result<Result<(), Failure>, Failure> {
        let hash = hash_of(&wanted.sku);
        if wanted.scope == ALL {
            let is_late = self.of_views.contains(&hash);
            let message = "the row for all store views stands after one for a store view of the same SKU";
            return Ok(if is_late { Err(Failure::usage(message)) } else { Ok(()) });
        }
        self.of_views.insert(hash);
        let website = self.catalog.website_of(self.service, &wanted.scope).await?.to_owned();
        for target in &wanted.targets {
            let attribute = wanted.attributes.get(&target.code);
            let (Some(Scope::Website), Some(value)) = (attribute.map(|it| it.scope), target.plain()) else {
                continue;
            };
            let key = Fnv1a::default().update(&hash.to_le_bytes()).update(target.code.as_bytes());
            let key = key.update(&[0]).update(website.as_bytes()).finish();
            let value = fnv1a(value.unwrap_or_default().as_bytes());
            let (before, at) = *self.of_websites.entry(key).or_insert((value, line));
            if before != value {
                let message = format!(
                    "`{}` has one value for a website, and line {at} sets another one for the same SKU",
                    target.code
                );
                return Ok(Err(Failure::usage(message)));
            }
        }
        Ok(Ok(()))
    }

    /// Compares records with the products of the shop.
    async fn compare(&mut self, scope: &str, records: Vec<(u64, Wanted)>) -> Result<Vec<Refused>, Failure> {
        let skus: Vec<&str> = records.iter().map(|(_, wanted)| wanted.sku.as_str()).collect();
        let shown = search::shown(self.service, scope, &skus).await?;
        if scope != ALL {
            let of_all = search::shown(self.service, ALL, &skus).await?;
            let none = storefront_core::product::attribute::Attributes::default();
            let on_sale = of_all.iter().filter_map(|one| Product::of(one, &none));
            let on_sale = on_sale.filter(Product::has_special_price).map(|product| hash_of(&product.sku));
            self.examined.on_sale.extend(on_sale);
        }
        let mut refused = Vec::new();
        for (line, wanted) in records {
            let product =
                search::named(&shown, &wanted.sku).and_then(|it| Product::of(it, &wanted.attributes));
            let Some(product) = product else {
                refused.push((line, Failure::usage("the shop has no product with this SKU")));
                continue;
            };
            let set = self.catalog.set(self.service, &product.set).await?;
            match ensure_members(self.service, &set, &wanted.attributes).await {
                Err(failure) if failure.kind == FailureKind::Usage => {
                    refused.push((line, failure));
                    continue;
                }
                members => members?,
            }
            let hash = hash_of(&wanted.sku);
            self.examined.seen.insert(hash);
            let effect = product.changed(scope, &wanted.targets);
            if !effect.is_empty() {
                self.examined.changing.insert(hash);
            }
            for change in effect.changes.iter().filter(|_| scope == ALL) {
                if let Sent::Value(value) = &change.sent {
                    self.examined.for_all.insert((hash, change.path.last_name().to_owned()), value.clone());
                }
            }
        }
        Ok(refused)
    }
}

impl Examiner for Sheet<'_> {
    fn take<'s>(
        &'s mut self,
        line: u64,
        draft: &'s Draft,
    ) -> LocalBoxFuture<'s, Result<Vec<Refused>, Failure>> {
        Box::pin(self.add(line, draft))
    }

    fn finish(&mut self) -> LocalBoxFuture<'_, Result<Vec<Refused>, Failure>> {
        Box::pin(async {
            let mut refused = Vec::new();
            for (scope, pending) in std::mem::take(&mut self.pending) {
                refused.extend(self.compare(&scope, pending.records).await?);
            }
            *self.catalog.examined.borrow_mut() = Some(std::mem::take(&mut self.examined));
            Ok(refused)
        })
    }
}
