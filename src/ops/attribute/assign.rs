//! Putting an attribute into attribute sets: products can have it only there.

use serde_json::{Value, json};

use super::names::{AttributeGroup, find_groups, is_in_set, path};
use super::read_existing;
use crate::client::Effect;
use crate::client::service::Service;
use crate::input::Draft;
use crate::ops::calls::{Calls, Planned, preview};
use crate::report::outcome::Outcome;
use storefront_core::attribute::view::Attribute;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::{Bearer, Request};
use storefront_core::operation::{ATTRIBUTE_ASSIGN, Success};

/// Puts an attribute that exists into sets, or shows the calls. Where it is in the set and no group is named, nothing is
/// sent. An assignment can be repeated.
///
/// # Errors
/// As [`Service::write`]; `usage` for names that the shop does not have; `partial` where a later call was refused.
pub async fn assign(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let asked = Attribute(&draft.fields);
    let code = asked.code();
    let groups = find_groups(service, &asked.set_names()).await?;
    read_existing(service, code).await?;
    let (mut calls, mut left) = (Calls::new(service, ATTRIBUTE_ASSIGN.name), Vec::new());
    for group in groups {
        if !group.names_group && is_in_set(service, code, &group.set).await? {
            calls.skip(call_name(&group), "already there");
        } else {
            left.push(group);
        }
    }
    let requests = requests(service, code, &left)?;
    if service.session.global.dry_run {
        return Ok(preview(service, ATTRIBUTE_ASSIGN.name, requests));
    }
    let outcome = send(calls, code, &requests).await?;
    let count = left.len();
    let text = format!("Put {code} into {count} attribute {}", if count == 1 { "set" } else { "sets" });
    let unchanged = Some(format!("`{code}` is in the attribute sets already"));
    Ok(Outcome { success: Some(Success { text, covers_response: true }), unchanged, ..outcome })
}

/// Sends the assignments, each again where its outcome is unknown.
///
/// # Errors
/// As [`Service::write`]; `partial` where a call was applied before.
pub async fn send(mut calls: Calls<'_>, code: &str, requests: &[Planned]) -> Result<Outcome, Failure> {
    for call in requests {
        if let Err(failure) = calls.send_next(call, Effect::State).await {
            let set = call.0.strip_prefix(ASSIGN).unwrap_or_default();
            let again = storefront("attribute assign").arg(code).arg("--set").arg(set);
            return Err(calls.failed(failure, requests, Some(hint!(again, " is safe to repeat"))));
        }
    }
    Ok(calls.finish())
}

/// The calls.
pub fn requests(
    service: &Service<'_>,
    code: &str,
    groups: &[AttributeGroup],
) -> Result<Vec<Planned>, Failure> {
    let path = path(service, "/{store_view}/V1/products/attribute-sets/attributes", &[])?;
    let request = |group: &AttributeGroup| {
        let id = |text: &String| text.parse::<u64>().map_or_else(|_| json!(text), Value::from);
        let body = json!({"attributeSetId": id(&group.set), "attributeGroupId": id(&group.id),
            "attributeCode": code, "sortOrder": 0});
        (call_name(group), Request::post(path.clone(), body.to_string().into(), Bearer::Admin))
    };
    Ok(groups.iter().map(request).collect())
}

/// Begins the name of a call.
const ASSIGN: &str = "assign ";

fn call_name(group: &AttributeGroup) -> String {
    format!("{ASSIGN}{}", group.name)
}
