//! The command line: which commands there are, and how one is run. Each has a file, with its arguments.

pub mod api;
pub mod apply;
pub mod attribute;
pub mod auth;
pub mod check;
pub mod config;
pub mod customer;
pub mod doctor;
pub mod forget;
pub mod mcp;
pub mod meta;
pub mod order;
pub mod past;
pub mod product;
pub mod quote;
pub mod resume;
pub mod review;
pub mod sandbox;
use std::ffi::OsString;
use std::path::PathBuf;

use api::ApiArgs;
use apply::ApplyArgs;
use attribute::AttributeCommand;
use auth::AuthCommand;
use clap::builder::styling::{AnsiColor, Styles};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches as _, Parser, Subcommand};
use clap_complete::engine::ArgValueCandidates;
use config::ConfigCommand;
use customer::CustomerCommand;
use customer::update::dialogue::select;
use forget::ForgetArgs;
use mcp::McpArgs;
use meta::{OperationName, TemplateArgs};
use order::OrderCommand;
use past::JournalCommand;
use product::ProductCommand;
use quote::QuoteCommand;
use resume::ResumeArgs;
use review::ReviewArgs;
use sandbox::SandboxCommand;
use serde_json::Value;

use crate::batch::origin::Origin;
use crate::cli::command_line::CommandLine;
use crate::cli::hint::for_command;
use crate::cli::{GlobalArgs, GlobalFlags, RequestArgs};
use crate::client::Session;
use crate::client::Surroundings;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::config::{ConfigFile, Writes, chosen_dialect};
use crate::input::records::{self, Source};
use crate::input::{Draft, document};
use crate::ops::{self, Operation};
use crate::plan::journal_of;
use crate::plan::planning::Planning;
use crate::prompt::Consent;
use crate::report::Report;
use crate::report::outcome::Outcome;
use crate::state::page_file;
use crate::system::storage::real_path;
use crate::{batch, completion};
use storefront_core::check::synonyms::by_meaning;
use storefront_core::failure::{Applied, Failure};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::{Bearer, is_read};
use storefront_core::operation::json_schema;
use storefront_core::operation::{OperationSpec, QUOTE_CLEAR, QUOTE_REMOVE_ITEM};

