//! Prepares a record of the input to be run: parsed, checked, with its key and its token.

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::batch::origin::Origin;
use crate::batch::token::{self, RecordToken, TOKEN_FIELD};
use crate::cli::hint::{for_customer, is_for_customer};
use crate::cli::{BatchArgs, GlobalArgs};
use crate::client::Session;
use crate::client::service::Service;
use crate::config::TokenCommand;
use crate::input::records::{Columns, Content, Record, RecordReader};
use crate::input::{Draft, RawInput};
use crate::journal::read::PreviousRuns;
use crate::journal::{Entry, Shard, State};
use crate::ops::Operation;
use crate::plan::{self, Planned};
use crate::report::ordered_results::RecordLocation;
use crate::report::summary::NextSteps;
use storefront_core::check::body::Finding;
use storefront_core::check::field_names::FieldNames;
use storefront_core::email::CustomerName;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::Hint;
use storefront_core::interface::request::Bearer;
use storefront_core::lint;
use storefront_core::operation::{ATTRIBUTE_CREATE, OperationSpec, scalar};
use storefront_core::product::folded_sku;
use storefront_core::sheet::address::Row;
use storefront_core::text::exact_json;
use storefront_core::text::hash::{Fnv1a, fnv1a};
use storefront_core::text::token::Credential;

/// The column or field of `history JOURNAL --rows` that says why a record failed; it is ignored in an input.
pub const REASON: &str = "reason";

/// A member or column that names the customer, by id or email.
pub const CUSTOMER_FIELD: &str = "customer";

/// The fields of a record, and other members: its customer, and what a token command needs.
type Document = (Map<String, Value>, Map<String, Value>);

/// How records are read from the input.
pub struct RecordPreparer<'a> {
    /// What the user runs.
    pub session: &'a Session<'a>,
    /// Where the records come from.
    pub origin: &'a Origin,
    /// The flags of the run.
    pub args: &'a BatchArgs,
    /// The operation.
    pub operation: &'a dyn Operation,
    /// The command that prints the token of each record, and the fields of its placeholders; `None` without such a
    /// command.
    command: Option<(TokenCommand, Vec<String>)>,
    /// The token of records without their own, if it is known.
    pub run_token: Option<Credential>,
    /// The flags of the operation itself, as they were typed.
    pub flags: Vec<String>,
    /// Members that are not input of the operation: the token, and fields that only the token command uses.
    extra: Vec<String>,
    /// Whether the run only has an administrator's token, which has no customer of its own.
    needs_customer: bool,
    /// How the records so far name their customers: as `id`, as `email`, or as `none`.
    naming: Cell<Option<&'static str>>,
}

/// A record ready to be run.
#[derive(Debug)]
pub struct PreparedRecord {
    /// What is sent.
    pub draft: Draft,
    /// Records with one key keep their order; shards are formed by it.
    pub key: String,
    /// Whose token it carries.
    pub token_source: RecordToken,
    /// Id or email of the customer whom the record names, with the run's administrator's token.
    pub customer: Option<String>,
}

impl PreparedRecord {
    /// The hash of what it replaces, with its own token if it has one: records that replace the same thing keep their
    /// order, wherever their tokens come from.
    pub fn key_with(&self, operation: &OperationSpec, token: Option<&Credential>) -> u64 {
        match token.filter(|_| operation.replaces.is_some() && self.customer.is_none()) {
            Some(token) => fnv1a(token.expose().as_bytes()),
            None => fnv1a(self.key.as_bytes()),
        }
    }

    /// A hint whose commands are for this record's customer.
    pub fn hint(&self, hint: Hint, global: &GlobalArgs) -> Hint {
        let has_own_token = self.token_source != RecordToken::Shared;
        let names_no_customer = is_for_customer(&hint);
        let hint = for_customer(hint, global, self.customer.as_deref());
        if has_own_token && names_no_customer {
            return hint.and(" (with the token of this record's customer in STOREFRONT_TOKEN)");
        }
        hint
    }
}

