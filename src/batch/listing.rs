//! What became of each record of a batch, from its journal and, if that is next to it, its input.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use encoding_rs::Encoding;

use crate::batch::origin::Origin;
use crate::batch::record::{each_hash, hash, key_of};
use crate::batch::settle_where_known;
use crate::cli::{InputArgs, InputFormat};
use crate::client::Session;
use crate::input::records::{self, Columns, RecordReader};
use crate::journal::places::Places;
use crate::journal::read::{self, LatestEntry, PreviousRuns};
use crate::journal::{Entry, JournalHeader, Shard, State};
use crate::log::WriteLog;
use crate::past::found::file_word;
use crate::plan::Plan;
use crate::system::storage::{LogAccess, parent, real_path};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::interface::request::Dialect;
use storefront_core::operation::OperationSpec;

/// A journal, and its input.
pub struct Listing<'a> {
    /// What the user runs.
    pub session: &'a Session<'a>,
    /// Its file.
    pub path: PathBuf,
    /// Its header.
    pub header: JournalHeader,
    /// What it says of the records.
    pub past: PreviousRuns,
    /// The operation of its records.
    pub operation: &'static OperationSpec,
}

/// A record as it is listed.
#[derive(Debug)]
pub struct ListedRecord {
    /// The number that names it.
    pub line: u64,
    /// Where it is in the input now, if that is known.
    pub now: Option<u64>,
    /// What it touches.
    pub key: Option<String>,
    /// Its state.
    pub state: State,
    /// Its latest entry in the journal.
    pub entry: Entry,
    /// Whether the input is there, but lacks it as it was run.
    pub is_lost: bool,
}