/// Colors of help and of errors about the command line, as cargo and uv have them.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Edit customers, orders, carts, products and attributes in a Magento shop without losing data.
#[derive(Debug, Parser)]
#[command(name = "storefront", bin_name = "storefront", version = meta::VERSION.as_str())]
#[command(disable_help_subcommand = true, styles = STYLES)]
// That of clap without an empty line: the overview fits a terminal of 40 lines.
#[command(help_template = "{about-with-newline}{usage-heading} {usage}\n\n{all-args}{after-help}")]
pub struct Cli {
    /// The flags of every command.
    #[command(flatten)]
    pub global: GlobalFlags,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// What it says besides the command's own arguments.
    #[arg(skip)]
    pub shared: GlobalArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Save shipping details, and add, change and remove items of quotes
    #[command(subcommand)]
    Quote(QuoteCommand),
    /// Show, update and check customer profiles
    #[command(subcommand)]
    Customer(CustomerCommand),
    /// Create product attributes, assign them to sets and add options
    #[command(subcommand)]
    Attribute(AttributeCommand),
    /// List and show orders, and correct their addresses
    #[command(subcommand)]
    Order(OrderCommand),
    /// Show and set the values of products
    #[command(subcommand)]
    Product(ProductCommand),
    /// As `history`, `verify` and `undo`
    #[command(subcommand, hide = true)]
    Journal(JournalCommand),
    /// What did I do? List what was written from this machine, or show one write
    History(past::HistoryArgs),
    /// Is it still so? Compare what was written with what the shop has now
    Verify(past::VerifyArgs),
    /// Take it back, where it still is as it was written
    Undo(Box<past::UndoArgs>),
    /// Go on with a batch that stopped, with the arguments that it was started with
    Resume(ResumeArgs),
    /// Forget customers on this machine; the shop is not touched
    Forget(ForgetArgs),
    /// Carry out a plan that --plan wrote
    Apply(ApplyArgs),
    /// Review a plan in a browser, and apply it there
    Review(ReviewArgs),
    /// Serve reads and plans to an assistant over stdin and stdout (MCP)
    // An assistant is set up once; `help assistants` and its page name it.
    #[command(hide = true)]
    Mcp(McpArgs),
    /// Manage profiles and settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Manage access tokens
    #[command(subcommand)]
    Auth(AuthCommand),
    /// Check the setup and suggest a fix for each problem
    #[command(after_help = "Examples:
  storefront doctor --sandbox
  storefront doctor --sandbox -o json
  storefront doctor --sandbox -v")]
    Doctor(RequestArgs),
    /// Run and inspect the built-in local service (no account needed)
    #[command(subcommand)]
    Sandbox(SandboxCommand),
    /// Call any other endpoint with the profile's base URL and token
    Api(ApiArgs),
    /// Print an example input to edit (field descriptions go to stderr)
    #[command(hide = true)]
    Template(TemplateArgs),
    /// Print the JSON Schema (2020-12) of an operation's input
    #[command(
        hide = true,
        after_help = "Examples:
  storefront schema quote ship
  storefront schema customer-update > customer.schema.json
  storefront schema attribute create"
    )]
    Schema(OperationName),
    /// Explain a topic (exit-codes, environment, input, assistants) or a command
    #[command(after_help = "Examples:
  storefront help exit-codes
  storefront help environment
  storefront help customer update")]
    Help {
        /// Topic or command
        #[arg(value_name = "TOPIC|COMMAND", add = ArgValueCandidates::new(meta::help_words))]
        words: Vec<String>,
    },
    /// Print a shell completion script
    #[command(after_help = "Examples:
  storefront completions bash > storefront.bash
  storefront completions zsh > _storefront
  storefront completions fish > storefront.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the man pages to DIR, or print the main page
    #[command(
        hide = true,
        after_help = "Examples:
  storefront man
  storefront man man1
  storefront man man1 && ls man1"
    )]
    Man {
        /// Output directory (created if missing)
        #[arg(value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

impl Command {
    /// The operation, if the command takes records.
    pub fn operation(&self) -> Option<&dyn Operation> {
        match self {
            Self::Quote(command) => command.operation(),
            Self::Customer(command) => command.operation(),
            Self::Attribute(command) => command.operation(),
            Self::Order(command) => command.operation(),
            Self::Product(command) => command.operation(),
            _ => None,
        }
    }
}

impl Command {
    /// Whether it may change the shop, unless it is a dry run. Each command is named, so that a new one does not compile
    /// without a decision. `auth login` only gets a token from the shop.
    pub fn can_write(&self) -> bool {
        match self {
            Self::Quote(command) => command.can_write(),
            Self::Customer(command) => command.can_write(),
            Self::Attribute(command) => command.can_write(),
            Self::Order(command) => command.can_write(),
            Self::Product(command) => command.can_write(),
            Self::Review(args) => !args.set_code,
            Self::Apply(_) | Self::Resume(_) | Self::Api(_) | Self::Undo(_) => true,
            Self::Journal(command) => matches!(command, JournalCommand::Undo(_)),
            Self::History(_)
            | Self::Verify(_)
            | Self::Forget(_)
            | Self::Mcp(_)
            | Self::Config(_)
            | Self::Auth(_)
            | Self::Doctor(_)
            | Self::Sandbox(_)
            | Self::Template(_)
            | Self::Schema(_)
            | Self::Help { .. }
            | Self::Completions { .. }
            | Self::Man { .. } => false,
        }
    }
}

impl Command {
    /// The number of `--allow-delete`.
    #[expect(clippy::match_same_arms, reason = "the arguments are of different types")]
    fn allowed_deletions(&self) -> Option<usize> {
        match self {
            Self::Customer(CustomerCommand::Update(args)) => args.allow_delete,
            Self::Customer(CustomerCommand::Restore(args)) => args.allow_delete,
            Self::Undo(args) => args.allow_delete,
            _ => None,
        }
    }
}

impl Cli {
    /// Reads a command line, the program first.
    ///
    /// # Errors
    /// What clap has to say: help, the version, or what is wrong.
    pub fn parse_args(words: &[OsString]) -> Result<Self, clap::Error> {
        let mut grammar = Self::command();
        let matches = grammar.try_get_matches_from_mut(words).map_err(|error| with_tip(error, words))?;
        let cli = Self::from_arg_matches(&matches).map_err(|error| error.format(&mut grammar))?;
        let mut command = &grammar;
        let mut called = &matches;
        while let Some((name, inner)) = called.subcommand()
            && let Some(found) = command.find_subcommand(name)
        {
            (command, called) = (found, inner);
        }
        let mut shared = GlobalArgs::new(&cli.global, command, called);
        shared.typed = CommandLine::of(&grammar, &matches);
        shared.can_write = cli.command.can_write() && !shared.dry_run;
        Ok(Self { shared, ..cli })
    }

    /// This command line with the flags of another one that say how results are shown.
    fn with_output_of(mut self, other: &Self) -> Self {
        let GlobalFlags { output, jq, quiet, verbose, color, no_input, .. } = other.global.clone();
        self.shared.no_input |= no_input;
        self.global = GlobalFlags { output, jq, no_input, quiet, verbose, color, ..self.global };
        self.shared.flags = self.global.clone();
        self
    }
}

/// The whole grammar.
pub fn grammar() -> clap::Command {
    let mut grammar = Cli::command();
    grammar.build();
    grammar
}

/// Commands that people look for and that do not exist, and what to do instead.
const INSTEAD: &[(&str, &str)] = &[
    ("address", "run 'storefront customer show' for the IDs, then 'storefront customer update --address ID'"),
    ("alias", "use an alias of your shell"),
    ("attribute delete", "run 'storefront api DELETE /V1/products/attributes/CODE --admin'"),
    ("attribute update", "run 'storefront api PUT PATH --admin --input FILE'"),
    ("config edit", "open the file that 'storefront config path' prints, or run 'storefront config set'"),
    ("customer add-address", "run 'storefront customer update --add-address'"),
    ("customer delete", "to remove an address, run 'storefront customer update --remove-address ID'"),
    ("customer delete-address", "run 'storefront customer update --remove-address ID'"),
    ("customer list", "run 'storefront customer find TEXT'"),
    ("delete", "run 'storefront customer update --remove-address ID' or 'storefront api DELETE PATH'"),
    ("delete-address", "run 'storefront customer update --remove-address ID'"),
    ("list", "run 'storefront customer find TEXT', 'storefront config list' or 'storefront api GET PATH'"),
    (
        "plan",
        "add '--plan FILE' to a command that changes something, then run 'storefront review FILE' or 'storefront apply FILE'",
    ),
    ("version", "run 'storefront --version'"),
];

/// The commands that a verb without a noun names.
fn commands_called(verb: &str, grammar: &clap::Command) -> Option<String> {
    let commands = grammar.get_subcommands().filter_map(|noun| {
        let found = noun.find_subcommand(verb)?;
        Some(format!("'storefront {} {}'", noun.get_name(), found.get_name()))
    });
    let commands: Vec<String> = commands.collect();
    (!commands.is_empty()).then(|| format!("run {}", commands.join(" or ")))
}

/// The flag of the called command that has the meaning of an unknown flag: `--postcode` for `--zip`.
fn meant(flag: &str, words: &[OsString]) -> Option<String> {
    let grammar = grammar();
    let called =
        words.iter().skip(1).fold(&grammar, |command, word| command.find_subcommand(word).unwrap_or(command));
    let name = |long: &str| long.replace('-', "_");
    let known: Vec<String> = called.get_arguments().filter_map(clap::Arg::get_long).map(name).collect();
    let known = || known.iter().map(String::as_str);
    // The fields of a cart's addresses have `ship_` or `bill_` before their names.
    let typed = name(flag.trim_start_matches('-'));
    let (side, field) = ["ship_", "bill_"]
        .iter()
        .find_map(|side| Some((*side, typed.strip_prefix(side)?)))
        .unwrap_or(("", &typed));
    let inside: Vec<&str> = known().filter_map(|known| known.strip_prefix(side)).collect();
    // A flag has a name of its own for some fields.
    let field = if field == "country_code" { "country" } else { field };
    let found = by_meaning(field, inside.iter().copied());
    let found =
        found.map(|found| format!("{side}{found}")).filter(|found| known().any(|known| known == found));
    found.map(|found| found.replace('_', "-"))
}

/// Adds to the error about an unknown flag or subcommand what exists instead, in place of clap's guess by spelling.
fn with_tip(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let typed = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand].map(|kind| error.get(kind));
    let tip = match (error.kind(), typed) {
        (ErrorKind::UnknownArgument, [Some(ContextValue::String(email)), _]) if email.contains('@') => {
            format!("name the customer with '--customer {email}'")
        }
        (ErrorKind::UnknownArgument, [Some(ContextValue::String(flag)), _])
            if flag == "--code" && words.iter().any(|word| word == "attribute") =>
        {
            "write the code of the attribute without '--code'".to_owned()
        }
        (ErrorKind::UnknownArgument, [Some(ContextValue::String(flag)), _])
            if ["--status", "--state"].contains(&flag.as_str())
                && words.iter().any(|word| word == "order") =>
        {
            "only the address of an order can be changed".to_owned()
        }
        (ErrorKind::UnknownArgument, [Some(ContextValue::String(flag)), _]) => {
            let Some(known) = meant(flag, words) else {
                // No value of ours begins with dashes.
                error.remove(ContextKind::Suggested);
                return error;
            };
            format!("use '--{known}'")
        }
        (ErrorKind::InvalidSubcommand, [_, Some(ContextValue::String(typed))]) => {
            let grammar = Cli::command();
            let before = words.iter().take_while(|word| *word != typed.as_str());
            let noun =
                before.filter_map(|word| grammar.find_subcommand(word)).map(clap::Command::get_name).next();
            let command = noun.map_or_else(|| typed.clone(), |noun| format!("{noun} {typed}"));
            let instead = INSTEAD.iter().find(|(known, _)| *known == command);
            let instead = instead.map(|(_, instead)| (*instead).to_owned());
            match instead.or_else(|| commands_called(&command, &grammar)) {
                Some(instead) => instead,
                None => return error,
            }
        }
        _ => return error,
    };
    error.remove(ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// Runs the command of a command line.
///
/// # Errors
/// Whatever went wrong, complete with its exit code.
pub async fn run(
    cli: &Cli,
    global: &GlobalArgs,
    surroundings: &Surroundings,
    report: &Report,
) -> Result<(), Failure> {
    let context = &surroundings.context;
    let connect = &*surroundings.connect;
    cli.global.validate()?;
    // Commands that explain the program work with any settings.
    match &cli.command {
        Command::Help { words } => return meta::help(report, words),
        Command::Completions { shell } => return report.stdout(&completion::script(*shell)?),
        Command::Man { directory } => return meta::man(report, directory.as_deref()),
        _ => {}
    }
    let config = ConfigFile::load(context);
    let dialect = chosen_dialect(context, global, &config)?;
    let consent = Consent::of(cli.command.allowed_deletions());
    let session = Session { context, global, config: &config, dialect, report, connect, consent: &consent };
    // If a person has to agree and the command itself asks, that question is enough, and `--yes` does not answer it.
    let yes = match &cli.command {
        // It depends on what is undone: the undo of a batch only plans.
        Command::Undo(_)
        | Command::Journal(JournalCommand::Undo(_))
        | Command::Customer(CustomerCommand::Restore(_)) => global.yes,
        command => permit_command(&session, command)? && global.yes,
    };
    let session = Session { global: &GlobalArgs { yes, ..global.clone() }, ..session };
    let mut result = carry_out(&cli.command, &session).await;
    if let Err(failure) = &result
        && auth::renew(&session, failure).await?
    {
        result = carry_out(&cli.command, &session).await;
    }
    if session.global.can_write {
        page_file::remove_abandoned(context);
    }
    result
}

/// Runs a command that has a session.
async fn carry_out(command: &Command, session: &Session<'_>) -> Result<(), Failure> {
    match command {
        Command::Config(command) => config::run(session, command),
        Command::Auth(command) => auth::run(session, command).await,
        Command::Quote(command) => quote::run(session, command).await,
        Command::Customer(command) => customer::run(session, command).await,
        Command::Attribute(command) => attribute::run(session, command).await,
        Command::Order(command) => order::run(session, command).await,
        Command::Product(command) => product::run(session, command).await,
        Command::Journal(command) => past::journal(session, command).await,
        Command::History(args) => past::history(session, args).await,
        Command::Verify(args) => past::verify(session, args).await,
        Command::Undo(args) => past::undo(session, args).await,
        Command::Forget(args) => forget::run(session, args).await,
        Command::Apply(args) => apply::run(session, args).await,
        Command::Resume(_) => Err(Failure::internal("the command of the batch was not found")),
        Command::Review(args) => review::run(session, args).await,
        Command::Mcp(args) => mcp::run(session, args).await,
        Command::Doctor(_) => doctor::run(session).await,
        Command::Api(args) => api::run(session, args).await,
        Command::Template(args) => meta::template(session, args),
        Command::Schema(args) => {
            let schema = json_schema::of(session.dialect, OperationSpec::parse(&args.words)?);
            session.report.stdout(format!("{schema:#}\n"))
        }
        Command::Sandbox(command) => sandbox::run(session, command).await,
        Command::Help { .. } | Command::Completions { .. } | Command::Man { .. } => Ok(()),
    }
}

/// Decides whether a command may write; `true` if `--yes` may answer its questions.
fn permit_command(session: &Session<'_>, command: &Command) -> Result<bool, Failure> {
    let is_read = matches!(command, Command::Api(args) if is_read(&args.method));
    let is_page = matches!(command, Command::Review(_));
    if is_read {
        Ok(true)
    } else {
        permit_write(session, is_page, || asks_by_itself(session.global, command))
    }
}

/// Decides before a command begins who may write; the gate of each call decides again. With `writes = "no"` nobody, with `ask` a person at
/// a terminal, for whom `--yes` does not answer, or in a page. The sandbox may always be written to. Returns whether
/// `--yes` may answer the command's own questions.
fn permit_write(
    session: &Session<'_>,
    is_page: bool,
    asks_by_itself: impl FnOnce() -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    if !session.global.can_write || session.global.flags.sandbox {
        return Ok(true);
    }
    let file = session.config.as_ref().ok();
    // A configuration that cannot be used is reported where the service is opened.
    let profile = file.and_then(|file| file.chosen(session.context, session.global).ok().flatten());
    let (writes, by) = Writes::of(session.context, profile.as_ref())?;
    let prompt = session.prompt();
    let problem = match writes {
        Writes::Yes => return Ok(true),
        // The code that a person types in the page is the answer.
        Writes::Ask if is_page => return Ok(false),
        Writes::Ask if prompt.can_ask() && asks_by_itself()? => return Ok(false),
        Writes::Ask if prompt.can_ask() => {
            let profile = profile.map(|profile| format!(" of profile {}", profile.name)).unwrap_or_default();
            let question = format!("Let this command write to the shop{profile}?");
            return prompt.permits(&question).map(|()| true);
        }
        Writes::Ask => "every write has to be confirmed by a person at a terminal",
        Writes::No => "nothing may be written",
    };
    Err(Failure::guard(format!("{problem}: {by} is `{}`", writes.name()))
        .hint("reads work, and --dry-run shows what would be sent"))
}

/// Whether a command asks a person before it writes: those on profiles and orders, those that remove items of a cart,
/// deletions by `api`, batches, and plans that are applied for the first time. A resumed batch may complete what it looks up without a
/// question.
fn asks_by_itself(global: &GlobalArgs, command: &Command) -> Result<bool, Failure> {
    if let Command::Apply(args) = command {
        return Ok(!journal_of(&real_path(&args.file)).exists());
    }
    if let Command::Api(args) = command {
        return Ok(args.is_deletion());
    }
    let is_batch = || Ok(!global.batch.resume && records::detect(&global.input)?.is_some());
    if matches!(
        command,
        Command::Customer(_)
            | Command::Order(_)
            | Command::Quote(QuoteCommand::Clear(_) | QuoteCommand::RemoveItem(_))
    ) {
        Ok(true)
    } else {
        is_batch()
    }
}

/// Opens the service for the customer who is named or the token's own, and runs a task with it.
///
/// # Errors
/// Whatever went wrong.
pub async fn with_customer(
    session: &Session<'_>,
    task: impl AsyncFnOnce(&Service<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let customer = session.global.customer.as_deref();
    with_service(session, async |service| task(&select(service, customer).await?).await).await
}

/// Runs an operation on its input.
///
/// # Errors
/// Whatever went wrong.
pub async fn run_operation(session: &Session<'_>, operation: &dyn Operation) -> Result<(), Failure> {
    run_records(session, operation, async |document| run_one(session, operation, document).await).await
}

/// Runs an operation over the records of a batch; for other input, `one` runs it on the document.
///
/// # Errors
/// Whatever went wrong.
pub async fn run_records(
    session: &Session<'_>,
    operation: &dyn Operation,
    one: impl AsyncFnOnce(Option<Value>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let Some(source) = source(session)? {
        return batch::run(session, Origin::Input(source), operation).await;
    }
    let input = &session.global.input;
    one(input.path.as_deref().map(|path| document::read_record(path, input.encoding)).transpose()?).await
}

/// Runs an operation on one document, which is checked before the service is opened.
///
/// # Errors
/// Whatever went wrong.
pub async fn run_one(
    session: &Session<'_>,
    operation: &dyn Operation,
    document: Option<Value>,
) -> Result<(), Failure> {
    let draft = prepare(session, operation, document)?;
    with_service(session, async |service| send(service, operation, &draft).await).await
}

/// Checks a document with the flags over it, and warns about what was corrected.
///
/// # Errors
/// `usage` for what is refused.
pub fn prepare(
    session: &Session<'_>,
    operation: &dyn Operation,
    document: Option<Value>,
) -> Result<Draft, Failure> {
    let draft = operation.prepare(session.dialect, document.into(), session.global.input.allow_unknown)?;
    draft.warnings.iter().for_each(|warning| session.report.warn(warning));
    Ok(draft)
}

/// Sends a draft, for the customer who is named or the token's own, and reports the outcome.
///
/// # Errors
/// Whatever went wrong.
pub async fn send(service: &Service<'_>, operation: &dyn Operation, draft: &Draft) -> Result<(), Failure> {
    let mut planning = Planning::begin(service, operation)?;
    let named = service.session.global.customer.as_deref();
    let service = match operation.spec().bearer {
        Bearer::Customer => &select(service, named).await?,
        Bearer::Admin => service,
    };
    let prompt = service.session.prompt();
    if prompt.confirms() && !service.session.global.dry_run {
        let question = operation.question(service, draft).await?;
        question.map_or(Ok(()), |question| prompt.confirm(&question))?;
    }
    let done = ops::run(operation, service, draft, None).await;
    service.stage.end(done.as_ref());
    let outcome = done?;
    report_done(service.session, &outcome)?;
    if let Some(planning) = &mut planning {
        planning.add(named.map(str::to_owned), draft, &outcome, None)?;
    }
    planning.map_or(Ok(()), Planning::finish)
}

/// Prints the outcome of an operation, and after a removal from a cart the command that undoes it.
fn report_done(session: &Session<'_>, outcome: &Outcome) -> Result<(), Failure> {
    session.report.outcome(outcome)?;
    let is_removal = [QUOTE_REMOVE_ITEM.name, QUOTE_CLEAR.name].contains(&outcome.operation);
    let write = outcome.write.as_ref().filter(|_| is_removal && outcome.applied == Applied::Yes);
    if let Some(write) = write.and_then(Value::as_str) {
        let back = hint!("take it back with ", storefront("undo").arg(write));
        session.report.status(&for_command(back, session.global).to_string());
    }
    Ok(())
}

/// Runs an operation with a person's answers, and prints the outcome and the command line that does the same.
///
/// # Errors
/// Whatever went wrong.
pub async fn run_answered(
    service: &Service<'_>,
    operation: &dyn Operation,
    line: &CommandLine,
) -> Result<(), Failure> {
    let session = service.session;
    let draft = prepare(session, operation, None)?;
    let done = ops::run(operation, service, &draft, None).await;
    service.stage.end(done.as_ref());
    let reported = done.and_then(|outcome| report_done(session, &outcome));
    session.report.equivalent(line);
    reported
}

/// The input, if it has many records.
fn source(session: &Session<'_>) -> Result<Option<Source>, Failure> {
    let source = records::detect(&session.global.input)?;
    match (&source, &session.global.batch_flag) {
        (Some(source), _) if source.is_plan() => {
            let message = "the input is a plan";
            let file = source.path.to_string_lossy().into_owned();
            Err(Failure::usage(message).hint(hint!("apply it with ", storefront("apply").arg(file))))
        }
        (None, Some(flag)) => Err(Failure::usage(format!("{flag} requires batch input"))
            .hint("use --input with CSV, NDJSON or a JSON array (add --input-format for stdin)")),
        _ => Ok(source),
    }
}