impl<'a> RecordPreparer<'a> {
    /// A preparer for one input. `command` prints tokens; `run_token` is the token of records without their own, if it is
    /// known.
    pub fn new(
        service: &'a Service<'a>,
        origin: &'a Origin,
        operation: &'a dyn Operation,
        command: Option<&TokenCommand>,
        run_token: Option<Credential>,
    ) -> Self {
        let session = service.session;
        let command = command.map(|command| (command.clone(), token::placeholders(command)));
        let command = command.filter(|(_, fields)| !fields.is_empty());
        let spec = operation.spec();
        let schema = spec.inner_schema(session.dialect);
        let used: &[String] = command.as_ref().map_or(&[], |(_, fields)| fields);
        let is_input = |name: &&String| schema.field(name).is_some() || spec.wrapper == Some(name.as_str());
        let mut extra: Vec<String> = used.iter().filter(|name| !is_input(name)).cloned().collect();
        extra.push(TOKEN_FIELD.to_owned());
        // A token command that uses that field prints the customer's own token.
        let is_for_customer = spec.bearer == Bearer::Customer && session.dialect.customers.is_some();
        if is_for_customer && !used.iter().any(|name| name == CUSTOMER_FIELD) {
            extra.push(CUSTOMER_FIELD.to_owned());
        }
        Self {
            session,
            origin,
            args: &session.global.batch,
            operation,
            command,
            run_token,
            flags: session.global.typed.operation_flags(),
            extra,
            needs_customer: is_for_customer && service.settings.has_only_admin_token(),
            naming: Cell::new(None),
        }
    }

    /// Reads the records from the first one on.
    ///
    /// # Errors
    /// As [`RecordReader::open`].
    pub fn reader(&self) -> Result<RecordReader, Failure> {
        RecordReader::open(self.origin.source(), |header| self.columns(header))
    }

    /// Finds the records of earlier runs in the input.
    ///
    /// # Errors
    /// Those of the input.
    pub fn find_places(&self, past: &mut PreviousRuns) -> Result<(), Failure> {
        past.find_places(|found| self.each_hash(found))
    }

    /// Passes on the line and the hash of each record.
    ///
    /// # Errors
    /// Those of the input.
    pub fn each_hash(&self, found: &mut dyn FnMut(u64, u64)) -> Result<(), Failure> {
        each_hash(self.reader()?, found)
    }

    fn columns(&self, header: &csv::StringRecord) -> Result<Columns, Failure> {
        Columns::parse_header(
            &self.origin.source().name(),
            self.session.dialect,
            self.operation.spec(),
            header,
            &self.extra,
        )
    }

    /// Whether a command prints the tokens of records, one by one.
    pub fn prints_tokens(&self) -> bool {
        self.command.is_some()
    }

    /// Whether the records so far name customers.
    pub fn names_customers(&self) -> bool {
        matches!(self.naming.get(), Some("id" | "email"))
    }

    /// Parses and checks a record.
    ///
    /// # Errors
    /// `usage`, by column, for what cannot be sent.
    pub fn prepare(&self, record: &Record, columns: Option<&Columns>) -> Result<PreparedRecord, Failure> {
        if let (Some(_), Content::Json(text)) = (self.origin.plan(), &record.content) {
            return self.planned(text);
        }
        let (mut document, mut extra) = self.document(record, columns)?;
        let row = self.row(record, columns, &mut document)?;
        let has_column = columns.is_some_and(|columns| columns.has(CUSTOMER_FIELD));
        let names = columns.map(|columns| columns.names.clone()).unwrap_or_default();
        let customer = self.customer(&mut extra, has_column, &names)?;
        let token_source = match customer {
            Some(_) => RecordToken::Shared,
            None => self.token_source(&document, &extra)?,
        };
        if self.needs_customer && customer.is_none() && token_source == RecordToken::Shared {
            return Err(Failure::usage(match columns {
                Some(_) => "no customer: add the column `customer`",
                None => "no customer: name it beside the fields, without a wrapper: {\"customer\": 2, …}",
            }));
        }
        let is_named =
            customer.is_some() || extra.contains_key(TOKEN_FIELD) || token_source != RecordToken::Shared;
        let is_row = columns.is_some();
        let is_flat =
            is_row || !self.operation.spec().wrapper.is_some_and(|name| document.contains_key(name));
        let written = RawInput { document: Some(Value::Object(document)), names };
        let allow_unknown = self.session.global.input.allow_unknown;
        let draft = self.operation.prepare(self.session.dialect, written, allow_unknown)?;
        if is_flat && self.operation.spec().is_merged {
            self.refuse_fields_of_account(&draft, is_row, is_named)?;
            refuse_fields_of_address(&draft)?;
        }
        if is_row
            && self.operation.spec().name == ATTRIBUTE_CREATE.name
            && !draft.fields.contains_key(INPUT_TYPE)
        {
            return Err(Failure::usage(draft.names.missing(INPUT_TYPE)));
        }
        let mut prepared = ready(Draft { row, ..draft }, customer, token_source)?;
        if self.operation.spec().is_merged {
            prepared.draft.warnings.extend(lint::of_draft(&prepared.draft.fields));
        }
        // An unedited row sets nothing.
        let is_unedited = prepared.draft.row.is_some() && prepared.draft.fields.is_empty();
        if let (Some(columns), false) = (columns, is_unedited) {
            let told: BTreeSet<String> =
                rows(&record.content).flat_map(|row| columns.warnings(row)).collect();
            prepared.draft.warnings.extend(told);
        }
        Ok(prepared)
    }

