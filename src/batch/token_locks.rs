//! Records whose tokens a command prints: that two carry the same token is only known when both are printed. They run one
//! after another, in the order of the input, and one that fails may hold up the others, as those of one key do.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::pin::pin;
use std::sync::{Arc, Weak};

use futures_util::FutureExt;
use tokio::sync::{Mutex, Notify, OwnedMutexGuard};

use super::queue::Blocked;
use crate::journal::Fnv1a;
use crate::token::Token;

/// Locks by the keys of tokens, and the records that hold up others.
#[derive(Debug, Default)]
pub struct TokenLocks {
    locks: RefCell<HashMap<u64, Weak<Mutex<()>>>>,
    /// Records that have begun and not asked for their lock yet.
    turns: RefCell<BTreeSet<u64>>,
    turn_ended: Notify,
    is_closed: Cell<bool>,
    /// Records that hold up later ones with the same token.
    pub blocked: Blocked,
}

/// The place of a record that has begun: later ones ask for their lock after it.
#[derive(Debug)]
pub struct Turn<'a> {
    locks: &'a TokenLocks,
    record: u64,
}

impl TokenLocks {
    /// What stands for a token.
    pub fn key(token: &Token) -> u64 {
        Fnv1a::new().update(token.expose().as_bytes()).finish()
    }

    /// Takes a record in when it begins, before its token is known.
    pub fn begin(&self, record: u64) -> Turn<'_> {
        self.turns.borrow_mut().insert(record);
        Turn { locks: self, record }
    }

    /// Lets nobody go on who waits for a lock: the run has stopped.
    pub fn close(&self) {
        self.is_closed.set(true);
    }

    /// Whether the run has stopped: who gets a lock now does nothing.
    pub fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    fn lock_of(&self, key: u64) -> Arc<Mutex<()>> {
        let mut locks = self.locks.borrow_mut();
        // Those of records that have ended are gone.
        locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = locks.get(&key).and_then(Weak::upgrade).unwrap_or_default();
        locks.insert(key, Arc::downgrade(&lock));
        lock
    }
}

impl Turn<'_> {
    /// Waits until all earlier records have asked for their lock, and until no other record with this token is in flight.
    pub async fn lock(self, key: u64) -> OwnedMutexGuard<()> {
        loop {
            let turn_ended = self.locks.turn_ended.notified();
            if self.locks.turns.borrow().first() == Some(&self.record) {
                break;
            }
            turn_ended.await;
        }
        // A lock is given in the order in which it was asked for, which the first poll does.
        let mut lock = pin!(tokio::task::unconstrained(self.locks.lock_of(key).lock_owned()));
        let free = lock.as_mut().now_or_never();
        drop(self);
        match free {
            Some(lock) => lock,
            None => lock.await,
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.locks.turns.borrow_mut().remove(&self.record);
        self.locks.turn_ended.notify_waiters();
    }
}
