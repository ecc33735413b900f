//! The token that records without one of their own carry: renewed once where a command prints it.

use std::cell::{Cell, RefCell};

use tokio::sync::Mutex;

use crate::config::TokenCommand;
use crate::failure::Failure;
use crate::redact::secrets;
use crate::token::Token;

/// The batch's own token, once it had to be renewed.
#[derive(Debug, Default)]
pub struct RunToken {
    /// The command that prints it, if that is where it comes from.
    command: Option<TokenCommand>,
    renewed: RefCell<Option<Token>>,
    /// Whether the command was run again; that is done once.
    was_renewed: Cell<bool>,
    lock: Mutex<()>,
}

impl RunToken {
    /// A token printed by this command; `None` for one that cannot be renewed.
    pub fn new(command: Option<TokenCommand>) -> Self {
        Self { command, ..Self::default() }
    }

    /// The renewed token; `None` as long as the first one is good.
    pub fn renewed(&self) -> Option<Token> {
        self.renewed.borrow().clone()
    }

    /// A token to try after `refused` (`None`: the first one) was answered 401; `None` where there is no other.
    ///
    /// # Errors
    /// As the command's.
    pub async fn after(&self, refused: Option<&Token>) -> Result<Option<Token>, Failure> {
        // Records in flight are refused together; the first of them renews it for all.
        let _held = self.lock.lock().await;
        let current = self.renewed();
        if current.as_ref() != refused {
            return Ok(current);
        }
        let Some(command) = self.command.clone().filter(|_| !self.was_renewed.replace(true)) else {
            return Ok(None);
        };
        let token = Box::pin(command.run()).await?;
        secrets().add(&token);
        *self.renewed.borrow_mut() = Some(token.clone());
        Ok(Some(token))
    }
}