    /// Parses a record.
    ///
    /// # Errors
    /// `usage` for what cannot be read.
    fn document(&self, record: &Record, columns: Option<&Columns>) -> Result<Document, Failure> {
        let (mut document, mut extra) = match (&record.content, columns) {
            (Content::Row(row), Some(columns)) => columns.document(row).map_err(Failure::usage)?,
            (Content::Rows(rows), Some(columns)) => columns.joined(rows).map_err(Failure::usage)?,
            (Content::Json(text), _) => (parse(text, record.line)?, Map::new()),
            (Content::Row(_) | Content::Rows(_), None) => {
                return Err(Failure::internal("the header is not read yet"));
            }
        };
        document.shift_remove(REASON);
        for name in &self.extra {
            // An object of that name is the wrapper.
            if !(name == CUSTOMER_FIELD && document.get(name).is_some_and(Value::is_object))
                && let Some(value) = document.shift_remove(name)
            {
                extra.insert(name.clone(), value);
            }
        }
        Ok((document, extra))
    }

    /// A row of an export, to be compared with what is stored. What nobody has edited in it is removed from the document.
    fn row(
        &self,
        record: &Record,
        columns: Option<&Columns>,
        document: &mut Map<String, Value>,
    ) -> Result<Option<Row>, Failure> {
        let (Content::Row(cells), Some(columns)) = (&record.content, columns) else { return Ok(None) };
        let operation = self.operation.spec();
        if !operation.is_exported() {
            return Ok(None);
        }
        let row = columns.exported(cells, self.operation.allows_spreadsheet_loss());
        let Some(row) = row.map_err(Failure::usage)? else { return Ok(None) };
        if operation.is_merged {
            row.take_unedited(document)?;
        } else if row.is_unedited()? {
            document.retain(|name, _| operation.key_field == Some(name));
        }
        Ok(Some(row))
    }

    /// Refuses fields of the account that probably mean something else, whether a column or a flag sets them: a name
    /// beside the address of a row, and an email that says whom a record is about, as in the sample files of shops; here
    /// it would become the email of the token's customer. A document in its wrapper says what it means.
    fn refuse_fields_of_account(&self, draft: &Draft, is_row: bool, is_named: bool) -> Result<(), Failure> {
        let Draft { fields, names, .. } = draft;
        if let Some(name) = lint::misplaced_name(fields, is_row && fields.contains_key("addresses")) {
            return Err(Failure::usage(lint::misplaced(name, names)));
        }
        let Some(name) = lint::key_of_account(fields).filter(|_| !is_named) else { return Ok(()) };
        let whose = match self.session.dialect.customers {
            Some(_) => "name the customer, by ID or present email, in `customer`",
            None => "give the token of the customer in `token`",
        };
        let field = names.quoted(name);
        Err(Failure::usage(format!("{field} changes an account, and the record does not say whose: {whose}")))
    }

