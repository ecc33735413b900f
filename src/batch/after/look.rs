//! What is asked of one group of records.

use super::Member;
use crate::client::service::Service;
use crate::input::Draft;
use crate::ops::attribute;
use crate::ops::cart_state::{self, SetBack};
use crate::ops::customers::with_id;
use crate::ops::profile::after::{self, Finding, Found, Sent};
use crate::plan::Planned;
use storefront_core::effect::Effect;
use storefront_core::failure::Failure;
use storefront_core::operation::{
    ATTRIBUTE_CREATE, ATTRIBUTE_OPTION_ADD, CUSTOMER_UPDATE, OperationSpec, QUOTE_REMOVE_ITEM,
    QUOTE_SET_ITEM, body,
};

/// What is done with the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// What they wrote is looked for.
    Verify,
    /// What leads back is planned.
    Undo,
}

/// What came of it.
#[derive(Debug)]
pub enum Answer {
    /// What is found of each record.
    Findings(Vec<Finding>),
    /// What leads back.
    Undone {
        /// The record of a plan.
        planned: Box<Option<Planned>>,
        /// What does not go back.
        left: Vec<String>,
        /// What goes back otherwise than it was.
        notes: Vec<String>,
        /// Whether it adds an address that equals a stored one.
        adds_twin: bool,
    },
}

/// Whether a read shows what a record of this operation wrote.
pub fn can_be_verified(operation: &OperationSpec) -> bool {
    can_be_undone(operation)
        || [&QUOTE_REMOVE_ITEM, &ATTRIBUTE_CREATE, &ATTRIBUTE_OPTION_ADD].contains(&operation)
}

/// Whether there is something that sets back what a record of this operation wrote.
pub fn can_be_undone(operation: &OperationSpec) -> bool {
    [&CUSTOMER_UPDATE, &QUOTE_SET_ITEM].contains(&operation)
}

impl Task {
    /// Reads what the members wrote. `draft` is that of the last one.
    pub async fn look(
        self,
        service: &Service<'_>,
        draft: &Draft,
        members: &[Member],
        sent: &[Sent],
    ) -> Result<Answer, Failure> {
        let is_profile = *draft.operation == CUSTOMER_UPDATE;
        match self {
            Self::Verify if is_profile => after::verify(service, sent).await.map(Answer::Findings),
            Self::Verify => {
                let effects = members.last().map_or(&[][..], |member| &member.effects);
                Ok(Answer::Findings(verify(service, draft, effects, sent).await?))
            }
            Self::Undo if is_profile => {
                let undone = after::undo(service, sent).await?;
                let adds_twin = undone.back.as_ref().is_some_and(|back| back.adds_twin);
                let planned = undone.back.map(|back| Planned {
                    customer: back.customer,
                    input: back.input,
                    expect: back.expect,
                    of: None,
                    warnings: Vec::new(),
                });
                let (left, notes) = (undone.left, undone.notes);
                Ok(Answer::Undone { planned: Box::new(planned), left, notes, adds_twin })
            }
            Self::Undo => set_back(service, draft, members).await,
        }
    }
}

/// What a read shows of the last of several records that set the same; the others were overwritten by it.
async fn verify(
    service: &Service<'_>,
    draft: &Draft,
    effects: &[Effect],
    sent: &[Sent],
) -> Result<Vec<Finding>, Failure> {
    let is_cart = [&QUOTE_SET_ITEM, &QUOTE_REMOVE_ITEM].contains(&draft.operation);
    let service = &with_id(service).await?;
    let (last, earlier) = (sent.last(), &sent[..sent.len().saturating_sub(1)]);
    let overwritten = |record: &Sent| {
        let unknown = || Found::NotSeen("a later record set the same".to_owned());
        (record.record, if record.is_done { Found::There } else { unknown() })
    };
    let mut found: Vec<(u64, Found)> = earlier.iter().map(overwritten).collect();
    if let Some(last) = last {
        let now = if is_cart {
            cart_state::since(service, effects).await?
        } else {
            Ok(attribute::since(service, draft).await?)
        };
        // That an item is not in a cart proves a removal only where it is known that it is the same cart.
        let is_shown = if !last.is_done && is_cart {
            let looked = cart_state::resolve_unknown(service, draft.operation, effects).await;
            looked.ok().flatten().is_some()
        } else {
            now.as_ref().is_ok_and(Vec::is_empty)
        };
        let found_last = match (last.is_done, now) {
            (false, _) if is_shown => Found::Seen,
            (false, _) => Found::NotSeen("the shop does not show it".to_owned()),
            (true, Err(gone)) => Found::Gone(gone),
            (true, Ok(differences)) if differences.is_empty() => Found::There,
            (true, Ok(differences)) => Found::Differs(differences),
        };
        found.push((last.record, found_last));
    }
    let finding = |(record, found)| {
        let is_left = found == Found::There && last.is_some_and(|last| last.record == record);
        Finding { record, found, taken: None, is_recent: false, is_left, write: None }
    };
    Ok(found.into_iter().map(finding).collect())
}

/// What sets a quantity back: from what the last record set to what was there before the first one.
async fn set_back(service: &Service<'_>, draft: &Draft, members: &[Member]) -> Result<Answer, Failure> {
    let named = service.customer.map(|id| id.to_string());
    let named = named.or_else(|| service.email.as_ref().map(ToString::to_string));
    let effects: Vec<Effect> = members.iter().flat_map(|member| member.effects.iter().cloned()).collect();
    let undone = cart_state::set_back(&with_id(service).await?, &effects).await?;
    let (planned, left) = match undone {
        SetBack::Nothing => (None, Vec::new()),
        SetBack::Left(why) => (None, vec![why]),
        SetBack::Draft(fields, expect) => {
            let input = body(draft.operation, fields);
            (Some(Planned { customer: named, input, expect, of: None, warnings: Vec::new() }), Vec::new())
        }
    };
    Ok(Answer::Undone { planned: Box::new(planned), left, notes: Vec::new(), adds_twin: false })
}
