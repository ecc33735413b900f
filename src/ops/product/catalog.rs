//! What a run has read of a shop to understand the values of its products, each thing once: attributes with their
//! options, the attributes of sets, store views with their websites.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;
use tokio::sync::{Mutex, OnceCell};

use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use crate::ops::attribute::{catalog as attributes, is_absent, names, read_all};
use storefront_core::attribute::Named;
use storefront_core::attribute::view;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::{Bearer, Filter, Request};
use storefront_core::operation::scalar;
use storefront_core::product::attribute::FIELDS;
use storefront_core::product::attribute::{Attribute, Attributes};
use storefront_core::product::hash_of;
use storefront_core::text::suggestion::closest_match;

/// An attribute, or why there is none with that title.
pub type Found = Result<Rc<Attribute>, Failure>;

/// What was read.
#[derive(Debug, Default)]
pub struct Catalog {
    /// By the titles that an input has.
    attributes: RefCell<HashMap<String, Found>>,
    /// By the ids of the sets.
    sets: RefCell<HashMap<String, Rc<AttributeSet>>>,
    views: OnceCell<Vec<StoreView>>,
    /// Codes and labels of all attributes that the shop has defined.
    titles: OnceCell<Vec<Named>>,
    /// Held while something is read: other records that need it wait.
    reading: Mutex<()>,
    /// What the check of a whole sheet has found.
    pub examined: RefCell<Option<Examined>>,
    /// The warnings that were given once for all records.
    pub told: RefCell<HashSet<String>>,
}

/// What the check of a sheet has found, by the hashes of SKUs.
#[derive(Debug, Default)]
pub struct Examined {
    /// Products that rows name.
    pub seen: HashSet<u64>,
    /// Products that a row changes.
    pub changing: HashSet<u64>,
    /// Products with a special price in all store views.
    pub on_sale: HashSet<u64>,
    /// What rows make of values for all, by the code of the attribute.
    pub for_all: HashMap<(u64, String), Option<Value>>,
}

/// The user-defined attributes of a set.
#[derive(Debug)]
pub struct AttributeSet {
    /// Id of the set.
    pub id: String,
    members: HashMap<String, Member>,
}

#[derive(Debug)]
struct Member {
    label: String,
    has_default: bool,
}

#[derive(Debug)]
struct StoreView {
    code: String,
    website: String,
}

impl Catalog {
    /// The attribute with this code, or with this label.
    ///
    /// # Errors
    /// As [`Service::read`]; in the result, `usage` if it does not exist, or its values are not written.
    pub async fn attribute(&self, service: &Service<'_>, title: &str) -> Result<Found, Failure> {
        let known = || self.attributes.borrow().get(title).cloned();
        if let Some(known) = known() {
            return Ok(known);
        }
        let _reading = self.reading.lock().await;
        if let Some(known) = known() {
            return Ok(known);
        }
        let found = self.find(service, title).await?;
        self.attributes.borrow_mut().insert(title.to_owned(), found.clone());
        Ok(found)
    }

    async fn find(&self, service: &Service<'_>, title: &str) -> Result<Found, Failure> {
        let code = title.to_ascii_lowercase();
        if let Some(field) = Attribute::field(&code) {
            return Ok(Ok(Rc::new(field)));
        }
        let is_code = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if is_code(title)
            && let Some(found) = read(service, &code).await?
        {
            return Ok(found);
        }
        let titles = self.titles(service).await?;
        let label = title.to_lowercase();
        let same: Vec<&str> =
            titles.iter().filter(|it| it.name.to_lowercase() == label).map(|it| it.id.as_str()).collect();
        match same[..] {
            [code] => Ok(read(service, code).await?.unwrap_or_else(|| Err(unknown(title, titles)))),
            [] => Ok(Err(unknown(title, titles))),
            _ => Ok(Err(Failure::usage(format!(
                "several attributes have the label `{title}`: name one by its code ({})",
                same.join(", ")
            )))),
        }
    }

