//! A page of a list that the shop searches, read as a whole or not at all. A list that ends too early is not taken for a
//! shorter list, because what it lacks would seem not to exist.

use serde_json::Value;

use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use storefront_core::failure::Failure;
use storefront_core::interface::request::Request;

/// A page.
#[derive(Debug)]
pub struct Page {
    /// What it has.
    pub records: Vec<Value>,
    /// How many there are on this page and after it, if the service says so.
    pub total: Option<u64>,
    size: usize,
}

impl Page {
    /// The page in the reply to a search for at most `size` records; `what` names them for people.
    ///
    /// # Errors
    /// `unavailable` for another reply, and if records are missing that the reply counts.
    pub fn of(mut reply: Value, what: &str, size: usize) -> Result<Self, Failure> {
        let total = reply.get("total_count").and_then(Value::as_u64);
        let records = match (reply.get_mut("items").map(Value::take), total) {
            (Some(Value::Array(records)), _) => records,
            // Some lists of Magento are null if nothing is found.
            (Some(Value::Null) | None, Some(_)) => Vec::new(),
            _ => return Err(unexpected(format!("unexpected response: no list of {what}"))),
        };
        match total {
            Some(total) if (records.len() as u64) < total.min(size as u64) => {
                Err(ends_early(what, records.len() as u64, total))
            }
            _ => Ok(Self { records, total, size }),
        }
    }

    /// Whether nothing comes after it.
    pub fn is_last(&self) -> bool {
        let count = self.records.len();
        self.total.map_or(count < self.size, |total| count as u64 >= total)
    }
}

/// Reads a page, as [`Page::of`].
///
/// # Errors
/// As [`Service::read`] and [`Page::of`].
pub async fn read_page(
    service: &Service<'_>,
    request: &Request,
    what: &str,
    size: usize,
) -> Result<Page, Failure> {
    let reply = service.read(request).await?;
    if let Some(warning) = &reply.warning {
        return Err(unexpected(format!("the list of {what} cannot be read: {warning}")));
    }
    let list = reply.document();
    let list = list.map_err(|error| unexpected(format!("the list of {what} cannot be read: {error}")))?;
    Page::of(list, what, size)
}

/// The failure of a list that has fewer records than it counts.
pub fn ends_early(what: &str, count: u64, total: u64) -> Failure {
    unexpected(format!("the shop's list of {what} ends after {count} of {total}"))
}

fn unexpected(message: String) -> Failure {
    Failure::unexpected_reply(message).hint(LOOK_CLOSER)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Page;

    fn page(reply: Value) -> Result<(usize, bool), String> {
        let page = Page::of(reply, "things", 2).map_err(|failure| failure.message)?;
        Ok((page.records.len(), page.is_last()))
    }

    #[test]
    fn a_page_has_all_that_it_counts_as_far_as_it_was_asked_for() {
        for (reply, count, is_last) in [
            (json!({"items": [1, 2], "total_count": 2}), 2, true),
            (json!({"items": [1, 2], "total_count": 7}), 2, false),
            (json!({"items": [1], "total_count": 1}), 1, true),
            (json!({"items": [1]}), 1, true),
            (json!({"items": [1, 2]}), 2, false),
            (json!({"items": null, "total_count": 0}), 0, true),
            (json!({"total_count": 0}), 0, true),
            // More than it counts is not fewer.
            (json!({"items": [1, 2], "total_count": 0}), 2, true),
        ] {
            assert_eq!(page(reply.clone()), Ok((count, is_last)), "{reply}");
        }
        for (reply, message) in [
            (json!({"items": [1], "total_count": 2}), "the shop's list of things ends after 1 of 2"),
            (json!({"items": [], "total_count": 9}), "the shop's list of things ends after 0 of 9"),
            (json!({"items": null, "total_count": 6}), "the shop's list of things ends after 0 of 6"),
            (json!({"total_count": 6}), "the shop's list of things ends after 0 of 6"),
            (json!({"items": null}), "unexpected response: no list of things"),
            (json!({"items": {}, "total_count": 0}), "unexpected response: no list of things"),
            (json!([1]), "unexpected response: no list of things"),
        ] {
            assert_eq!(page(reply.clone()), Err(message.to_owned()), "{reply}");
        }
    }
}