    /// A record of a plan. Its input has the flags and was checked, but a newer version may know better.
    fn planned(&self, text: &str) -> Result<PreparedRecord, Failure> {
        let Planned { customer, input, expect, warnings, .. } =
            Planned::parse(text).ok_or_else(|| Failure::internal("the record of a plan cannot be read"))?;
        let customer =
            customer.map(|customer| customer_name(&customer.into(), &FieldNames::default())).transpose()?;
        self.naming.set(customer.as_ref().map(|_| "id"));
        let dialect = self.session.dialect;
        let allow_unknown = self.session.global.input.allow_unknown;
        let mut draft =
            self.operation.checked(dialect, Some(Value::Object(input)).into(), &|_| Ok(()), allow_unknown)?;
        let new: Vec<String> = warnings.into_iter().filter(|text| !draft.warnings.contains(text)).collect();
        draft.warnings.extend(new);
        ready(Draft { expect: Some(expect), ..draft }, customer, RecordToken::Shared)
    }

    /// Whether a record is run: a plan may be applied in part.
    pub fn takes(&self, record: u64) -> bool {
        self.origin.plan().is_none_or(|plan| plan.takes(record))
    }

    /// The customer whom a record names. All records of an input must do so in the same way: an id and an email may be
    /// one customer, whose records would lose their order, and a record without a customer would change the token's own.
    fn customer(
        &self,
        extra: &mut Map<String, Value>,
        has_column: bool,
        names: &FieldNames,
    ) -> Result<Option<String>, Failure> {
        if !self.extra.iter().any(|name| name == CUSTOMER_FIELD) {
            return Ok(None);
        }
        let customer =
            extra.shift_remove(CUSTOMER_FIELD).map(|value| customer_name(&value, names)).transpose()?;
        if customer.is_some() && extra.contains_key(TOKEN_FIELD) {
            return Err(Failure::usage("a record names a customer and has its own token")
                .hint("use one administrator's token and the column customer, or a token of each customer"));
        }
        let naming = match &customer {
            None => "none",
            Some(name) if name.contains('@') => "email",
            Some(_) => "id",
        };
        let message = match (self.naming.get(), naming) {
            (_, "none") if has_column => format!("no customer: {}", names.missing(CUSTOMER_FIELD)),
            (Some("id" | "email"), "none") => "no customer: earlier records name one".to_owned(),
            (Some("none"), "id" | "email") => "a customer is named, and earlier records name none".to_owned(),
            (Some(before), naming) if before != naming => {
                let hint = "name all of them the same way: an id and an email may be one customer, whose \
                 records keep their order";
                return Err(Failure::usage("the input names customers by id and by email").hint(hint));
            }
            _ => {
                self.naming.set(Some(naming));
                return Ok(customer);
            }
        };
        Err(Failure::usage(message).hint("give every record a customer, or none"))
    }

    fn token_source(
        &self,
        document: &Map<String, Value>,
        extra: &Map<String, Value>,
    ) -> Result<RecordToken, Failure> {
        match (extra.get(TOKEN_FIELD), &self.command) {
            (Some(token), _) => {
                let token = token.as_str().and_then(Credential::new).filter(Credential::is_valid);
                let token = token.ok_or_else(|| Failure::usage("invalid token in record"))?;
                // The batch's own token may be named in a record too: one token is one key, however it was supplied.
                let is_shared = self.run_token.as_ref() == Some(&token);
                Ok(if is_shared { RecordToken::Shared } else { RecordToken::Given(token) })
            }
            (None, Some((command, fields))) => {
                let wrapper = self.operation.spec().wrapper;
                token::filled(command, fields, |name| {
                    token::field(extra, None, name).or_else(|| token::field(document, wrapper, name))
                })
            }
            (None, None) => Ok(RecordToken::Shared),
        }
    }
}

/// Refuses fields of an address in a flat record without the list of addresses: nothing says which address they change.
fn refuse_fields_of_address(draft: &Draft) -> Result<(), Failure> {
    if draft.fields.contains_key("addresses") || !lint::has_address_field(&draft.fields) {
        return Ok(());
    }
    Err(Failure::usage("fields of an address are given, without the address that they change").hint(
        "write {\"addresses\": [{\"id\": 4, \"city\": …}]} with the id of a stored address, or without an id to add one",
    ))
}

