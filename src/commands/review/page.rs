//! The page as HTML: the records of a plan, written so that they can be read without its script. All that comes from the
//! plan, and so from the shop, is escaped here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ring::digest::{SHA256, digest};

use crate::cli::command_line::CommandLine;
use crate::cli::hint;
use crate::client::Session;
use crate::journal::State;
use crate::plan::{Plan, Planned, applying};
use crate::report::changes::{self, Block, ChangeRow};
use crate::report::fields::{EMPTY, fields};
use crate::report::summary::count_records;
use storefront_core::failure::Failure;
use storefront_core::profile::diff::FieldChange;
use storefront_core::text::sanitize::sanitize_line;

/// The page, with its style and its script; `{{…}}` stands for what is put in.
const TEMPLATE: &str = include_str!("page.html");

/// What an earlier run left of a record.
pub struct Earlier {
    /// Its state in the journal.
    pub state: State,
    /// Why it did not go through.
    pub reason: Option<String>,
}

/// The page without the token of its session.
pub struct Page {
    parts: Vec<String>,
    policy: String,
    records: u64,
}

/// The labels of the fields that the records change, in the order of their first records.
#[derive(Default)]
struct Labels(Vec<String>);

impl Labels {
    fn position(&mut self, label: &str) -> usize {
        let known = self.0.iter().position(|known| known == label);
        known.unwrap_or_else(|| {
            self.0.push(label.to_owned());
            self.0.len() - 1
        })
    }

    /// As choices, by their positions.
    fn options(&self) -> String {
        let mut html = String::new();
        for (number, label) in self.0.iter().enumerate() {
            let _ = write!(html, "<option value=\"{number}\">{}</option>", escaped(label));
        }
        html
    }
}

impl Page {
    /// Shows a plan; `code` says where the code to apply it is found.
    pub fn new(
        session: &Session<'_>,
        plan: &Plan,
        earlier: &BTreeMap<u64, Earlier>,
        code: &str,
    ) -> Result<Self, Failure> {
        let mut labels = Labels::default();
        let mut deletions = String::new();
        let mut others = String::new();
        plan.each(|number, record| {
            let (text, deletes) = record_html(number, &record, earlier.get(&number), &mut labels);
            if deletes { &mut deletions } else { &mut others }.push_str(&text);
            Ok(())
        })?;
        let header = &plan.header;
        let path = plan.path.display().to_string();
        let name = plan.path.file_name().map_or_else(|| path.clone(), |name| name.to_string_lossy().into());
        let apply = CommandLine::of_words(vec!["apply".to_owned(), path])
            .for_target(&hint::service_flags(session.global), None);
        let typed = format!(" {}", header.options.join(" "));
        let view = header.store_view.as_ref().map(|view| format!(", store view {view}")).unwrap_or_default();
        let parts = filled(TEMPLATE, |part| match part {
            "plan" => escaped(&name),
            "operation" => escaped(&header.operation),
            "typed" => escaped(typed.trim_end()),
            "count" => count_records(header.records),
            "shop" => escaped(&format!("{}{view}", header.service)),
            "expires" => escaped(&header.expires.to_string()),
            "apply" => escaped(&apply.to_string()),
            "code" => escaped(code),
            "fields" => labels.options(),
            "records" => format!("{deletions}{others}"),
            _ => String::new(),
        });
        Ok(Self { parts, policy: policy(), records: header.records })
    }

    /// The page with the token of its session.
    pub fn with(&self, token: &str) -> String {
        self.parts.join(token)
    }

    /// The content security policy of the page.
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// How many records it shows.
    pub fn records(&self) -> u64 {
        self.records
    }
}

/// What a browser may load for the page: its own style and script, by their hashes, and answers from where it comes from.
fn policy() -> String {
    let hash = |tag: &str| {
        let (_, behind) = TEMPLATE.split_once(&format!("<{tag}>")).unwrap_or_default();
        let (inside, _) = behind.split_once(&format!("</{tag}>")).unwrap_or_default();
        BASE64_STANDARD.encode(digest(&SHA256, inside.as_bytes()))
    };
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash("style"),
        hash("script")
    )
}

/// A template with its parts filled in, cut at the places of the session's token. Text that was filled in is not searched
/// for parts.
fn filled(template: &str, part: impl Fn(&str) -> String) -> Vec<String> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut pieces = template.split("{{");
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or((piece, ""));
        if name == "session" {
            parts.push(std::mem::take(&mut text));
        } else {
            text.push_str(&part(name));
        }
        text.push_str(rest);
    }
    parts.push(text);
    parts
}

/// The private file that opens the page: it posts the secret.
pub fn opener(host: &str, secret: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>storefront review</title>\n<form method=\"post\" action=\"http://{host}/\">\
         <input type=\"hidden\" name=\"secret\" value=\"{secret}\"><button>Open the review</button></form>\n\
         <script>document.forms[0].submit()</script></html>\n"
    )
}

