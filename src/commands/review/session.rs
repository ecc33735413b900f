//! The one session of a review: who sees the plan, who may apply it, and how far that is. It knows nothing of HTTP.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Notify, watch};

use super::code::{Code, same, secret};
use crate::plan::Step;
use storefront_core::failure::Failure;
use storefront_core::text::sanitize::{message_line, sanitize_line};

/// The number of wrong codes that ends the session.
const MOST_WRONG: u32 = 5;

/// The events that the command is told.
#[derive(Debug)]
pub enum Told {
    /// The page was opened.
    Opened,
    /// Somebody with the secret tried to open a second page.
    OpenedAgain,
    /// These records are to be applied.
    Apply(Vec<u64>),
    /// Wrong codes have ended the session.
    Guessed,
}

/// The answer to a request to open the page.
#[derive(Debug, PartialEq, Eq)]
pub enum Opening {
    /// It has the session now.
    Opened,
    /// Another page has it.
    Taken,
    /// The secret is wrong.
    Refused,
}

/// The answer to a request to apply.
#[derive(Debug, PartialEq, Eq)]
pub enum Applying {
    /// It begins.
    Started,
    /// The code is wrong; this many more may be tried.
    Wrong(u32),
    /// It has started before, or the session has ended.
    Late,
}

/// The state of the session.
#[derive(Debug, Default, PartialEq, Eq)]
enum Stage {
    /// No page has it.
    #[default]
    Closed,
    /// A page shows the plan.
    Open,
    /// Its records are applied, or were.
    Applying,
    /// Wrong codes have ended it.
    Ended,
}

#[derive(Default)]
struct SessionState {
    stage: Stage,
    wrong: u32,
    steps: Vec<Value>,
    end: Option<Value>,
}

/// The session.
pub struct ReviewSession {
    /// What the private file posts, once.
    pub secret: String,
    /// What the page sends with each request.
    pub token: String,
    /// What a person types.
    code: Code,
    state: Mutex<SessionState>,
    told: UnboundedSender<Told>,
    /// Whether the journal has the declined records, or the session has ended.
    has_started: watch::Sender<bool>,
    /// Told when a page has read how it ended.
    pub end_is_read: Notify,
}

impl ReviewSession {
    /// A session without a page.
    ///
    /// # Errors
    /// `internal` without randomness.
    pub fn new(code: Code, told: UnboundedSender<Told>) -> Result<Self, Failure> {
        let has_started = watch::Sender::new(false);
        Ok(Self {
            secret: secret()?,
            token: secret()?,
            code,
            state: Mutex::default(),
            told,
            has_started,
            end_is_read: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, told: Told) {
        // Nobody listens once the command has ended.
        let _ = self.told.send(told);
    }

    /// Exchanges the secret, once, for the session.
    pub fn open(&self, secret: &str) -> Opening {
        if !same(secret, &self.secret) {
            return Opening::Refused;
        }
        let mut state = self.state();
        if state.stage != Stage::Closed {
            self.tell(Told::OpenedAgain);
            return Opening::Taken;
        }
        state.stage = Stage::Open;
        self.tell(Told::Opened);
        Opening::Opened
    }

    /// Whether a request has the session.
    pub fn is_session(&self, token: &str) -> bool {
        let has_session = !matches!(self.state().stage, Stage::Closed | Stage::Ended);
        has_session && same(token, &self.token)
    }

    /// Applies these records, if this is the code.
    pub fn apply(&self, code: &str, records: Vec<u64>) -> Applying {
        let mut state = self.state();
        if state.stage != Stage::Open {
            return Applying::Late;
        }
        if !self.code.is(code) {
            state.wrong += 1;
            if state.wrong >= MOST_WRONG {
                state.stage = Stage::Ended;
                self.tell(Told::Guessed);
            }
            return Applying::Wrong(MOST_WRONG - state.wrong);
        }
        state.stage = Stage::Applying;
        self.tell(Told::Apply(records));
        Applying::Started
    }

    /// Notes that the journal has the declined records: nothing sends them from here on.
    pub fn begin(&self) {
        self.has_started.send_replace(true);
    }

    /// Waits until the journal has the declined records, or the session has ended.
    pub async fn started(&self) {
        // The channel is open as long as this is borrowed.
        let _ = self.has_started.subscribe().wait_for(|has_started| *has_started).await;
    }

    /// Notes a step, for the page.
    pub fn step(&self, Step { record, state, failure }: Step) {
        let reason = failure.as_ref().map(|failure| message_line(&failure.message));
        let hint = failure.and_then(|failure| failure.hint).map(|hint| sanitize_line(&hint.to_string()));
        let step = json!({"record": record, "state": state, "reason": reason, "hint": hint});
        self.state().steps.push(step);
    }

    /// Notes how it ended, for the page.
    pub fn end(&self, end: Value) {
        self.state().end = Some(end);
        self.begin();
    }

    /// The steps from this one on, and how it ended if it has.
    pub fn progress(&self, from: usize) -> Value {
        let state = self.state();
        if state.end.is_some() {
            self.end_is_read.notify_one();
        }
        json!({"steps": state.steps.get(from..).unwrap_or_default(), "end": state.end})
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::{Applying, Opening, ReviewSession, Told};
    use crate::commands::review::code::Code;

    #[test]
    fn five_wrong_codes_end_the_session_and_none_counts_after_the_right_one() {
        let (told, mut heard) = unbounded_channel();
        let review = ReviewSession::new(Code::Shown("ABCDEFGH".to_owned()), told).unwrap();
        assert_eq!(review.apply("ABCD-EFGH", vec![1]), Applying::Late);
        assert_eq!(review.open("wrong"), Opening::Refused);
        assert!(!review.is_session(&review.token));
        assert_eq!(review.open(&review.secret), Opening::Opened);
        assert_eq!(review.open(&review.secret), Opening::Taken);
        assert!(review.is_session(&review.token) && !review.is_session(&review.secret));
        for left in [4, 3, 2, 1, 0] {
            assert_eq!(review.apply("ABCD-EFGX", vec![1]), Applying::Wrong(left));
        }
        assert_eq!(review.apply("ABCD-EFGH", vec![1]), Applying::Late);
        assert!(!review.is_session(&review.token));
        let (told, mut heard_right) = unbounded_channel();
        let review = ReviewSession::new(Code::Shown("ABCDEFGH".to_owned()), told).unwrap();
        assert_eq!(review.open(&review.secret), Opening::Opened);
        assert_eq!(review.apply(" abcd efgh", vec![2]), Applying::Started);
        assert_eq!(review.apply("ABCDEFGH", vec![2]), Applying::Late);
        let mut names = Vec::new();
        while let Ok(told) = heard.try_recv().or_else(|_| heard_right.try_recv()) {
            names.push(format!("{told:?}"));
        }
        assert_eq!(names, ["Opened", "OpenedAgain", "Guessed", "Opened", "Apply([2])"]);
        assert!(matches!(review.progress(9), value if value["steps"].as_array().unwrap().is_empty()));
        drop(Told::Guessed);
    }
}
