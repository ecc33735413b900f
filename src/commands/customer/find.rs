//! `storefront customer find`: customers by a part of their email or name.

use crate::cli::customer::FindArgs;
use crate::exact_json;
use crate::failure::Failure;
use crate::ops::customers;
use crate::report::table::{cell, header, new_table, render};
use crate::report::terminal::TextStyle;
use crate::sanitize::sanitize_line;
use crate::session::service::Service;

const COLUMNS: [(&str, &str); 5] = [
    ("CUSTOMER", "id"),
    ("EMAIL", "email"),
    ("FIRST NAME", "firstname"),
    ("LAST NAME", "lastname"),
    ("WEBSITE", "website_id"),
];

/// Prints the customers that were found: a table, or a flat object each.
///
/// # Errors
/// As [`customers::find`].
pub async fn find(service: &Service<'_>, args: &FindArgs) -> Result<(), Failure> {
    let found = customers::find(service, &args.text.join(" "), args.limit.into()).await?;
    let report = service.session.report;
    if report.is_json() {
        return found.iter().try_for_each(|customer| {
            let fields = COLUMNS.map(|(_, name)| (name, customer[name].clone()));
            report.json(&exact_json::object(fields))
        });
    }
    if found.is_empty() {
        report.status("no customer found");
        return Ok(());
    }
    let mut table = new_table(report.stdout_style());
    table.set_header(header(&COLUMNS.map(|(title, _)| title)));
    for customer in &found {
        table.add_row(COLUMNS.map(|(_, name)| {
            let text = sanitize_line(&customers::text(customer, name));
            if name == "id" { cell(TextStyle::Id, text) } else { text.into() }
        }));
    }
    report.stdout(&format!("{}\n", render(&table)))
}
