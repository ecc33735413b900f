//! `storefront customer …`

mod history;
pub mod update;
use serde_json::Value;

use crate::cli::customer::{CustomerCommand, FindArgs};
use crate::exact_json;
use crate::failure::Failure;
use crate::ops::customers::{self, Found};
use crate::ops::profile::replace::replace;
use crate::ops::profile::restore::Restore;
use crate::ops::profile::{Change, read};
use crate::report::profile;
use crate::report::style::{TextStyle, cell, header, new_table, render};
use crate::sanitize::sanitize_line;
use crate::session::Session;
use crate::session::runtime::with_service;
use crate::session::service::Service;

/// Runs a customer command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &CustomerCommand) -> Result<(), Failure> {
    match command {
        CustomerCommand::Update(args) => update::run(session, args).await,
        CustomerCommand::Show(choice) => {
            with_service(session, async |service| {
                show(&customers::select(service, choice.customer.as_deref())?).await
            })
            .await
        }
        CustomerCommand::Find(args) => with_service(session, async |service| find(service, args).await).await,
        CustomerCommand::History(args) => {
            with_service(session, async |service| {
                let service = customers::select(service, args.choice.customer.as_deref())?;
                history::list(&service, args).await
            })
            .await
        }
        CustomerCommand::Restore(args) => {
            with_service(session, async |service| {
                let service = customers::select(service, args.choice.customer.as_deref())?;
                let restore = Restore::new(&service, args);
                session.report.outcome(&replace(&service, Change::Restore(&restore)).await?)
            })
            .await
        }
    }
}

/// Prints the stored customer: as it came, unwrapped, under `-o json`; else as tables.
///
/// # Errors
/// As [`read::read_profile`].
async fn show(service: &Service<'_>) -> Result<(), Failure> {
    let stored = read::read_profile(service).await?;
    read::remember(service, &stored);
    let report = service.session.report;
    if report.is_json() {
        return report.json(&Value::Object(stored.into_customer()));
    }
    report.stdout(&profile::text(&stored, report.stdout_style()))
}

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
async fn find(service: &Service<'_>, args: &FindArgs) -> Result<(), Failure> {
    let Found { customers: found, total } =
        customers::find(service, &args.text.join(" "), args.limit.into()).await?;
    let report = service.session.report;
    if let Some(total) = total.filter(|total| *total > found.len() as u64) {
        report.status(&format!("{} of {total} shown; --limit N shows more", found.len()));
    }
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
