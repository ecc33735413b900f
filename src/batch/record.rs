//! From a record as it stands in the input to one that can be run: parsed, checked, with its key and its token.

use std::cell::Cell;

use serde_json::{Map, Value};

use crate::batch::failed_file::REASON;
use crate::batch::token::{self, TOKEN_FIELD, TokenCommand, TokenSource};
use crate::config::TokenCommand as Program;
use crate::exact_json;
use crate::failure::{Applied, Failure, FailureKind};
use crate::input::Draft;
use crate::input::records::{Columns, Content, Record, RowError, Source};
use crate::journal::{Entry, Fnv1a, State};
use crate::ops::record::RecordOperation;
use crate::plan::operation::Operation;
use crate::plan::request::{Bearer, Dialect};
use crate::token::Token;

/// How records are read from the input.
pub struct RecordPreparer<'a> {
    /// What is done with them.
    pub operation: RecordOperation<'a>,
    /// The interface.
    pub dialect: &'static Dialect,
    /// Name of the input, for messages.
    pub name: String,
    /// Whether fields the interface does not list are sent as they are.
    pub allow_unknown: bool,
    /// What prints the token of each record, where there is such a command.
    pub command: Option<TokenCommand>,
    /// The token of records without one of their own, where it is known.
    run_token: Option<Token>,
    /// How the records so far name their customers.
    naming: CustomerNaming,
}

/// A record ready to be run.
#[derive(Debug)]
pub struct PreparedRecord {
    /// What is sent.
    pub draft: Draft,
    /// Records of one key keep their order; shards are cut by it.
    pub key: String,
    /// Whose token it carries.
    pub token_source: TokenSource,
    /// The customer whom the record names, with the run's administrator's token.
    pub customer: Option<CustomerName>,
}

impl<'a> RecordPreparer<'a> {
    /// An intake for one input. `program` prints tokens; `run_token` is the token of records without one of their own,
    /// where it is known.
    pub fn new(
        dialect: &'static Dialect,
        operation: RecordOperation<'a>,
        source: &Source,
        allow_unknown: bool,
        program: Option<&Program>,
        run_token: Option<Token>,
    ) -> Self {
        let command = program.and_then(TokenCommand::new);
        Self {
            operation,
            dialect,
            name: source.name(),
            allow_unknown,
            command,
            run_token,
            naming: CustomerNaming::default(),
        }
    }

    /// Understands the header of a CSV.
    ///
    /// # Errors
    /// As [`Columns::parse_header`].
    pub fn columns(&self, header: &csv::StringRecord) -> Result<Columns, Failure> {
        Columns::parse_header(
            &self.name,
            self.dialect,
            self.operation.operation(),
            header,
            &self.extra_fields(),
        )
    }

    /// Parses and checks a record.
    ///
    /// # Errors
    /// `usage`, by line and column, for what cannot be sent.
    pub fn prepare(&self, record: &Record, columns: Option<&Columns>) -> Result<PreparedRecord, Failure> {
        self.prepared(record, columns).map_err(|refusal| self.with_location(record, refusal))
    }

    fn prepared(&self, record: &Record, columns: Option<&Columns>) -> Result<PreparedRecord, Refusal> {
        let (document, mut extra) = match (&record.content, columns) {
            (Content::Row(row), Some(columns)) => columns.document(row)?,
            (Content::Json(text), _) => (parse(text, record.line)?, Map::new()),
            (Content::Row(_), None) => return Err(Failure::internal("the header is not read yet").into()),
        };
        let document = self.split_fields(document, &mut extra);
        let has_column =
            columns.is_some_and(|columns| columns.titles().iter().any(|title| title == CUSTOMER_FIELD));
        let customer = self.customer(&mut extra, has_column)?;
        let own = match customer {
            Some(_) => TokenSource::Shared,
            None => self.token_source(&document, &extra)?,
        };
        let draft = self.operation.prepare(self.dialect, document, self.allow_unknown)?;
        let key = match &customer {
            Some(customer) => customer.text(),
            None => key(&draft, &own),
        };
        Ok(PreparedRecord { draft, key, token_source: own, customer })
    }

