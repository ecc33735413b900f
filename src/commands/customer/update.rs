//! `storefront customer update`: a wish laid over the stored profile.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use serde_json::{Map, Value};

use super::change::ProfileChange;
use super::{reading, replace};
use crate::cli::customer::{ReplacementArgs, UpdateArgs};
use crate::commands::customer::interactive::{self, Editor, Start};
use crate::commands::dispatch;
use crate::failure::Failure;
use crate::input::Draft;
use crate::ops::record::Work;
use crate::ops::{draft, send};
use crate::plan::operation::Operation;
use crate::plan::profile::address_ids::Roster;
use crate::plan::profile::deletion_guard;
use crate::plan::profile::merge::{Merged, merge};
use crate::plan::profile::patch::Wish;
use crate::plan::profile::stored::Profile;
use crate::plan::validate::body::Warnings;
use crate::plan::validate::{lint_address, masked_values};
use crate::prompt::Prompt;
use crate::redact::secrets;
use crate::report::outcome::Outcome;
use crate::session::Session;
use crate::session::runtime::online;
use crate::session::service::Service;
use crate::{batch, history};

/// Reads the input, then replaces the profile; of many records, one after another.
///
/// # Errors
/// Whatever went wrong.
pub fn run(session: &Session<'_>, args: &UpdateArgs) -> Result<(), Failure> {
    if let Some(source) = dispatch::source(session, &args.run)? {
        return batch::run(session, &source, &args.run, Work::Update(args));
    }
    let prompt = Rc::new(Prompt::new(session.context, session.global, session.report));
    let asks = prompt.can_ask() && session.global.input.is_none();
    let (args, start) = if asks { to_be_asked(args) } else { (args.clone(), None) };
    let draft = draft::draft(session, Operation::CustomerUpdate, &args)?;
    let mut update = if asks { Update::to_be_filled(draft, &args)? } else { Update::new(draft, &args)? };
    online(session, async |service| {
        if update.wish.is_empty() {
            let profile = match &update.base {
                Some(base) => base.clone(),
                None => reading::read_profile(service).await?,
            };
            let start = start.unwrap_or(Start::List);
            if let Start::Address(id) = start {
                Roster::of(profile.addresses())?.find(id)?;
            }
            return ask_and_replace(service, &mut update, prompt, &profile, start).await;
        }
        let outcome = replace::replace(service, &update).await?;
        session.report.outcome(&outcome)
    })
}

/// Asks what is to be changed, again whenever the person goes back from the confirmation.
async fn ask_and_replace(
    service: &Service<'_>,
    update: &mut Update,
    prompt: Rc<Prompt>,
    profile: &Profile,
    start: Start,
) -> Result<(), Failure> {
    let session = service.session;
    let mut editor = Editor::new(&prompt, profile, start);
    update.prompt = Some(prompt.clone());
    loop {
        update.wish.draft = editor.ask()?;
        match replace::replace(service, update).await {
            Ok(outcome) => return session.report.outcome(&outcome),
            Err(_) if update.went_back.take() => {}
            Err(failure) => {
                // What was typed is not lost with what fails, or is cancelled.
                let line = interactive::command_line(&update.wish.draft, session.global);
                session.report.note(&format!("Equivalent command:\n  {line}"));
                return Err(failure);
            }
        }
    }
}

/// An address that is named without a word about what it shall be is where the questions begin.
fn to_be_asked(args: &UpdateArgs) -> (UpdateArgs, Option<Start>) {
    let mut left = args.clone();
    let says_more = !args.members.named.is_empty()
        || !args.custom_attributes.is_empty()
        || !args.profile.named.is_empty()
        || args.default_address().is_some()
        || !args.remove_addresses.is_empty()
        || args.replace_addresses;
    if says_more {
        return (left, None);
    }
    let start = match (left.address.take(), std::mem::take(&mut left.add_address)) {
        (Some(id), _) => Some(Start::Address(id)),
        (None, true) => Some(Start::NewAddress),
        (None, false) => None,
    };
    (left, start)
}

