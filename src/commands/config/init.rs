//! What `config init` asks.

use super::InitArgs;
use crate::config::{BASE_URL, ConfigFile, Key, STORE_VIEW, check_profile_name, given_dialect};
use crate::failure::Failure;
use crate::plan::request::{Dialect, Interface};
use crate::prompt::Prompt;
use crate::session::Session;
use crate::system::environment;

/// A profile about to be made: what flags gave, and what the person answered.
pub struct NewProfile<'a> {
    session: &'a Session<'a>,
    args: &'a InitArgs,
    prompt: Prompt,
    /// Its name.
    pub name: String,
    /// The interface of its service.
    pub dialect: &'static Dialect,
    /// Where the service is.
    pub base_url: Option<toml_edit::Value>,
    /// Its store view, where one was named.
    pub store_view: Option<toml_edit::Value>,
}

/// What became of a question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// There was no need to ask.
    Not,
    Answered,
    /// By Esc.
    Back,
}

impl<'a> NewProfile<'a> {
    /// Nothing is known yet.
    pub fn new(session: &'a Session<'a>, args: &'a InitArgs) -> Self {
        let (prompt, dialect) = (session.prompt(), Interface::Marketplace.dialect());
        Self { session, args, prompt, name: String::new(), dialect, base_url: None, store_view: None }
    }

    /// Asks what is missing; Esc goes back one question, and before the first it cancels.
    ///
    /// # Errors
    /// `guard` for a profile that is there already, `usage` for a bad value or where nobody can be asked.
    pub fn ask_all(&mut self, file: &ConfigFile) -> Result<(), Failure> {
        let steps = [
            |new: &mut Self, _: &ConfigFile| new.ask_name(),
            |new: &mut Self, file: &ConfigFile| new.ask_to_replace(file),
            |new: &mut Self, _: &ConfigFile| new.ask_interface(),
            |new: &mut Self, _: &ConfigFile| new.ask_base_url(),
            |new: &mut Self, _: &ConfigFile| new.ask_store_view(),
        ];
        let (mut step, mut answered) = (0, Vec::new());
        while step < steps.len() {
            match steps[step](self, file)? {
                Asked::Back => {
                    step = answered.pop().ok_or_else(Failure::cancelled)?;
                    continue;
                }
                Asked::Answered => answered.push(step),
                Asked::Not => {}
            }
            step += 1;
        }
        Ok(())
    }

    fn ask_name(&mut self) -> Result<Asked, Failure> {
        let given = match &self.session.global.flags.profile {
            Some(name) => Some(name.as_str()),
            None => self.session.context.var(environment::PROFILE)?,
        };
        if let Some(name) = given {
            check_profile_name(name).map_err(Failure::usage)?;
            name.clone_into(&mut self.name);
            return Ok(Asked::Not);
        }
        let initial = if self.name.is_empty() { "default" } else { &self.name };
        let typed =
            self.prompt.input_or_back("profile name", "use -p NAME", Some(initial), check_profile_name)?;
        Ok(typed.map_or(Asked::Back, |name| {
            self.name = name;
            Asked::Answered
        }))
    }

    fn ask_to_replace(&self, file: &ConfigFile) -> Result<Asked, Failure> {
        if self.args.replace || !file.names().contains(&self.name.as_str()) {
            return Ok(Asked::Not);
        }
        // Silence is no consent to lose settings.
        if !self.prompt.can_ask() && !self.prompt.assume_yes() {
            return Err(already_exists(&self.name));
        }
        let question = format!("replace profile {} and all its settings?", self.name);
        let is_agreed = self.prompt.confirm_or_back(&question)?;
        Ok(match is_agreed {
            _ if self.prompt.assume_yes() => Asked::Not,
            true => Asked::Answered,
            false => Asked::Back,
        })
    }

    /// The interface of flag or environment, or the one that is picked.
    fn ask_interface(&mut self) -> Result<Asked, Failure> {
        if let Some(given) = given_dialect(self.session.context, self.session.global)? {
            self.dialect = given;
            return Ok(Asked::Not);
        }
        if !self.prompt.can_ask() {
            return Ok(Asked::Not);
        }
        let choices: Vec<String> = Dialect::NAMES.iter().map(|name| (*name).to_owned()).collect();
        let picked = self.prompt.select("Interface", &choices, 0)?;
        let Some(dialect) = picked.and_then(|picked| Dialect::named(&choices[picked])) else {
            return Ok(Asked::Back);
        };
        self.dialect = dialect;
        Ok(Asked::Answered)
    }

    fn ask_base_url(&mut self) -> Result<Asked, Failure> {
        let given = self.args.base_url.as_deref();
        let (value, asked) = self.answer(given, "base URL", "--base-url URL", &BASE_URL)?;
        let has_root = |url: &str| url.trim_end_matches('/').ends_with("/rest");
        let url = value.as_ref().and_then(toml_edit::Value::as_str);
        if self.dialect.is_magento() && url.is_some_and(|url| !has_root(url)) {
            let warning = "the base URL has no `/rest` at its end, where a Magento shop has its interface";
            self.session.report.warn(warning);
        }
        self.base_url = value;
        Ok(asked)
    }

    /// The store view, which a Magento shop does not need.
    fn ask_store_view(&mut self) -> Result<Asked, Failure> {
        const FLAG: &str = "--store-view CODE";
        let given = self.session.global.flags.store_view.as_deref();
        if given.is_none() && !self.prompt.can_ask() {
            return Ok(Asked::Not);
        }
        let asked;
        if given.is_some() || !self.dialect.is_magento() {
            (self.store_view, asked) = self.answer(given, "store view code", FLAG, &STORE_VIEW)?;
            return Ok(asked);
        }
        let write = |text: &str| STORE_VIEW.write(&[text.to_owned()]);
        let check = |text: &str| if text.is_empty() { Ok(()) } else { write(text).map(drop) };
        let Some(code) = self.prompt.input_or_back("store view code (optional)", FLAG, None, check)? else {
            return Ok(Asked::Back);
        };
        self.store_view = if code.is_empty() { None } else { Some(write(&code).map_err(Failure::usage)?) };
        Ok(Asked::Answered)
    }

    /// What a flag gave, or what the person answers, checked as the kind of its key.
    fn answer(
        &self,
        given: Option<&str>,
        question: &str,
        flag: &str,
        setting: &Key,
    ) -> Result<(Option<toml_edit::Value>, Asked), Failure> {
        let write = |text: &str| setting.write(&[text.to_owned()]);
        let check = |text: &str| write(text).map(drop);
        let (text, asked) = match given {
            Some(text) => (text.to_owned(), Asked::Not),
            None => match self.prompt.input_or_back(question, &format!("use {flag}"), None, check)? {
                Some(text) => (text, Asked::Answered),
                None => return Ok((None, Asked::Back)),
            },
        };
        let value = write(&text).map_err(|problem| Failure::usage(format!("{flag}: {problem}")))?;
        Ok((Some(value), asked))
    }
}

/// The refusal to replace a profile without being told.
pub fn already_exists(name: &str) -> Failure {
    Failure::guard(format!("profile `{name}` already exists"))
        .hint("replace it with --replace, or change one setting with `storefront config set`")
}