    /// The part of a document that is input of the operation; other fields go to `extra`.
    fn split_fields(
        &self,
        mut document: Map<String, Value>,
        extra: &mut Map<String, Value>,
    ) -> Map<String, Value> {
        document.shift_remove(REASON);
        for name in self.extra_fields() {
            // An object of that name is the wrapper.
            if document.get(&name).is_some_and(Value::is_object) && name == CUSTOMER_FIELD {
                continue;
            }
            if let Some(value) = document.shift_remove(&name) {
                extra.insert(name, value);
            }
        }
        document
    }

    /// Names of the fields that are not input of the operation: the token, and fields only the token command knows.
    fn extra_fields(&self) -> Vec<String> {
        let operation = self.operation.operation();
        let schema = operation.inner_schema(self.dialect);
        let is_input =
            |name: &&String| schema.field(name).is_some() || operation.spec().wrapper == Some(name.as_str());
        let fields = self.command.iter().flat_map(|command| &command.fields);
        let mut fields: Vec<String> =
            fields.filter(|name| !is_input(name)).cloned().chain([TOKEN_FIELD.to_owned()]).collect();
        if self.takes_customers() {
            fields.push(CUSTOMER_FIELD.to_owned());
        }
        fields
    }

    /// Whether the records so far name customers.
    pub fn names_customers(&self) -> bool {
        self.naming.names_customers()
    }

    /// Whether records may name a customer, for whom the run's administrator's token acts. Where the token command uses
    /// that field, it prints the customer's own token.
    fn takes_customers(&self) -> bool {
        let is_for_command =
            |command: &TokenCommand| command.fields.iter().any(|name| name == CUSTOMER_FIELD);
        self.dialect.customers.is_some()
            && self.operation.operation().spec().bearer == Bearer::Customer
            && !self.command.as_ref().is_some_and(is_for_command)
    }

    /// The customer whom a record names.
    fn customer(
        &self,
        extra: &mut Map<String, Value>,
        has_column: bool,
    ) -> Result<Option<CustomerName>, Failure> {
        if !self.takes_customers() {
            return Ok(None);
        }
        let customer =
            extra.shift_remove(CUSTOMER_FIELD).map(|value| CustomerName::new(&value)).transpose()?;
        if customer.is_some() && extra.contains_key(TOKEN_FIELD) {
            return Err(Failure::usage("a record names a customer and has a token of its own")
                .hint("use one administrator's token and the column customer, or a token of each customer"));
        }
        self.naming.check(customer.as_ref(), has_column)?;
        Ok(customer)
    }

    fn token_source(
        &self,
        document: &Map<String, Value>,
        extra: &Map<String, Value>,
    ) -> Result<TokenSource, Failure> {
        if let Some(token) = extra.get(TOKEN_FIELD) {
            return Ok(self.unless_run_token(token::from_record(token)?));
        }
        let Some(command) = &self.command else { return Ok(TokenSource::Shared) };
        let wrapper = self.operation.operation().spec().wrapper;
        command.substitute(|name| {
            token::field(extra, None, name).or_else(|| token::field(document, wrapper, name))
        })
    }

    /// The batch's own token may be named in a record too: one token is one key, however it was supplied.
    fn unless_run_token(&self, own: TokenSource) -> TokenSource {
        match own {
            TokenSource::Given(token) if self.run_token.as_ref() == Some(&token) => TokenSource::Shared,
            own => own,
        }
    }

    fn with_location(&self, record: &Record, Refusal { place, failure }: Refusal) -> Failure {
        let line = record.line;
        let place = match place {
            Place::Record => format!("line {line}: "),
            Place::Column => format!("line {line}, "),
            Place::Character { line, column } => format!("line {line}, column {column}: "),
        };
        Failure { message: format!("{}: {place}{}", self.name, failure.message), ..*failure }
    }
}

