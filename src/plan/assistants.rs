//! The plans that assistants make: their names, and whose data they hold.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{Plan, Planned, is_there, journal_of};
use crate::config::ServiceId;
use crate::system::context::Context;
use storefront_core::failure::Failure;
use storefront_core::operation::{OPERATIONS, OperationSpec};

/// When a plan was made, in its name.
const TIME: &str = "%Y%m%dT%H%M%S.%9fZ";

/// Where they are, unless `mcp --plans` names another directory.
///
/// # Errors
/// `usage` when no state directory is known.
pub fn directory(context: &Context) -> Result<PathBuf, Failure> {
    Ok(context.directories()?.state.join("plans"))
}

/// The name of a new one: `customer-update-20261123T094529.531653609Z.plan`.
pub fn file_name(operation: &OperationSpec, now: Timestamp) -> String {
    format!("{}-{}.plan", operation.slug(), now.strftime(TIME))
}

/// Whether a file has such a name. People give other names to plans that they keep in the same directory.
pub fn is_one(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".plan"));
    let is_time = |text: &str| {
        let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
        shape == "99999999T999999.999999999Z"
    };
    let is_of = |name: &str, operation: &OperationSpec| {
        name.strip_prefix(&*operation.slug()).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_time)
    };
    name.is_some_and(|name| OPERATIONS.into_iter().any(|operation| is_of(name, operation)))
}

/// Plans that hold people's data.
#[derive(Debug, Default)]
pub struct Held {
    /// With data of nobody else, and not started.
    pub alone: Vec<PathBuf>,
    /// With data of others, too, or started, or unreadable.
    pub others: Vec<PathBuf>,
}

/// The plans of a service with records of the people that are asked for. Plans of attributes are of nobody.
///
/// # Errors
/// As [`directory`].
pub fn held(
    context: &Context,
    service: &ServiceId,
    is_asked: impl Fn(&Planned) -> bool,
) -> Result<Held, Failure> {
    let storage = &*context.storage;
    let mut held = Held::default();
    let state = &context.directories()?.state;
    let mut files = storage.list(&directory(context)?).unwrap_or_default();
    files.retain(|file| is_one(file));
    files.sort();
    for file in files {
        let Ok(plan) = Plan::read(storage, state, &file) else {
            held.others.push(file);
            continue;
        };
        let is_of_service = plan.header.service == service.url && plan.header.interface == service.interface;
        let mut asked = 0;
        plan.each(|_, record| {
            asked += u64::from(is_asked(&record));
            Ok(())
        })?;
        if !is_of_service || asked == 0 {
            continue;
        }
        let is_alone = asked == plan.header.records && !is_there(storage, &journal_of(&file));
        if is_alone { &mut held.alone } else { &mut held.others }.push(file);
    }
    Ok(held)
}