/// What the flags and the input ask for.
pub struct Update {
    wish: Wish,
    extra_fields: Map<String, Value>,
    allow_delete: Option<usize>,
    base: Option<Profile>,
    replacement: ReplacementArgs,
    prompt: Option<Rc<Prompt>>,
    went_back: Cell<bool>,
}

impl Update {
    /// Takes a draft, with the flags that say what becomes of addresses.
    ///
    /// # Errors
    /// `usage` when nothing is asked, or the flags contradict the draft.
    pub fn new(draft: Draft, args: &UpdateArgs) -> Result<Self, Failure> {
        let update = Self::to_be_filled(draft, args)?;
        if update.wish.is_empty() { Err(nothing_asked()) } else { Ok(update) }
    }

    /// The same, where nothing may be asked yet.
    fn to_be_filled(mut draft: Draft, args: &UpdateArgs) -> Result<Self, Failure> {
        let wish = Wish {
            draft: draft.take_inner(Operation::CustomerUpdate),
            remove: args.remove_addresses.clone(),
            replace: args.replace_addresses,
            allow_duplicate: args.allow_duplicate,
            default_address: args.default_address(),
            deferred: std::mem::take(&mut draft.deferred),
        };
        if wish.replace && !wish.draft.contains_key("addresses") {
            return Err(Failure::usage("--replace-addresses is given, but no addresses; nothing was sent")
                .hint("give the whole list with --input, or leave --replace-addresses out"));
        }
        let base = args.base.as_deref().map(reading::read_base).transpose()?;
        Ok(Self {
            wish,
            extra_fields: draft.body,
            allow_delete: args.allow_delete,
            base,
            replacement: args.replacement.clone(),
            prompt: None,
            went_back: Cell::default(),
        })
    }

    /// Replaces the profile.
    ///
    /// # Errors
    /// As [`replace::replace`].
    pub async fn replace(&self, service: &Service<'_>) -> Result<Outcome, Failure> {
        replace::replace(service, self).await
    }
}

impl ProfileChange for Update {
    fn operation(&self) -> &'static str {
        Operation::CustomerUpdate.name()
    }

    fn merge(&self, stored: &Map<String, Value>) -> Result<Merged, Failure> {
        match masked_values::resolve(&self.wish.draft, stored, self.wish.replace, secrets())? {
            Cow::Borrowed(_) => merge(stored.clone(), &self.wish),
            Cow::Owned(draft) => merge(stored.clone(), &Wish { draft, ..self.wish.clone() }),
        }
    }

    fn check_deletions(&self, merged: &Merged, prompt: &Prompt, confirmed: bool) -> Result<(), Failure> {
        match deletion_guard::deletions(&self.wish, &merged.tally, self.allow_delete, confirmed) {
            Err(_) if self.wish.replace && self.allow_delete.is_none() && prompt.can_ask() => {
                let typed = prompt.number_of_deletions(merged.tally.removed.len())?;
                deletion_guard::deletions(&self.wish, &merged.tally, Some(typed), confirmed)
            }
            result => result,
        }
    }

    fn on_read(&self, service: &Service<'_>, found: &Profile) {
        // Completion serves whoever types about one customer; a run sees many.
        if service.session.report.record.is_none() {
            history::remember(service.session.context, &service.name(), found);
        }
    }

    fn warnings(&self, merged: &Merged) -> Warnings {
        lint_address::of_profile(merged)
    }

    fn prompt(&self) -> Option<&Prompt> {
        self.prompt.as_deref()
    }

    fn went_back(&self) {
        self.went_back.set(true);
    }

    fn extra_fields(&self) -> Map<String, Value> {
        self.extra_fields.clone()
    }

    fn base(&self) -> Option<&Profile> {
        self.base.as_ref()
    }

    fn replacement_args(&self) -> &ReplacementArgs {
        &self.replacement
    }
}

fn nothing_asked() -> Failure {
    Failure::usage("no change is named; nothing was sent").hint(
        "for one address: --address ID with --street, --city, --postcode and their like; `storefront customer show` lists the ids",
    )
}
