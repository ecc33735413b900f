//! What others have edited since the form of this command showed it; a person sees that before confirming.

use crate::client::service::Service;
use crate::report::changes;
use crate::report::style::TextStyle;
use storefront_core::order::{Order, Which};
use storefront_core::profile::diff::{self, FieldChange};
use storefront_core::profile::stored::Profile;

/// Shows the differences between the customer as the form showed them and as they are stored.
pub fn show_edits_of_profile(service: &Service<'_>, stored: &Profile) {
    let shown = service.shown.borrow();
    let mut edits =
        shown.as_object().map(|shown| diff::customers(shown, stored.customer())).unwrap_or_default();
    edits.retain(|edit| !edit.is_ignored(&service.settings.read.ignore));
    show(service, edits);
}

/// Shows the differences between the addresses of the order as the form showed them and as they are stored.
pub fn show_edits_of_order(service: &Service<'_>, stored: &Order) {
    let shown = Order::of(service.shown.borrow().clone());
    let of = |which: Which| shown.as_ref()?.change(which, stored.address(which)?).ok();
    let effects = [Which::Shipping, Which::Billing].into_iter().filter_map(of);
    show(service, effects.flat_map(|effect| effect.differences()).collect());
}

fn show(service: &Service<'_>, mut edits: Vec<FieldChange>) {
    edits.retain(|edit| !edit.is_same());
    if edits.is_empty() {
        return;
    }
    let prompt = service.session.prompt();
    let style = service.session.report.stderr_style;
    prompt.show(&style.paint(TextStyle::Head, "Changed by others meanwhile:"));
    prompt.show(&changes::text(&edits, style));
}