/// A checked record with its key: the customer, the quote, the attribute, or the token.
fn ready(
    mut draft: Draft,
    customer: Option<String>,
    token_source: RecordToken,
) -> Result<PreparedRecord, Failure> {
    draft.refuse_wrong_values()?;
    let unknown = draft.deferred.iter().map(Finding::message);
    let unknown =
        unknown.map(|field| format!("{field} (the record fails unless the stored profile has this field)"));
    draft.warnings.extend(unknown.collect::<Vec<_>>());
    let named = || draft.operation.key_field.and_then(|field| draft.fields.get(field)?.as_str());
    // `01` is the quote `1`.
    let named = named().map(str::trim).map(|key| match key.parse::<u64>() {
        _ if draft.operation.key_field == Some(SKU) => folded_sku(key),
        Ok(number) => number.to_string(),
        Err(_) => key.to_owned(),
    });
    let key = customer.clone().or(named).unwrap_or_else(|| token_source.key());
    Ok(PreparedRecord { draft, key, token_source, customer })
}

/// Whether this is the whole input or its first part.
pub fn is_first(shard: Option<Shard>) -> bool {
    shard.is_none_or(|shard| shard.index == 0)
}

/// Passes on the line and the hash of each record.
///
/// # Errors
/// Those of the input.
pub fn each_hash(mut records: RecordReader, found: &mut dyn FnMut(u64, u64)) -> Result<(), Failure> {
    while let Some(record) = records.read()? {
        found(record.line, hash(&record.content));
    }
    Ok(())
}

/// Hash of a record as it is in the input; for a plan's record, that of its source.
pub fn hash(content: &Content) -> u64 {
    if let Content::Json(text) = content
        && let Some(hash) = plan::hash_of_record(text)
    {
        return hash;
    }
    match content {
        Content::Json(text) => Fnv1a::default().update(text.as_bytes()),
        Content::Row(_) | Content::Rows(_) => rows(content)
            .flat_map(|row| row.iter())
            .fold(Fnv1a::default(), |hash, cell| hash.update(cell.as_bytes()).update(&[0])),
    }
    .finish()
}

/// The rows of a record in a sheet.
pub fn rows(content: &Content) -> impl Iterator<Item = &csv::StringRecord> {
    let (one, several) = match content {
        Content::Row(row) => (Some(row), &[][..]),
        Content::Rows(rows) => (None, &rows[..]),
        Content::Json(_) => (None, &[][..]),
    };
    one.into_iter().chain(several.iter().map(|(_, row)| row))
}

/// What a record touches, for people: the quote, the attribute code or the customer it names. `None` for the token, which
/// is not shown, and for what cannot be read.
pub fn key_of(operation: &OperationSpec, record: &Record, columns: Option<&Columns>) -> Option<String> {
    let (document, extra) = match (&record.content, columns) {
        (Content::Row(row), Some(columns)) => columns.document(row).ok()?,
        (Content::Json(text), _) => match Planned::parse(text) {
            Some(Planned { customer: Some(customer), .. }) => return Some(customer),
            Some(planned) => (planned.input, Map::new()),
            None => (serde_json::from_str(text).ok()?, Map::new()),
        },
        (Content::Rows(rows), Some(columns)) => columns.document(&rows.first()?.1).ok()?,
        (Content::Row(_) | Content::Rows(_), None) => return None,
    };
    let names = operation.key_field.into_iter().chain([CUSTOMER_FIELD]);
    let field =
        |name| token::field(&extra, None, name).or_else(|| token::field(&document, operation.wrapper, name));
    names.map(field).find_map(|key| key)
}

/// The reason of a record with unknown outcome that an earlier run sent.
const SENT_EARLIER: &str = "outcome unknown (sent by an earlier run)";

/// Separates, in the reason of a record that stays unknown, what happened when it was to be sent again.
pub const SENDING_AGAIN: &str = "; sending it again: ";

