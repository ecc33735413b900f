//! Keeps in mind that an addition to a cart was sent, until its outcome is known.

use std::path::PathBuf;

use serde_json::Value;

use super::items::{Items, line_of};
use crate::failure::{Applied, Failure};
use crate::report::outcome::Outcome;
use crate::session::service::Service;
use crate::state::{CartAdditions, CartLine};

/// The note of one addition; none where no cart can be read, or the note cannot be written.
#[derive(Debug)]
pub struct Note(Option<(CartAdditions, PathBuf)>);

impl Note {
    /// Notes that an addition to this cart, or to the marketplace's quote, is about to leave.
    pub fn write(service: &Service<'_>, cart: Option<u64>, quote: &Value) -> Self {
        let can_be_read = cart.is_some() || service.settings.read.quote_path.is_some();
        if !can_be_read || service.session.global.dry_run {
            return Self(None);
        }
        let id = match (cart, quote) {
            (Some(cart), _) => cart.to_string(),
            (None, Value::String(quote)) => quote.trim().to_owned(),
            (None, quote) => quote.to_string(),
        };
        let additions = CartAdditions::of(service.session.context, &service.settings, &id).ok();
        Self(additions.and_then(|additions| {
            let path = additions.note().ok()?;
            Some((additions, path))
        }))
    }

    /// Why what the cart shows may be the work of another addition from this machine; `None` where it cannot be.
    pub fn doubt(&self) -> Option<&'static str> {
        let Some((additions, path)) = &self.0 else {
            return Some("additions to carts cannot be noted in the state directory");
        };
        match additions.may_be_disturbed(path) {
            Ok(false) => None,
            Ok(true) => Some(
                "another addition to this cart was sent less than 10 minutes ago and may have changed it instead",
            ),
            Err(_) => Some("earlier additions to this cart cannot be read from the state directory"),
        }
    }

    /// Whether what was read of the cart is older than an addition from this machine that the service has answered.
    pub fn is_outdated(&self, items: &Items) -> bool {
        let Some((additions, _)) = &self.0 else { return false };
        let is_shown = |line: &Option<CartLine>| line.as_ref().is_some_and(|line| items.holds(line));
        !additions.applied_lines().iter().all(is_shown)
    }

    /// Completes or removes the note where the outcome is known.
    pub fn close(&self, result: &Result<Outcome, Failure>) {
        let Some((additions, path)) = &self.0 else { return };
        match result {
            // It stays where that cannot be noted at the others: they then see that it is open.
            Ok(outcome) => {
                let line = outcome.response.as_ref().and_then(line_of);
                drop(additions.set_applied(path, line.as_ref()));
            }
            Err(failure) if failure.applied == Applied::Unknown => {}
            Err(_) => additions.forget(path),
        }
    }

    /// Removes the note: nothing was sent.
    pub fn discard(&self) {
        if let Some((additions, path)) = &self.0 {
            additions.forget(path);
        }
    }
}
