//! What became of the records that an earlier run sent with unknown outcome. They are looked at before anything is
//! counted, asked or sent. A look writes nothing; a record that it finds missing is then sent like any other.

use std::collections::HashMap;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use crate::batch::decide::Decision;
use crate::batch::record::PreparedRecord;
use crate::batch::send::{RunContext, call_token, of_record};
use crate::client::Session;
use crate::client::runtime::Signals;
use crate::journal::Ahead;
use crate::journal::read::PreviousRuns;
use crate::ops::customers;
use crate::report::outcome::Outcome;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::text::redact::secrets;

/// The looks at the records of a run, by their names.
pub type Looks = HashMap<u64, Looked>;

/// The result of a look at a record.
#[derive(Debug)]
pub struct Looked {
    /// The key of the record.
    pub key: u64,
    /// What was found.
    pub found: Found,
    /// Whether only a person can find out more.
    pub is_stuck: bool,
}

/// What a look found.
#[derive(Debug)]
pub enum Found {
    /// It is done.
    Done(Box<Outcome>),
    /// The first of its calls was applied; the failure says what is missing.
    InPart(Box<Failure>),
    /// It was not found out.
    Open,
}

/// Looks at every record whose outcome is unknown, and notes the results in `past`. If the service fails for too long,
/// the remaining records stay as they are.
///
/// # Errors
/// `interrupted` after a signal; those of the input.
pub async fn find_out(shared: RunContext<'_>, past: &mut PreviousRuns) -> Result<Looks, Failure> {
    let preparer = shared.preparer;
    let mut looks = Looks::new();
    if !past.has_open() {
        return Ok(looks);
    }
    let mut signals = Signals::listen(shared.service.session.context)?;
    let mut reader = preparer.reader()?;
    let mut is_read = false;
    let mut running = FuturesUnordered::new();
    loop {
        while !is_read && shared.pace.borrow().can_start(running.len()) {
            let Some(record) = reader.read()? else {
                is_read = true;
                break;
            };
            let decided = preparer.decide(past, &record, reader.columns());
            let (Decision::Look, Some(Ok(prepared))) = (decided.decision, decided.prepared) else { continue };
            // Without a log only the shop can tell.
            let name = decided.location.line;
            let ahead = shared.sent_earlier(past, name).unwrap_or_default();
            shared.pace.borrow_mut().on_start(Instant::now());
            running.push(Box::pin(shared.look_at(name, prepared, ahead)));
        }
        is_read |= shared.pace.borrow().is_exhausted();
        if running.is_empty() && is_read {
            break;
        }
        let pause = shared.pace.borrow().delay(Instant::now()).filter(|_| !is_read);
        tokio::select! {
            biased;
            Some((name, looked)) = running.next() => drop(looks.insert(name, looked)),
            () = signals.next() => {
                shared.service.stopping.set();
                let message = "interrupted while looking at records of an earlier run: nothing was sent";
                return Err(Failure::new(FailureKind::Interrupted, message).applied(Applied::No));
            }
            () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
        }
    }
    for (name, looked) in &looks {
        match &looked.found {
            Found::Done(outcome) => past.found_done(*name, outcome.status.unwrap_or_default()),
            Found::InPart(_) => past.found_in_part(*name),
            Found::Open => past.found_open(*name),
        }
    }
    Ok(looks)
}

impl RunContext<'_> {
    /// What the log has of a record that earlier runs sent.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub(super) fn sent_earlier(self, past: &PreviousRuns, record: u64) -> Result<Ahead, Failure> {
        let of = past.of(record);
        let writes = self.service.log()?.last_sent(&of.runs, record)?;
        Ok(Ahead { of, writes })
    }

    /// Looks at one record, with its token.
    async fn look_at(self, name: u64, prepared: PreparedRecord, ahead: Ahead) -> (u64, Looked) {
        let report = self.service.session.report.for_line(Some(name));
        let session = Session { report: &report, global: self.global, ..*self.service.session };
        let own = prepared.token_source.clone().token().await;
        let key =
            prepared.key_with(self.preparer.operation.spec(), own.as_ref().ok().and_then(Option::as_ref));
        // No read tells anything about such an operation.
        if !self.preparer.operation.spec().can_resolve {
            return (name, Looked { key, found: Found::Open, is_stuck: true });
        }
        let token = match own {
            Ok(None) => self.run_token(&prepared).renewed().await,
            Ok(own) => own,
            Err(_) => return (name, Looked { key, found: Found::Open, is_stuck: false }),
        };
        let _masked = token.as_ref().map(|token| secrets().add_while(token));
        let token = call_token(token.as_ref(), &prepared.token_source);
        let service = of_record(self.service, &session, token, None);
        let looked = match customers::select(&service, prepared.customer.as_deref()) {
            Ok(service) => {
                let looking = self.preparer.operation.resolve_unknown(&service, &prepared.draft, &ahead);
                service.unless_stopped(looking).await
            }
            Err(failure) => Err(failure),
        };
        let is_stuck = !matches!(&looked, Err(failure) if failure.kind == FailureKind::Unavailable);
        let found = match looked {
            Ok(Some(outcome)) => Found::Done(Box::new(outcome)),
            Err(failure) if failure.kind == FailureKind::Partial => Found::InPart(Box::new(failure)),
            _ => Found::Open,
        };
        self.pace.borrow_mut().on_success();
        (name, Looked { key, found, is_stuck })
    }
}