impl<'a> Listing<'a> {
    /// Reads a journal.
    ///
    /// # Errors
    /// `usage` for a file that cannot be read, `guard` for one that is not a journal or is damaged.
    pub fn read(session: &'a Session<'a>, path: &Path) -> Result<Self, Failure> {
        let unreadable =
            |error: std::io::Error| Failure::usage(format!("cannot read `{}`: {error}", path.display()));
        let not_a_journal = || Failure::guard(format!("`{}` is not a storefront journal", path.display()));
        let log = session.context.storage.open_log(path, LogAccess::Read);
        let log = log.map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Failure::usage(format!("file `{}` not found", path.display()))
                .hint(hint!(storefront("history"), " lists the batches of this machine")),
            _ => unreadable(error),
        })?;
        if !log.is_regular().map_err(unreadable)? {
            return Err(not_a_journal());
        }
        let header = read::header(&*log).map_err(unreadable)?.ok_or_else(not_a_journal)?;
        if let Some(version) = header.other_version() {
            return Err(Failure::guard(format!("`{}` {version}", path.display())));
        }
        let mut past = read::read(path, &log, &header)?;
        let unknown = || {
            Failure::guard(format!("`{}` is of an operation that this version does not know", path.display()))
        };
        let operation = OperationSpec::named(&header.operation).ok_or_else(unknown)?;
        settle_where_known(&mut past, session);
        Ok(Self { session, path: path.to_owned(), header, past, operation })
    }

    /// Passes on every record in the order of the input, then those that the input lacks as they were run; for a shard
    /// only its own. If `all` has the journals of all shards, the first shard also lists the records that no shard has
    /// sent.
    ///
    /// # Errors
    /// Those of the input, and of `row`.
    pub fn rows(
        &self,
        all: &[Self],
        mut row: impl FnMut(ListedRecord) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let whole = self.whole(all);
        let places = self.places()?;
        let of_others = whole.iter().filter(|other| other.path != self.path);
        let of_others: Vec<(&PreviousRuns, Places)> =
            of_others.map(|other| Ok((&other.past, other.places()?))).collect::<Result<_, Failure>>()?;
        let mut left: BTreeSet<u64> = self.past.records().map(|(line, _)| line).collect();
        let mut input = self.input()?;
        let has_input = input.is_some();
        while let Some(record) = input.as_mut().map(RecordReader::read).transpose()?.flatten() {
            let line = places.name(record.line);
            let latest = self.past.latest(line);
            let place = || {
                let columns = input.as_ref().and_then(RecordReader::columns);
                Some((record.line, key_of(self.operation, &record, columns)))
            };
            if self.past.has(line) {
                // A record in place of one that was sent is that one, changed.
                if latest.is_of(hash(&record.content)) && left.remove(&line) {
                    row(self.row(line, place(), latest, true))?;
                }
            } else if !whole.is_empty()
                && !of_others.iter().any(|(past, places)| past.has(places.name(record.line)))
            {
                row(self.row(line, place(), LatestEntry::default(), true))?;
            }
        }
        left.into_iter().try_for_each(|line| row(self.row(line, None, self.past.latest(line), has_input)))
    }

    /// Where the records are in the input.
    fn places(&self) -> Result<Places, Failure> {
        self.past.places_in(|found| self.input()?.map_or(Ok(()), |input| each_hash(input, found)))
    }

    /// The hint to the command that shows its records.
    pub fn shows_each(&self) -> Hint {
        let show = storefront("history").arg(file_word(&self.path));
        hint!(show, " lists what became of each record")
    }

    /// The id of the last run over this journal, if the log has it.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn known_id(&self) -> Result<Option<String>, Failure> {
        let Some(log) = WriteLog::to_read(self.session.context)? else { return Ok(None) };
        let journal = real_path(&self.path).to_string_lossy().into_owned();
        let run = log.runs_with_journals()?.into_iter().find(|run| run.is_over(&journal));
        Ok(run.map(|run| run.id.to_string()))
    }

    fn row(
        &self,
        line: u64,
        place: Option<(u64, Option<String>)>,
        latest: LatestEntry,
        has_input: bool,
    ) -> ListedRecord {
        let is_lost = has_input && place.is_none();
        let (now, key) = place.map_or((None, None), |(now, key)| (Some(now), key));
        ListedRecord { line, now, key, state: latest.state, entry: self.past.entry(latest), is_lost }
    }

    /// The journals that together have all that was sent of the input: this one, unless it is of a shard; then those of
    /// all shards, if all are there and this is the first.
    fn whole<'b>(&'b self, all: &'b [Self]) -> Vec<&'b Self> {
        if self.header.shard.is_none() { vec![self] } else { self.shards_if_first_of_all(all) }
    }

    /// The journals of all shards of the input, if all are there and this is the first; empty otherwise.
    fn shards_if_first_of_all<'b>(&self, all: &'b [Self]) -> Vec<&'b Self> {
        let shard = |listing: &Self| listing.header.shard.as_deref()?.parse::<Shard>().ok();
        let Some(Shard { index: 0, count }) = shard(self) else { return Vec::new() };
        let is_of_it = |listing: &&Self| {
            listing.header.input == self.header.input
                && listing.header.sha256 == self.header.sha256
                && shard(listing).is_some_and(|shard| shard.count == count)
        };
        let shards: Vec<&Self> = all.iter().filter(is_of_it).collect();
        let is_there =
            |index| shards.iter().any(|listing| shard(listing).is_some_and(|shard| shard.index == index));
        if (0..count).all(is_there) { shards } else { Vec::new() }
    }

    /// The input, if it is next to the journal.
    pub(super) fn input(&self) -> Result<Option<RecordReader>, Failure> {
        let Some(origin) = self.origin(None)? else { return Ok(None) };
        let source = origin.source();
        let header = &self.header;
        let operation = self.operation;
        // The interface of the run, whatever is set now.
        let dialect = Dialect::named(&header.interface).unwrap_or(self.session.dialect);
        let columns = |titles: &csv::StringRecord| {
            // The fields that a token command needed are not known here.
            let is_flag = |title: &&str| {
                operation.flag_columns.iter().any(|(flag, _)| flag.eq_ignore_ascii_case(title))
            };
            let all: Vec<String> =
                titles.iter().map(str::trim).filter(|title| !is_flag(title)).map(str::to_owned).collect();
            Columns::parse_header(&source.name(), dialect, operation, titles, &all)
        };
        RecordReader::open(source, columns).map(Some)
    }

    /// The input that is `named`, or else the one next to the journal, if it is there.
    ///
    /// # Errors
    /// As [`records::detect`] and [`Plan::read`].
    pub fn origin(&self, named: Option<&Path>) -> Result<Option<Origin>, Failure> {
        let header = &self.header;
        let beside = parent(&self.path).join(&header.input);
        // The name comes from a file, and must not lead elsewhere.
        let is_there = Path::new(&header.input).components().count() == 1 && beside.is_file();
        let Some(path) = named.map(Path::to_owned).or(Some(beside).filter(|_| is_there)) else {
            return Ok(None);
        };
        let encoding = header.encoding.as_deref().and_then(|name| Encoding::for_label(name.as_bytes()));
        let input_format = header.input_format.as_deref();
        let input_format = input_format.and_then(|name| InputFormat::from_str(name, false).ok());
        let input = InputArgs { path: Some(path), input_format, encoding, ..InputArgs::default() };
        let Some(source) = records::detect(&input)? else { return Ok(None) };
        if !source.is_plan() {
            return Ok(Some(Origin::Input(source)));
        }
        let context = self.session.context;
        let plan = Plan::read(&*context.storage, &context.directories()?.state, &source.path)?;
        Ok(Some(Origin::of_plan(plan)))
    }
}