/// Why a record cannot be sent, and where in it.
struct Refusal {
    place: Place,
    failure: Box<Failure>,
}

/// Where in a record something is wrong.
enum Place {
    /// In the record as a whole.
    Record,
    /// In columns that the message names.
    Column,
    /// At a character of the input, counted from 1: there the text is no JSON.
    Character { line: u64, column: usize },
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self { place: Place::Record, failure: failure.into() }
    }
}

impl From<RowError> for Refusal {
    fn from(error: RowError) -> Self {
        let (place, message) = match error {
            RowError::Length(message) => (Place::Record, message),
            RowError::Cells(message) => (Place::Column, message),
        };
        Self { place, failure: Failure::usage(message).into() }
    }
}

/// Hash of a record as it stands in the input.
pub fn hash(content: &Content) -> u64 {
    match content {
        Content::Json(text) => Fnv1a::new().update(text.as_bytes()),
        Content::Row(row) => {
            row.iter().fold(Fnv1a::new(), |hash, cell| hash.update(cell.as_bytes()).update(&[0]))
        }
    }
    .finish()
}

/// What a record touches, for people: the quote, the attribute code or the customer it names. `None` where that is the
/// token, which is not shown, and for what cannot be read.
pub fn key_of(operation: Operation, record: &Record, columns: Option<&Columns>) -> Option<String> {
    let (document, extra) = match (&record.content, columns) {
        (Content::Row(row), Some(columns)) => columns.document(row).ok()?,
        (Content::Json(text), _) => (serde_json::from_str(text).ok()?, Map::new()),
        (Content::Row(_), None) => return None,
    };
    let names = operation.spec().key_field.into_iter().chain([CUSTOMER_FIELD]);
    let field = |name| {
        token::field(&extra, None, name).or_else(|| token::field(&document, operation.spec().wrapper, name))
    };
    names.map(field).find_map(|key| key)
}

/// The failure that an earlier run left a record with.
pub fn failure_of(entry: &Entry) -> Failure {
    let why = |default: &str| entry.reason.clone().unwrap_or_else(|| default.to_owned());
    let failure = match entry.state {
        State::Mismatch => {
            Failure::new(FailureKind::Mismatch, format!("{} (in an earlier run)", why("written")))
                .hint("compare with `storefront customer show`")
        }
        State::FailedPermanent => {
            let kind = entry.kind.as_deref().and_then(FailureKind::from_name).unwrap_or(FailureKind::Refused);
            let applied = if entry.applied.as_deref() == Some("yes") { Applied::Yes } else { Applied::No };
            let message = format!("{} (in an earlier run)", why("no reason recorded"));
            Failure::new(kind, message).hint("fix the record, then --resume sends it").applied(applied)
        }
        _ => {
            let why = entry.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            Failure::new(FailureKind::Unknown, format!("outcome unknown (sent by an earlier run){why}"))
                .hint("check whether it took effect; --resume --retry-unknown sends it again")
        }
    };
    Failure { status: entry.status, ..failure }
}

/// How large a record is, in bytes.
pub fn size(content: &Content) -> usize {
    match content {
        Content::Json(text) => text.len(),
        Content::Row(row) => row.as_slice().len(),
    }
}

fn parse(text: &str, line: u64) -> Result<Map<String, Value>, Refusal> {
    match exact_json::parse(text.as_bytes()) {
        Ok(Value::Object(document)) => Ok(document),
        Ok(_) => Err(Failure::usage("a record must be a JSON object").into()),
        Err(exact_json::Error::Syntax { problem, line: within, column }) => {
            let line = line + within.saturating_sub(1) as u64;
            let failure = Failure::usage(format!("invalid JSON: {problem}"));
            Err(Refusal { place: Place::Character { line, column }, failure: failure.into() })
        }
        Err(error) => Err(Failure::usage(error.to_string()).into()),
    }
}