    async fn titles(&self, service: &Service<'_>) -> Result<&[Named], Failure> {
        self.titles.get_or_try_init(|| read_titles(service)).await.map(Vec::as_slice)
    }

    /// The attributes of a set.
    ///
    /// # Errors
    /// As [`Service::read`].
    pub async fn set(&self, service: &Service<'_>, id: &str) -> Result<Rc<AttributeSet>, Failure> {
        let known = || self.sets.borrow().get(id).cloned();
        if let Some(known) = known() {
            return Ok(known);
        }
        let _reading = self.reading.lock().await;
        if let Some(known) = known() {
            return Ok(known);
        }
        let filters = [attributes::user_defined(), Filter::equal(&["attribute_set_id"], id)];
        let fields = Some("default_value,default_frontend_label");
        let read = attributes::read(service, attributes::ADMINISTRATORS, &filters, fields, |_, _| ()).await?;
        let members = read.iter().map(|one| {
            let one = view::Attribute(one);
            let label = one.text("default_frontend_label").to_owned();
            let has_default = scalar(one.0.get("default_value")).is_some();
            (one.code().to_owned(), Member { label, has_default })
        });
        let set = Rc::new(AttributeSet { id: id.to_owned(), members: members.collect() });
        self.sets.borrow_mut().insert(id.to_owned(), set.clone());
        Ok(set)
    }

    /// The attributes of a set whose values are written, with their options.
    ///
    /// # Errors
    /// As [`Service::read`].
    pub async fn of_set(&self, service: &Service<'_>, id: &str) -> Result<Attributes, Failure> {
        let filters = [attributes::user_defined(), Filter::equal(&["attribute_set_id"], id)];
        let fields = Some("default_frontend_label,frontend_input,is_user_defined,options,scope");
        let read = attributes::read(service, attributes::ADMINISTRATORS, &filters, fields, |_, _| ()).await?;
        let mut found = Attributes::default();
        let own = FIELDS.iter().filter_map(|code| Attribute::field(code));
        let written = read.iter().filter_map(|one| Attribute::of(view::Attribute(one)).ok());
        own.chain(written).for_each(|attribute| found.insert(attribute.into()));
        Ok(found)
    }

    /// The codes of the store views.
    ///
    /// # Errors
    /// As [`Service::read`].
    pub async fn views(&self, service: &Service<'_>) -> Result<Vec<String>, Failure> {
        Ok(self.store_views(service).await?.iter().map(|view| view.code.clone()).collect())
    }

    async fn store_views(&self, service: &Service<'_>) -> Result<&[StoreView], Failure> {
        self.views.get_or_try_init(|| read_views(service)).await.map(Vec::as_slice)
    }

    /// The website of a store view.
    ///
    /// # Errors
    /// `usage` for a code that no store view has; as [`Service::read`].
    pub async fn website_of(&self, service: &Service<'_>, code: &str) -> Result<&str, Failure> {
        let views = self.store_views(service).await?;
        if let Some(view) = views.iter().find(|view| view.code == code) {
            return Ok(&view.website);
        }
        let codes: Vec<&str> = views.iter().map(|view| view.code.as_str()).collect();
        let near = closest_match(code, codes.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let known = near.unwrap_or_else(|| format!("the shop has: {}", codes.join(", ")));
        Err(Failure::usage(format!("unknown store view `{code}`; {known}")))
    }

    /// Whether the check of a sheet has shown that no row changes this product.
    pub fn is_unchanged(&self, sku: &str) -> bool {
        let hash = hash_of(sku);
        let examined = self.examined.borrow();
        examined.as_ref().is_some_and(|it| it.seen.contains(&hash) && !it.changing.contains(&hash))
    }

    /// Whether the check of a sheet has shown that this product has a special price in all store views; `None` if it was
    /// not checked.
    pub fn is_on_sale(&self, sku: &str) -> Option<bool> {
        let hash = hash_of(sku);
        let examined = self.examined.borrow();
        examined.as_ref().filter(|it| it.seen.contains(&hash)).map(|it| it.on_sale.contains(&hash))
    }

    /// What a row of the sheet makes of a value for all, as its check has found; `None` where no row changes it.
    pub fn set_for_all(&self, sku: &str, code: &str) -> Option<Option<Value>> {
        let key = (hash_of(sku), code.to_owned());
        self.examined.borrow().as_ref()?.for_all.get(&key).cloned()
    }

    /// Whether a warning is given for the first time.
    pub fn is_new(&self, said: &str) -> bool {
        self.told.borrow_mut().insert(said.to_owned())
    }
}

impl AttributeSet {
    /// Whether it has an attribute.
    pub fn has(&self, code: &str) -> bool {
        self.members.contains_key(code)
    }

