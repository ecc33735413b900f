//! `--plan`: writes down what a dry run shows, to be applied later.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::write::{NewPlan, ensure_new};
use super::{PlanHeader, Planned, RecordOf};
use crate::cli::hint::for_command;
use crate::client::service::Service;
use crate::input::Draft;
use crate::journal::{MadeOf, Undoes};
use crate::ops::{Operation, refuse_single_flag};
use crate::report::outcome::Outcome;
use crate::report::style;
use crate::report::summary::count_records;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::{self, OperationSpec};

/// How long a plan can be applied without `--expires`.
const EXPIRES: Duration = Duration::from_secs(24 * 60 * 60);

/// A plan in the making.
pub struct Planning<'a> {
    service: &'a Service<'a>,
    path: PathBuf,
    plan: NewPlan,
    unchanged: u64,
    /// Why no plan is written if it has no record.
    pub nothing: Option<&'static str>,
}

impl<'a> Planning<'a> {
    /// Begins a plan if `--plan` asks for one.
    ///
    /// # Errors
    /// `guard` if the file exists, `usage` for what cannot be planned.
    pub fn begin(service: &'a Service<'a>, operation: &dyn Operation) -> Result<Option<Self>, Failure> {
        if service.session.global.plan.file.is_some() {
            refuse_single_flag(operation, "`--plan`")?;
        }
        Self::of(service, operation.spec(), service.session.global.typed.operation_flags())
    }

    /// Begins a plan of an operation with these flags, for another command.
    ///
    /// # Errors
    /// `guard` where the file exists.
    pub fn of(
        service: &'a Service<'a>,
        operation: &OperationSpec,
        options: Vec<String>,
    ) -> Result<Option<Self>, Failure> {
        let session = service.session;
        let Some(path) = session.global.plan.file.clone() else { return Ok(None) };
        ensure_new(&*session.context.storage, &path)?;
        let header = PlanHeader { options, ..header(service, operation, session.global.plan.expires) };
        Ok(Some(Self::new(service, path, header)))
    }

    /// Writes a plan of these records of an operation, without flags.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn write(
        service: &'a Service<'a>,
        path: PathBuf,
        spec: &'static OperationSpec,
        records: Vec<Map<String, Value>>,
        expires: Option<Duration>,
    ) -> Result<(), Failure> {
        let mut planning = Self::new(service, path, header(service, spec, expires));
        for fields in records {
            planning.push(&Planned { input: operation::body(spec, fields), ..Planned::default() })?;
        }
        planning.finish()
    }

    fn new(service: &'a Service<'a>, path: PathBuf, header: PlanHeader) -> Self {
        Self { service, plan: NewPlan::new(path.clone(), header), path, unchanged: 0, nothing: None }
    }

    /// Notes the batch that the plan undoes.
    pub fn undoes(&mut self, batch: Undoes) {
        self.plan.header.undoes = Some(batch);
    }

    /// Notes the input that the plan is made of, and whether it is to send again what was sent of it.
    pub fn made_of(&mut self, input: MadeOf, restart: bool) {
        self.plan.header.made_of = Some(input);
        self.plan.header.restart = restart;
    }

    /// Adds a record with its dry run, and the record that it is made `of`; one that changes nothing is only counted.
    ///
    /// # Errors
    /// As [`NewPlan::push`].
    pub fn add(
        &mut self,
        customer: Option<String>,
        draft: &Draft,
        shown: &Outcome,
        of: Option<RecordOf>,
    ) -> Result<(), Failure> {
        if shown.reason == Some("unchanged") {
            self.unchanged += 1;
            return Ok(());
        }
        let mut warnings = draft.warnings.clone();
        let said = self.service.session.report.noted();
        warnings.extend(said.into_iter().filter(|text| !draft.warnings.contains(text)));
        self.push(&Planned { customer, input: draft.body(), expect: shown.expected(), of, warnings })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// As [`NewPlan::push`].
    pub fn push(&mut self, record: &Planned) -> Result<(), Failure> {
        self.plan.push(&*self.service.session.context.storage, record)
    }

    /// Writes the plan, and says how it is applied. Without records no plan is written.
    ///
    /// # Errors
    /// As [`NewPlan::finish`].
    pub fn finish(self) -> Result<(), Failure> {
        let Self { service, path, plan, unchanged, nothing } = self;
        let session = service.session;
        let shown = path.display().to_string();
        let written = plan.finish(&*session.context.storage)?;
        if session.report.is_json() {
            return session.report.json(&json!({
                "plan": written.is_some().then_some(shown),
                "records": written.as_ref().map_or(0, |header| header.records),
                "unchanged": unchanged,
                "expires": written.map(|header| header.expires),
            }));
        }
        let left_out = match unchanged {
            0 => String::new(),
            unchanged => format!("; {} would change nothing", count_records(unchanged)),
        };
        let Some(header) = written else {
            let nothing = nothing.map(|why| format!(": {why}")).unwrap_or_default();
            session.report.status(&format!("No plan was written{nothing}{left_out}"));
            return Ok(());
        };
        let expires = style::time(header.expires.duration_since(header.created).unsigned_abs());
        let records = count_records(header.records);
        session.report.status(&format!("Wrote plan {shown}: {records}, expires in {expires}{left_out}"));
        let [review, apply] = [storefront("review"), storefront("apply")].map(|command| command.arg(&*shown));
        let next = hint!("review it in a browser with ", review, ", or apply it with ", apply);
        session.report.status(&for_command(next, session.global).to_string());
        Ok(())
    }
}

/// The header of a plan for this service.
fn header(service: &Service<'_>, spec: &OperationSpec, expires: Option<Duration>) -> PlanHeader {
    let session = service.session;
    let id = service.settings.service_id();
    let now = session.context.clock.now();
    let created = Timestamp::from_second(now.as_second()).unwrap_or(now);
    PlanHeader {
        operation: spec.name.to_owned(),
        service: id.url,
        interface: id.interface,
        store_view: service.settings.store_view.as_ref().map(|view| view.code().to_owned()),
        created,
        expires: created.saturating_add(expires.unwrap_or(EXPIRES)).unwrap_or(created),
        ..PlanHeader::new()
    }
}
