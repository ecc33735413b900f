//! Records whose tokens a command prints: that two carry the same token is only known when both are printed. They never
//! run at once, and after one of unknown outcome the others are not sent.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::journal::fnv::Fnv1a;
use crate::token::Token;

/// Locks by token, and the record that left the outcome of a token's request unknown.
#[derive(Debug, Default)]
pub struct TokenLocks {
    locks: RefCell<HashMap<u64, Weak<Mutex<()>>>>,
    unknown: RefCell<HashMap<u64, u64>>,
}

impl TokenLocks {
    /// Waits until no other record with this token is in flight.
    pub async fn acquire(&self, token: &Token) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.locks.borrow_mut();
            // Those of records that have ended are gone.
            locks.retain(|_, lock| lock.strong_count() > 0);
            let known = locks.get(&hash(token)).and_then(Weak::upgrade);
            let lock = known.unwrap_or_default();
            locks.insert(hash(token), Arc::downgrade(&lock));
            lock
        };
        lock.lock_owned().await
    }

    /// The record that left the outcome of a request with this token unknown.
    pub fn unknown(&self, token: &Token) -> Option<u64> {
        self.unknown.borrow().get(&hash(token)).copied()
    }

    /// Notes that a record left the outcome of a request with this token unknown.
    pub fn set_unknown(&self, token: &Token, record: u64) {
        self.unknown.borrow_mut().entry(hash(token)).or_insert(record);
    }
}

fn hash(token: &Token) -> u64 {
    Fnv1a::new().update(token.expose().as_bytes()).finish()
}