    /// Attributes with a default option for which a product has no value: a call that does not name them writes the
    /// default.
    pub fn defaults<'a>(&'a self, has_value: impl Fn(&str) -> bool + 'a) -> Vec<&'a str> {
        let empty = |(code, member): &(&'a String, &'a Member)| member.has_default && !has_value(code);
        let mut codes: Vec<&str> = self.members.iter().filter(empty).map(|(code, _)| code.as_str()).collect();
        codes.sort_unstable();
        codes
    }

    /// The code of the attribute with this label.
    pub fn labelled(&self, label: &str) -> Option<&str> {
        self.members.iter().find(|(_, member)| member.label == label).map(|(code, _)| code.as_str())
    }
}

/// Reads an attribute by its code; `None` if it is missing.
async fn read(service: &Service<'_>, code: &str) -> Result<Option<Found>, Failure> {
    match service.read(&read_all(service, code)?).await {
        Ok(reply) => match view::Attribute::shown(&reply.value) {
            Some(shown) if reply.warning.is_none() => Ok(Some(Attribute::of(shown).map(Rc::new))),
            _ => {
                let message = "unexpected response: not an attribute";
                Err(Failure::unexpected_reply(message).hint(LOOK_CLOSER))
            }
        },
        Err(failure) if is_absent(&failure) => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn unknown(title: &str, known: &[Named]) -> Failure {
    let names = known.iter().flat_map(|it| [it.id.as_str(), it.name.as_str()]);
    let near = closest_match(title, names).map(|near| format!("; did you mean `{near}`?"));
    Failure::usage(format!("the shop has no attribute `{title}`{}", near.unwrap_or_default()))
        .hint(hint!(storefront("attribute list"), " lists them"))
}

/// Codes and labels of all attributes that the shop has defined.
async fn read_titles(service: &Service<'_>) -> Result<Vec<Named>, Failure> {
    let filters = [attributes::user_defined()];
    let fields = Some("default_frontend_label");
    let read = attributes::read(service, attributes::ADMINISTRATORS, &filters, fields, |_, _| ()).await?;
    let text = |one: &serde_json::Map<String, Value>, name: &str| {
        one.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
    };
    let named = |one| Named { id: text(one, "attribute_code"), name: text(one, "default_frontend_label") };
    Ok(read.iter().map(named).collect())
}

async fn read_views(service: &Service<'_>) -> Result<Vec<StoreView>, Failure> {
    let path = names::path(service, "/all/V1/store/storeViews", &[])?;
    let reply = service.read(&Request::get(path, Bearer::Admin)).await?;
    let views = reply.value.as_array().map(Vec::as_slice).unwrap_or_default();
    let view = |one: &Value| {
        Some(StoreView {
            code: one.get("code")?.as_str()?.to_owned(),
            website: scalar(one.get("website_id"))?,
        })
    };
    let views: Option<Vec<StoreView>> = views.iter().map(view).collect();
    // The view of administrators is not a store view of the shop.
    let views = views.map(|views| views.into_iter().filter(|view| view.code != "admin").collect::<Vec<_>>());
    views.filter(|views| !views.is_empty() && reply.warning.is_none()).ok_or_else(|| {
        let message = "unexpected response: no list of store views";
        Failure::new(FailureKind::Unavailable, message).hint(LOOK_CLOSER)
    })
}
