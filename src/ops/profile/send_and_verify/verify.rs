//! Reads the profile until it shows what was sent.

use super::{AppliedReplacement, Replacement};
use crate::failure::Failure;
use crate::http::Reply;
use crate::ops::profile::pending;
use crate::ops::profile::read;
use crate::ops::reads::Reads;
use crate::plan::profile::profile_rules;
use crate::plan::profile::read_back::{Expectation, ReadBack};
use crate::report::changes::format_value;
use crate::session::service::Service;
use crate::state::Mark;

impl Replacement<'_> {
    /// The service says that it has it: reads until that is seen.
    pub(super) async fn verify_applied(
        &self,
        service: &Service<'_>,
        reply: Reply,
        readable: bool,
    ) -> Result<AppliedReplacement, Failure> {
        self.mark(service, Mark::Applied);
        if let Some(warning) = &reply.warning {
            service.session.report.warn(warning);
        }
        let mut applied = AppliedReplacement {
            status: Some(reply.status),
            response: Some(reply.value()),
            ..AppliedReplacement::default()
        };
        if !readable {
            return Ok(applied);
        }
        match self.read_until_shown(service, true).await {
            Ok(found) if found.is_shown() || found.is_shown_with_other_values() => {
                applied.verified = found.is_shown();
                self.warn_of(service, &found);
                applied.new_ids = found.new_ids;
                if applied.verified {
                    self.mark(service, Mark::Verified);
                }
            }
            Ok(found) => {
                self.mark(service, Mark::Mismatched);
                return Err(self.mismatch(service, &found, applied.status));
            }
            Err(failure) => service.session.report.warn(&format!(
                "the service has the profile, but it could not be read back to verify it: {}",
                failure.message
            )),
        }
        Ok(applied)
    }

    /// After an unknown outcome: reads until the change is visible. `None` where it is not.
    pub(super) async fn resolve_unknown(
        &self,
        service: &Service<'_>,
        failure: &Failure,
        readable: bool,
    ) -> Result<Option<AppliedReplacement>, Failure> {
        if !readable {
            return Ok(None);
        }
        let may_be_stale = pending::was_there_before(self.store, self.before.customer(), self.merged);
        match self.read_until_shown(service, !may_be_stale).await {
            Ok(found) if found.is_shown() => {
                let report = service.session.report;
                report.warn(&format!("{}; verified as applied", failure.message));
                self.mark(service, Mark::Verified);
                self.warn_of(service, &found);
                service.verified();
                Ok(Some(AppliedReplacement {
                    status: failure.status,
                    response: failure.service.clone(),
                    new_ids: found.new_ids,
                    verified: true,
                }))
            }
            _ => Ok(None),
        }
    }

    /// Reads, at growing intervals and for at most `--settle`, until the profile shows it, or shows other values
    /// twice; the last that could be read counts. Without `believe_first` only that one does.
    async fn read_until_shown(
        &self,
        service: &Service<'_>,
        believe_first: bool,
    ) -> Result<ReadBack, Failure> {
        let expectation = Expectation {
            before: self.before.customer(),
            merged: self.merged,
            ignore: &service.settings.read.ignore,
        };
        let mut reads = Reads::new(self.change.settle(service));
        let mut last: Option<ReadBack> = None;
        loop {
            let read = match read::read_profile(service).await {
                Ok(now) => expectation.compare(&now),
                Err(failure) => Err(failure),
            };
            let failure = match read {
                Ok(found) if found.is_shown() && believe_first => return Ok(found),
                Ok(found) => {
                    let settled = found.is_shown_with_other_values()
                        && last.as_ref().is_some_and(|last| last.altered == found.altered);
                    if settled {
                        return Ok(found);
                    }
                    last = Some(found);
                    None
                }
                Err(failure) => Some(failure),
            };
            if !reads.wait().await {
                return match (last, failure) {
                    (Some(found), _) => Ok(found),
                    (None, Some(failure)) => Err(failure),
                    (None, None) => Err(Failure::internal("the profile was not read")),
                };
            }
        }
    }

    fn warn_of(&self, service: &Service<'_>, found: &ReadBack) {
        let report = service.session.report;
        let has_rules = service.settings.dialect.is_magento();
        for change in &found.unrelated_changes {
            if has_rules && profile_rules::is_lost_default(change, self.before.customer()) {
                let (path, id) = (&change.path, format_value(change.before.as_ref()));
                report.warn(&format!("{path} cleared: {id} is not one of the customer's addresses"));
                continue;
            }
            report.warn(&format!(
                "{} was also changed, from {} to {} (by the service or another editor)",
                change.path,
                format_value(change.before.as_ref()),
                format_value(change.after.as_ref())
            ));
        }
        for change in &found.altered {
            let sent = self.merged.changes.iter().find(|sent| sent.path == change.path);
            report.warn(&format!(
                "{}: sent {}, the service has {}",
                change.path,
                format_value(sent.and_then(|sent| sent.after.as_ref())),
                format_value(change.after.as_ref())
            ));
        }
    }
}