/// The failure with which an earlier run left the record at this place, and how to continue.
pub fn failure_of(entry: &Entry, place: RecordLocation, next: &NextSteps) -> Failure {
    let reason = entry.reason.as_deref();
    let in_an_earlier_run = |default| format!("{} (in an earlier run)", reason.unwrap_or(default));
    let failure = match entry.state {
        State::Mismatch => Failure::new(FailureKind::Mismatch, in_an_earlier_run("written"))
            // What was refused and seems to be saved is unknown, and of several calls not all may have been made.
            .applied(entry.applied.unwrap_or(Applied::Yes))
            .hint(next.for_mismatch()),
        State::FailedPermanent => {
            let kind = entry.kind.as_deref().and_then(FailureKind::from_name).unwrap_or(FailureKind::Refused);
            let applied = entry.applied.unwrap_or(Applied::No);
            let hint = if entry.of_shop { next.retry(&[place], 1) } else { next.fix(&[place], 1) };
            let failure = Failure::new(kind, in_an_earlier_run("no reason recorded"));
            Failure { is_of_stored: entry.of_shop, ..failure }.hint(hint).applied(applied)
        }
        _ => {
            // A later failure to send it again is not the reason why it is unknown.
            let why = reason.and_then(|reason| reason.split(SENDING_AGAIN).next()).unwrap_or_default();
            let message = match why.strip_prefix(SENT_EARLIER).unwrap_or(why) {
                "" => SENT_EARLIER.to_owned(),
                why => format!("{SENT_EARLIER}: {}", why.trim_start_matches(": ")),
            };
            Failure::new(FailureKind::Unknown, message).hint(next.for_unknown())
        }
    };
    let is_permanent = entry.state == State::FailedPermanent;
    let failure = if is_permanent { failure.for_good() } else { failure };
    Failure { status: entry.status, ..failure }
}

fn parse(text: &str, first: u64) -> Result<Map<String, Value>, Failure> {
    match exact_json::parse(text.as_bytes()) {
        Ok(Value::Object(document)) => Ok(document),
        Ok(_) => Err(Failure::usage("a record must be a JSON object")),
        // It is the first line of a document that is printed over several.
        Err(exact_json::Error::Syntax { .. }) if is_begun(text) => {
            let message =
                "the line only begins a JSON document, and a record is one line: `jq -c . FILE` writes it so";
            Err(Failure::usage(message))
        }
        Err(exact_json::Error::Syntax { problem, line, column }) => Err(Failure::usage(match line {
            1 => format!("column {column}: invalid JSON: {problem}"),
            _ => format!("line {}, column {column}: invalid JSON: {problem}", first + line as u64 - 1),
        })),
        Err(error) => Err(Failure::usage(error.to_string())),
    }
}

/// Whether a text is only the opening of a JSON document.
fn is_begun(text: &str) -> bool {
    matches!(text.trim_end().as_bytes(), [b'{' | b'['] | [b'{', .., b'{' | b'[' | b','])
}

/// The field that names a product, in any letter case.
const SKU: &str = "sku";

/// The field that every attribute has; a row without it, such as a sum at the end of a sheet, is not an attribute.
const INPUT_TYPE: &str = "frontend_input";

/// The key of the customer whom a record names; all spellings of an email are one.
fn customer_name(value: &Value, names: &FieldNames) -> Result<String, Failure> {
    let name = scalar(Some(value)).and_then(|text| CustomerName::parse(&text));
    name.map(|name| name.key()).ok_or_else(|| {
        let what = format!("{value} is neither a customer ID nor an email");
        Failure::usage(names.at(CUSTOMER_FIELD, what))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::customer_name;
    use storefront_core::check::field_names::FieldNames;

    #[test]
    fn a_customer_is_an_id_or_an_email_in_any_case() {
        for (value, name) in [
            (json!("7"), "7"),
            (json!("07"), "7"),
            (json!(7), "7"),
            (json!(" A@B.example"), "a@b.example"),
            (json!("Ärger@B.example"), "Ärger@b.example"),
            (json!("\u{212a}im@b.example"), "\u{212a}im@b.example"),
        ] {
            assert_eq!(customer_name(&value, &FieldNames::default()).unwrap(), name);
        }
        for wrong in [json!("ada"), json!(""), json!(null), json!(1.5), json!([]), json!(["a@b"])] {
            assert!(customer_name(&wrong, &FieldNames::default()).is_err(), "{wrong}");
        }
    }
}