/// What a record changes: the quote, the attribute, or what belongs to the token.
fn key(draft: &Draft, own: &TokenSource) -> String {
    let touched = draft.operation.spec().key_field.and_then(|field| draft.fields.get(field)?.as_str());
    touched.map_or_else(|| own.key(), str::to_owned)
}

/// A member or column that names the customer, by id or email.
pub const CUSTOMER_FIELD: &str = "customer";

/// A customer's id or email.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CustomerName {
    /// By id.
    Id(u64),
    /// By email, in lower case.
    Email(String),
}

impl CustomerName {
    /// Takes what stands in a record.
    ///
    /// # Errors
    /// `usage` for what is neither an id nor an email.
    pub fn new(value: &Value) -> Result<Self, Failure> {
        let text = match value {
            Value::String(text) => text.trim().to_lowercase(),
            other => other.to_string(),
        };
        match text.parse() {
            Ok(id) => Ok(Self::Id(id)),
            Err(_) if text.contains('@') => Ok(Self::Email(text)),
            Err(_) => Err(Failure::usage(format!("customer: {value} is neither a customer ID nor an email"))),
        }
    }

    /// The name as `--customer` takes it.
    pub fn text(&self) -> String {
        match self {
            Self::Id(id) => id.to_string(),
            Self::Email(email) => email.clone(),
        }
    }
}

/// How the records of a batch name their customers: all of them in the same way.
///
/// Ids and emails of one file may be the same customers, whose records would then lose their order. A record without a
/// customer is for the token's own, so that an empty cell among names would change the wrong customer.
#[derive(Debug, Default)]
pub struct CustomerNaming(Cell<Option<Naming>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// Not at all: the token decides.
    None,
    Id,
    Email,
}

impl CustomerNaming {
    /// Whether the records so far name customers.
    pub fn names_customers(&self) -> bool {
        self.0.get().is_some_and(|naming| naming != Naming::None)
    }

    /// Checks the next record against those before it; `has_column` says that the header has the column `customer`.
    ///
    /// # Errors
    /// `usage` for a record that names its customer in another way.
    pub fn check(&self, customer: Option<&CustomerName>, has_column: bool) -> Result<(), Failure> {
        let naming = match customer {
            None => Naming::None,
            Some(CustomerName::Id(_)) => Naming::Id,
            Some(CustomerName::Email(_)) => Naming::Email,
        };
        let refused = |message: &str| {
            Err(Failure::usage(message.to_owned()).hint("give every record a customer, or none"))
        };
        match (self.0.get(), naming) {
            (_, Naming::None) if has_column => refused("no customer: the column `customer` is empty"),
            (Some(Naming::Id | Naming::Email), Naming::None) => {
                refused("no customer: earlier records name one")
            }
            (Some(Naming::None), Naming::Id | Naming::Email) => {
                refused("a customer is named, and earlier records name none")
            }
            (Some(before), naming) if before != naming => {
                Err(Failure::usage("the input names customers by id and by email").hint(
                    "name all of them the same way: an id and an email may be one customer, whose records keep their order",
                ))
            }
            _ => {
                self.0.set(Some(naming));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::CustomerName;

    #[test]
    fn a_customer_is_an_id_or_an_email_in_any_case() {
        assert_eq!(CustomerName::new(&json!("7")).unwrap(), CustomerName::Id(7));
        assert_eq!(CustomerName::new(&json!(7)).unwrap(), CustomerName::Id(7));
        assert_eq!(CustomerName::new(&json!(" A@B.example")).unwrap().text(), "a@b.example");
        for wrong in [json!("ada"), json!(""), json!(null), json!(1.5), json!([])] {
            assert!(CustomerName::new(&wrong).is_err(), "{wrong}");
        }
    }
}