/// A record, and whether it deletes something.
fn record_html(
    number: u64,
    record: &Planned,
    earlier: Option<&Earlier>,
    labels: &mut Labels,
) -> (String, bool) {
    let changes = &record.expect.changes;
    let is_deletion =
        |change: &&FieldChange| change.after.is_none() && (change.path.is_address() || change.path.is_item());
    let deleted = changes.iter().filter(is_deletion).count();
    let blocks = if changes.is_empty() { vec![sent(record)] } else { changes::blocks(changes) };
    let mut rows = String::new();
    let mut fields = String::from(" ");
    for Block { head, rows: of_block } in &blocks {
        let _ = write!(rows, "<tr class=\"place\"><th colspan=\"3\" scope=\"colgroup\">{}", escaped(head));
        for row in of_block {
            let field = format!("{} ", labels.position(&row.field));
            if !fields.contains(&format!(" {field}")) {
                fields.push_str(&field);
            }
            rows.push_str(&row_html(row));
        }
    }
    let heading = heading(number, record, earlier.map_or(State::NotSent, |earlier| earlier.state), deleted);
    let reason = earlier.and_then(|earlier| earlier.reason.as_deref()).unwrap_or_default();
    let reason = escaped(&sanitize_line(reason));
    let warning = |text: &String| format!("<p class=\"warning\">{}</p>", escaped(&sanitize_line(text)));
    let warnings: String = record.warnings.iter().map(warning).collect();
    let html = format!(
        "<article class=\"record\" data-n=\"{number}\" data-f=\"{fields}\" data-d=\"{deleted}\">{heading}{warnings}\
         <p class=\"why\">{reason}</p><table><caption>Changes of record {number}</caption>\
         <thead><tr><th scope=\"col\">Field<th scope=\"col\">Before<th scope=\"col\">After</thead>\
         <tbody>{rows}</table></article>\n"
    );
    (html, deleted > 0)
}

/// The box, the number and the owner of a record, and what the journal has of it.
fn heading(number: u64, record: &Planned, state: State, deleted: usize) -> String {
    let flags = match state {
        State::NotSent | State::FailedTemporary | State::Sending | State::Unknown => " checked",
        State::Declined => "",
        State::Done | State::FailedPermanent | State::Mismatch => " disabled",
    };
    let owner = applying::owner(record);
    let tag =
        if deleted > 0 { format!("<span class=\"tag\">deletes {deleted}</span>") } else { String::new() };
    let name = if state == State::NotSent { "" } else { state.name() };
    format!(
        "<h2><label><input type=\"checkbox\"{flags}> <span class=\"n\">{number}</span> <span>{}</span></label>{tag}\
         <span class=\"state\" data-state=\"{name}\">{name}</span></h2>",
        escaped(&owner)
    )
}

/// What is sent for a record whose changes are not known.
fn sent(record: &Planned) -> Block {
    let mut values = record.input.values();
    let alone = values.next().and_then(|value| value.as_object()).filter(|_| values.next().is_none());
    let sent = fields(alone.unwrap_or(&record.input), "");
    let row = |(field, value)| ChangeRow { field, before: None, after: Some(value) };
    Block {
        head: "sent; what is stored is not compared".to_owned(),
        rows: sent.into_iter().map(row).collect(),
    }
}

fn row_html(ChangeRow { field, before, after }: &ChangeRow) -> String {
    let (before, after) = match (before, after) {
        (Some(before), Some(after)) => {
            let (before, after) = marked(before, after);
            (Some(before), Some(after))
        }
        (before, after) => (before.as_deref().map(escaped), after.as_deref().map(escaped)),
    };
    let side = |class: &str, tag: &str, value: Option<String>| match value {
        None => format!("<td class=\"{class} none\">"),
        Some(value) if value == escaped(EMPTY) => {
            format!("<td class=\"{class}\"><{tag} class=\"empty\">{value}</{tag}>")
        }
        Some(value) => format!("<td class=\"{class}\"><{tag}>{value}</{tag}>"),
    };
    format!(
        "<tr><th scope=\"row\">{}{}{}",
        escaped(field),
        side("before", "del", before),
        side("after", "ins", after)
    )
}

/// Both texts, with the words marked in which they differ; none where nothing is common.
fn marked(before: &str, after: &str) -> (String, String) {
    let words = |text: &'_ str| -> Vec<String> {
        text.split_inclusive(char::is_whitespace).map(str::to_owned).collect()
    };
    let (old, new) = (words(before), words(after));
    let shortest = old.len().min(new.len());
    let first = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let both_ends = old.iter().rev().zip(new.iter().rev());
    let last = both_ends.take(shortest - first).take_while(|(one, other)| one == other).count();
    if first + last == 0 {
        return (escaped(before), escaped(after));
    }
    let side = |words: &[String]| {
        let (start, rest) = words.split_at(first);
        let (middle, end) = rest.split_at(rest.len() - last);
        let [start, middle, end] = [start, middle, end].map(|words| escaped(&words.concat()));
        if middle.is_empty() { format!("{start}{end}") } else { format!("{start}<mark>{middle}</mark>{end}") }
    };
    (side(&old), side(&new))
}

/// A text with the characters escaped that mean something in HTML.
fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::{escaped, filled, marked};

    #[test]
    fn what_differs_is_marked_word_by_word_and_all_of_it_is_text() {
        let (before, after) = marked("12 rue de la Paix", "14 rue de la Paix");
        assert_eq!(before, "<mark>12 </mark>rue de la Paix");
        assert_eq!(after, "<mark>14 </mark>rue de la Paix");
        assert_eq!(marked("a b", "a b c"), ("a <mark>b</mark>".to_owned(), "a <mark>b c</mark>".to_owned()));
        assert_eq!(marked("<b>", "<i>"), ("&lt;b&gt;".to_owned(), "&lt;i&gt;".to_owned()));
        assert_eq!(marked("x <b>", "x <i>").1, "x <mark>&lt;i&gt;</mark>");
        assert_eq!(escaped("\"'&"), "&quot;&#39;&amp;");
    }

    #[test]
    fn what_is_put_in_is_not_looked_into() {
        let parts = filled("a {{x}} {{session}} b", |_| "{{session}}".to_owned());
        assert_eq!(parts, ["a {{session}} ", " b"]);
    }
}
