//! What became of each record of a batch, from its journal and, where that is next to it, its input.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};

use encoding_rs::Encoding;

use crate::batch::record::{hash, key_of};
use crate::batch::settle_where_known;
use crate::cli::InputArgs;
use crate::client::Session;
use crate::input::records::{self, Columns, Record, RecordReader, Source};
use crate::journal::read::{self, LatestEntry, PreviousRun};
use crate::journal::{Entry, JournalHeader, Shard, State};
use crate::plan::Plan;
use crate::system::storage::{LogAccess, parent};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::interface::request::Dialect;
use storefront_core::operation::OperationSpec;

/// A journal, and the input that it is of.
pub struct Listing<'a> {
    /// What the user runs.
    pub session: &'a Session<'a>,
    /// Its file.
    pub path: PathBuf,
    /// What it is of.
    pub header: JournalHeader,
    /// What it says of the records.
    pub past: PreviousRun,
    /// What was done with its records.
    pub operation: &'static OperationSpec,
}

/// A record as it is listed.
#[derive(Debug)]
pub struct Row {
    /// Its number when it was run, or is; `None` for one that stands where another was run.
    pub record: Option<u64>,
    /// Where it stands in the input now, where that is known.
    pub line: Option<u64>,
    /// What it touches.
    pub key: Option<String>,
    /// What became of it.
    pub state: State,
    /// The last that the journal says of it.
    pub entry: Entry,
    /// Whether the input is there, and does not have it any more as it was run.
    pub is_lost: bool,
}

/// Where records stand now that are not where they were when they were run, by their hashes. Rows that are the same are taken in
/// their order.
#[derive(Default)]
struct Moved {
    /// How many with this hash are not where they were, and were not met elsewhere yet.
    wanted: HashMap<u64, usize>,
    found: HashMap<u64, VecDeque<(u64, Option<String>)>>,
}

