//! Sending the replacement and finding out what became of it.

use std::path::Path;

use serde_json::Value;

use super::reading;
use super::reading::named;
use super::replace::Edit;
use crate::commands::service::{Service, Stage};
use crate::failure::{Applied, Failure, Kind};
use crate::http::Reply;
use crate::plan::diff::Change;
use crate::plan::merge::Merged;
use crate::plan::profile::Profile;
use crate::plan::request::Request;
use crate::plan::roster::listed;
use crate::plan::verify::{ReadBack, read_back};
use crate::report::changes::shown;

/// A replacement about to be sent, with all that is needed to judge it.
pub struct Sent<'a> {
    /// Who replaces.
    pub edit: &'a dyn Edit,
    /// The PUT.
    pub request: &'a Request,
    /// What it carries.
    pub merged: &'a Merged,
    /// What was stored before.
    pub stored: &'a Profile,
    /// Where that is kept.
    pub snapshot: &'a Path,
}

/// What became of a replacement that was applied.
#[derive(Debug, Default)]
pub struct Verdict {
    /// HTTP status, where the service gave one.
    pub status: Option<u16>,
    /// Its reply as it came.
    pub response: Option<Value>,
    /// Ids of new addresses.
    pub new_ids: Vec<i64>,
    /// The profile as it was read back.
    pub now: Option<Profile>,
}

impl Sent<'_> {
    /// Sends the PUT, reads back and verifies. Without a verdict the read-back decides; a PUT that was shown not to
    /// be applied is sent again, as often as `--retry` allows.
    ///
    /// # Errors
    /// `mismatch` when an address or a change is missing afterwards, `unknown` when nobody can tell.
    pub async fn put(&self, service: &Service<'_>, readable: bool) -> Result<Verdict, Failure> {
        let mut repeats = service.settings.retry;
        loop {
            match service.write(self.edit.operation(), self.request).await {
                Ok(reply) => return self.taken(service, reply, readable).await,
                Err(lost) if lost.kind != Kind::Unknown => return Err(lost),
                Err(lost) if !readable => return Err(self.unknown(lost)),
                Err(lost) => {
                    if let Some(verdict) = self.without_answer(service, lost.clone()).await? {
                        return Ok(verdict);
                    }
                    if repeats == 0 {
                        return Err(not_applied(&lost));
                    }
                    repeats -= 1;
                    service
                        .session
                        .report
                        .note(&format!("{}; it was not applied, so it is sent again", lost.message));
                }
            }
        }
    }

    async fn taken(&self, service: &Service<'_>, reply: Reply, readable: bool) -> Result<Verdict, Failure> {
        if let Some(warning) = &reply.warning {
            service.session.report.warn(warning);
        }
        let mut verdict =
            Verdict { status: Some(reply.status), response: Some(reply.value()), ..Verdict::default() };
        if !readable {
            return Ok(verdict);
        }
        match reading::read_profile(service).await {
            Ok(now) => {
                verdict.new_ids = self.verified(service, &now, verdict.status)?.new_ids;
                verdict.now = Some(now);
            }
            Err(failure) => service.session.report.warn(&format!(
                "the service took the profile, but it could not be read back to check it: {}",
                failure.message
            )),
        }
        Ok(verdict)
    }

    /// No verdict came: reads back and decides. `None` when nothing was applied.
    async fn without_answer(&self, service: &Service<'_>, lost: Failure) -> Result<Option<Verdict>, Failure> {
        let Ok(now) = reading::read_profile(service).await else { return Err(self.unknown(lost)) };
        let ignore = &service.settings.read.ignore;
        let differences = reading::differences(self.stored.customer(), now.customer(), ignore);
        if differences.is_empty() {
            service.stage.set(Stage::NothingSent);
            return Ok(None);
        }
        if read_back(self.merged, &now, ignore).is_ok_and(|found| found.is_untouched()) {
            return Err(foreign(lost, &differences));
        }
        let found = self.verified(service, &now, lost.status)?;
        service.session.report.warn(&format!("{}; reading back shows that it was applied", lost.message));
        Ok(Some(Verdict {
            status: lost.status,
            response: lost.service,
            new_ids: found.new_ids,
            now: Some(now),
        }))
    }

    fn verified(
        &self,
        service: &Service<'_>,
        now: &Profile,
        status: Option<u16>,
    ) -> Result<ReadBack, Failure> {
        let found = read_back(self.merged, now, &service.settings.read.ignore)
            .map_err(|failure| self.mismatch(&failure.message, status))?;
        if !found.is_sound() {
            return Err(self.mismatch(&lacking(&found), status));
        }
        for change in &found.beside {
            service.session.report.warn(&format!(
                "{}: changed from {} to {}, which was not asked for: by the service, or by somebody else",
                change.path,
                shown(change.before.as_ref()),
                shown(change.after.as_ref())
            ));
        }
        for change in &found.altered {
            service.session.report.warn(&format!(
                "{}: sent {}, the service keeps {}",
                change.path,
                shown(self.sent_value(&change.path.to_string())),
                shown(change.after.as_ref())
            ));
        }
        Ok(found)
    }

    fn sent_value(&self, path: &str) -> Option<&Value> {
        self.merged.changes.iter().find(|change| change.path.to_string() == path)?.after.as_ref()
    }

    fn mismatch(&self, what: &str, status: Option<u16>) -> Failure {
        let failure = Failure::new(
            Kind::Mismatch,
            format!(
                "the profile was written, but {what}; it is kept as it was in {}",
                self.snapshot.display()
            ),
        )
        .hint(self.restore_command());
        match status {
            Some(status) => failure.status(status),
            None => failure,
        }
    }

    fn unknown(&self, lost: Failure) -> Failure {
        let message = format!(
            "{}; whether the profile was replaced could not be found out; it is kept as it was in {}",
            lost.message,
            self.snapshot.display()
        );
        let hint = format!("look with `storefront customer show`; {}", self.restore_command());
        Failure { message, hint: Some(hint), ..lost }
    }

    fn restore_command(&self) -> String {
        let name = self.snapshot.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        format!("`storefront customer restore {name}` puts the profile back as it was")
    }
}

/// The profile changed, but not by us: ours may still be on its way, or have been overwritten.
fn foreign(lost: Failure, differences: &[Change]) -> Failure {
    Failure {
        message: format!(
            "{}; the profile read back has nothing of what was sent, yet it changed: {}",
            lost.message,
            named(differences)
        ),
        hint: Some(
            "somebody else changed it: look with `storefront customer show` before you run the command again"
                .to_owned(),
        ),
        ..lost
    }
}

fn not_applied(lost: &Failure) -> Failure {
    Failure {
        kind: Kind::Unavailable,
        message: format!("{}; reading back shows that nothing was applied", lost.message),
        hint: Some("run the command again".to_owned()),
        applied: Applied::No,
        ..lost.clone()
    }
}

fn lacking(found: &ReadBack) -> String {
    let mut what = Vec::new();
    if !found.missing.is_empty() {
        what.push(format!("address {} is missing afterwards", listed(&found.missing)));
    }
    if !found.undone.is_empty() {
        what.push(format!("not every change is there ({})", named(&found.undone)));
    }
    what.join(", and ")
}
