//! Which customer a token leads to, as a read has shown: so that the history can be listed while the service cannot be
//! reached.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{LockName, file_name};
use crate::config::Settings;
use crate::context::Context;
use crate::failure::Failure;
use crate::plan::profile::stored::Profile;
use crate::token::Token;

/// As many customers are kept for each service.
const MAX_KEPT: usize = 200;

/// Keeps which customer this token leads to, the token as its hash. Only the history needs it, so that a failure to
/// write is ignored.
pub fn save_customer(context: &Context, settings: &Settings, token: &Token, profile: &Profile) {
    let Ok(path) = file(context, settings) else { return };
    let (name, key) = (LockName::token(token), Value::from(profile.customer_key()));
    let mut kept = load(context, &path);
    if kept.get(name.as_str()) == Some(&key) {
        return;
    }
    kept.shift_remove(name.as_str());
    while kept.len() >= MAX_KEPT {
        let Some(oldest) = kept.keys().next().cloned() else { break };
        kept.shift_remove(&oldest);
    }
    kept.insert(name.as_str().to_owned(), key);
    let _ = context.storage.replace(&path, Value::Object(kept).to_string().as_bytes());
}

/// The key ([`Profile::customer_key`]) of the customer that this token led to when it was last used.
pub fn load_customer(context: &Context, settings: &Settings, token: &Token) -> Option<String> {
    let path = file(context, settings).ok()?;
    load(context, &path).get(LockName::token(token).as_str())?.as_str().map(str::to_owned)
}

fn load(context: &Context, path: &std::path::Path) -> Map<String, Value> {
    context.storage.read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn file(context: &Context, settings: &Settings) -> Result<PathBuf, Failure> {
    let service = file_name(&settings.service_id().to_string());
    Ok(context.directories()?.state.join("customers").join(format!("{service}.json")))
}