impl Moved {
    /// Whether a row that is not where it was run was run elsewhere; each row that was run is so once.
    fn takes(&mut self, hash: u64) -> bool {
        let left = self.wanted.get_mut(&hash).filter(|left| **left > 0);
        left.is_some_and(|left| {
            *left -= 1;
            true
        })
    }
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
                .hint(hint!(storefront("journal list"), " lists the journals of this machine")),
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
        let operation: Vec<String> = header.operation.split(' ').map(str::to_owned).collect();
        let operation = OperationSpec::parse(&operation)?;
        settle_where_known(&mut past, session);
        Ok(Self { session, path: path.to_owned(), header, past, operation })
    }

    /// Hands every record on, in the order of their numbers; of a shard only its own. Which records no shard has sent is known
    /// where `all` have the journals of all of them: the first one lists those. A row that was inserted follows the record in
    /// whose place it stands; one that is there in place of a record that is nowhere else is that record, changed.
    ///
    /// # Errors
    /// Those of the input, and of `row`.
    pub fn rows(&self, all: &[Self], mut row: impl FnMut(Row) -> Result<(), Failure>) -> Result<(), Failure> {
        let whole = self.whole(all);
        let mut moved = self.moved(&whole)?;
        let mut input = self.input()?;
        let is_first_shard = self.header.shard.is_some() && !whole.is_empty();
        let last = if is_first_shard { self.header.records.unwrap_or(0) } else { self.past.last() };
        let last = last.max(self.past.last());
        for number in 1.. {
            let record = input.as_mut().map(RecordReader::read).transpose()?.flatten();
            if record.is_none() && number > last {
                return Ok(());
            }
            let latest = self.past.latest(number);
            let any = latest_in(&whole, number);
            let columns = input.as_ref().and_then(RecordReader::columns);
            let place = |record: &Record| (record.line, key_of(self.operation, record, columns));
            let now = record.as_ref().map(|record| hash(&record.content));
            let is_in_place = latest.state != State::NotSent && now.is_some_and(|now| latest.is_of(now));
            if latest.state != State::NotSent {
                let found = match &record {
                    Some(record) if is_in_place => Some(place(record)),
                    _ => moved.found.get_mut(&latest.hash).and_then(VecDeque::pop_front),
                };
                row(self.row(Some(number), found, latest, input.is_some()))?;
            }
            let (Some(any), false) = (any, is_in_place) else { continue };
            let stands_for_another = any.state != State::NotSent;
            let is_listed = match now {
                Some(now) if stands_for_another && now == any.hash => false,
                // In place of one that is elsewhere, or of none.
                Some(now) => {
                    !moved.takes(now) && (!stands_for_another || moved.found.contains_key(&any.hash))
                }
                None => is_first_shard && !stands_for_another,
            };
            if is_listed {
                let own = (!stands_for_another).then_some(number);
                row(self.row(own, record.as_ref().map(place), LatestEntry::default(), false))?;
            }
        }
        Ok(())
    }

    /// The hint that names the command which shows its records.
    pub fn shows_each(&self) -> Hint {
        let show = storefront("journal show").arg(self.path.display().to_string());
        hint!(show, " lists what became of each record")
    }

    fn row(
        &self,
        record: Option<u64>,
        place: Option<(u64, Option<String>)>,
        latest: LatestEntry,
        has_input: bool,
    ) -> Row {
        let is_lost = has_input && place.is_none();
        let (line, key) = place.map_or((None, None), |(line, key)| (Some(line), key));
        Row { record, line, key, state: latest.state, entry: self.past.entry(latest), is_lost }
    }

    /// The journals that together have all that was sent of the input: this one, unless it is of a shard; then those of all
    /// shards, where they are all there and this is that of the first.
    fn whole<'b>(&'b self, all: &'b [Self]) -> Vec<&'b Self> {
        if self.header.shard.is_none() { vec![self] } else { self.shards_if_first_of_all(all) }
    }

    /// The journals of all shards of the input, where they are all there and this is that of the first; none otherwise.
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

    /// Where the records are that are not where they were.
    fn moved(&self, whole: &[&Self]) -> Result<Moved, Failure> {
        let own = [self];
        let journals = if whole.is_empty() { &own } else { whole };
        let mut moved = Moved::default();
        self.each_elsewhere(journals, |known, _| {
            if let Some(known) = known {
                *moved.wanted.entry(known).or_default() += 1;
            }
        })?;
        if moved.wanted.is_empty() {
            return Ok(moved);
        }
        let Moved { wanted, found } = &mut moved;
        self.each_elsewhere(journals, |_, record| {
            if let Some((record, columns)) = record
                && wanted.contains_key(&hash(&record.content))
            {
                let place = (record.line, key_of(self.operation, record, columns));
                found.entry(hash(&record.content)).or_default().push_back(place);
            }
        })?;
        Ok(moved)
    }

    /// Hands on the hash of each entry of these journals, and each record, that do not stand together.
    fn each_elsewhere(
        &self,
        journals: &[&Self],
        mut found: impl FnMut(Option<u64>, Option<(&Record, Option<&Columns>)>),
    ) -> Result<(), Failure> {
        let Some(mut input) = self.input()? else { return Ok(()) };
        let last = journals.iter().map(|listing| listing.past.last()).max().unwrap_or(0);
        for number in 1.. {
            let record = input.read()?;
            if record.is_none() && number > last {
                break;
            }
            let latest = latest_in(journals, number).filter(|latest| latest.state != State::NotSent);
            let now = record.as_ref().map(|record| hash(&record.content));
            if !latest.is_some_and(|latest| now.is_some_and(|now| latest.is_of(now))) {
                found(
                    latest.map(|latest| latest.hash),
                    record.as_ref().map(|record| (record, input.columns())),
                );
            }
        }
        Ok(())
    }

    /// The input, where it is next to the journal.
    pub(super) fn input(&self) -> Result<Option<RecordReader>, Failure> {
        let Some((source, _)) = self.source(None)? else { return Ok(None) };
        let (header, operation) = (&self.header, self.operation);
        // The one of the run, whatever is set now.
        let dialect = Dialect::named(&header.interface).unwrap_or(self.session.dialect);
        let columns = |titles: &csv::StringRecord| {
            // What a token command needed is not known here.
            let is_flag = |title: &&str| {
                operation.flag_columns.iter().any(|(flag, _)| flag.eq_ignore_ascii_case(title))
            };
            let all: Vec<String> =
                titles.iter().map(str::trim).filter(|title| !is_flag(title)).map(str::to_owned).collect();
            Columns::parse_header(&source.name(), dialect, operation, titles, &all)
        };
        RecordReader::open(&source, columns).map(Some)
    }

    /// The input that is `named`, or else the one that is next to the journal, if it is there; with it the plan that it is.
    ///
    /// # Errors
    /// As [`records::detect`] and [`Plan::read`].
    pub fn source(&self, named: Option<&Path>) -> Result<Option<(Source, Option<Plan>)>, Failure> {
        let header = &self.header;
        let beside = parent(&self.path).join(&header.input);
        // The name is what a file says, and must not lead elsewhere.
        let is_there = Path::new(&header.input).components().count() == 1 && beside.is_file();
        let Some(path) = named.map(Path::to_owned).or(Some(beside).filter(|_| is_there)) else {
            return Ok(None);
        };
        let encoding = header.encoding.as_deref().and_then(|name| Encoding::for_label(name.as_bytes()));
        let input = InputArgs { path: Some(path), encoding, ..InputArgs::default() };
        let Some(source) = records::detect(&input)? else { return Ok(None) };
        if !source.is_plan() {
            return Ok(Some((source, None)));
        }
        let (plan, records) = Plan::read(&*self.session.context.storage, &source.path)?;
        Ok(Some((Source::of_plan(&source.path, records.into_bytes()), Some(plan))))
    }
}

/// What these journals say of the record with this number, of which at most one has an entry; `None` where there are no journals.
fn latest_in(journals: &[&Listing<'_>], number: u64) -> Option<LatestEntry> {
    let mut latest = journals.iter().map(|listing| listing.past.latest(number));
    let sent = latest.clone().find(|latest| latest.state != State::NotSent);
    sent.or_else(|| latest.next())
}
