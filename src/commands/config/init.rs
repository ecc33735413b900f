//! What `config init` asks.

use super::InitArgs;
use crate::config::{
    BASE_URL, ConfigFile, Key, STORE_VIEW, check_profile_name, given_dialect, parse_base_url,
};
use crate::failure::Failure;
use crate::http::transport::is_this_machine;
use crate::plan::request::{Dialect, Interface};
use crate::prompt::{Prompt, Question};
use crate::session::Session;
use crate::system::environment;

/// A profile about to be made: what flags gave, and what the person answered.
pub struct NewProfile<'a> {
    session: &'a Session<'a>,
    args: &'a InitArgs,
    file: &'a ConfigFile,
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

/// A question, where there is need of it.
type Step<'a> = fn(&mut NewProfile<'a>) -> Result<Asked, Failure>;

impl<'a> NewProfile<'a> {
    /// Nothing is known yet.
    pub fn new(session: &'a Session<'a>, args: &'a InitArgs, file: &'a ConfigFile) -> Self {
        let (prompt, dialect) = (session.prompt(), Interface::Marketplace.dialect());
        Self { session, args, file, prompt, name: String::new(), dialect, base_url: None, store_view: None }
    }

    /// Asks what is missing; Esc goes back one question, and before the first it cancels.
    ///
    /// # Errors
    /// `guard` for a profile that is there already, `usage` for a bad value or where nobody can be asked.
    pub fn ask_all(&mut self) -> Result<(), Failure> {
        let steps: [Step<'a>; 5] = [
            Self::ask_name,
            Self::ask_to_replace,
            Self::ask_interface,
            Self::ask_base_url,
            Self::ask_store_view,
        ];
        let (mut step, mut answered) = (0, Vec::new());
        while step < steps.len() {
            match steps[step](self)? {
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
        let question = Question { text: "profile name", hint: "use -p NAME", initial, ..Question::default() };
        let typed = self.prompt.text(&question, |name| Ok(check_profile_name(name)?))?;
        Ok(typed.map_or(Asked::Back, |name| {
            self.name = name;
            Asked::Answered
        }))
    }

    fn ask_to_replace(&mut self) -> Result<Asked, Failure> {
        if self.args.replace || !self.file.names().contains(&self.name.as_str()) {
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
        let choices = [
            "marketplace  A marketplace derived from Magento, with the store view in each path",
            "magento      Magento Open Source, Adobe Commerce or Mage-OS",
        ];
        let Some(picked) = self.prompt.select("Interface", &choices.map(str::to_owned), 0)? else {
            return Ok(Asked::Back);
        };
        self.dialect = [Interface::Marketplace, Interface::Magento][picked].dialect();
        Ok(Asked::Answered)
    }

    fn ask_base_url(&mut self) -> Result<Asked, Failure> {
        let given = self.args.base_url.as_deref();
        let asked;
        (self.base_url, asked) = self.answer(given, ("base URL", "--base-url URL"), &BASE_URL, false)?;
        let url = self.base_url.as_ref().and_then(toml_edit::Value::as_str);
        let Some(url) = url.and_then(|url| parse_base_url(url).ok()) else { return Ok(asked) };
        if self.dialect.is_magento() && !url.path().trim_end_matches('/').ends_with("/rest") {
            let warning = "the base URL has no `/rest` at its end, where a Magento shop has its interface";
            self.session.report.warn(warning);
        }
        if url.scheme() == "http" && !is_this_machine(&url) {
            let set = format!("`storefront config set -p {} allow-plain-http true`", self.name);
            self.session.report.warn(&format!(
                "http:// sends the token and customer data unencrypted: use https://, or allow it with {set}"
            ));
        }
        Ok(asked)
    }

    /// The store view, which a Magento shop does not need.
    fn ask_store_view(&mut self) -> Result<Asked, Failure> {
        let given = self.session.global.flags.store_view.as_deref();
        let is_optional = self.dialect.is_magento();
        if given.is_none() && !self.prompt.can_ask() {
            if !is_optional {
                let set = format!("`storefront config set -p {} store-view CODE`", self.name);
                self.session.report.warn(&format!("the profile has no store view; set it with {set}"));
            }
            return Ok(Asked::Not);
        }
        let text =
            if is_optional { "store view code (optional)" } else { "store view code, such as default" };
        let asked;
        (self.store_view, asked) =
            self.answer(given, (text, "--store-view CODE"), &STORE_VIEW, is_optional)?;
        Ok(asked)
    }

    /// What a flag gave, or what the person answers to a question, checked as the kind of its key.
    fn answer(
        &self,
        given: Option<&str>,
        (text, flag): (&str, &str),
        setting: &Key,
        is_optional: bool,
    ) -> Result<(Option<toml_edit::Value>, Asked), Failure> {
        let write = |text: &str| match text {
            "" if is_optional => Ok(None),
            text => setting.write(&[text.to_owned()]).map(Some),
        };
        let (text, asked) = if let Some(text) = given {
            (text.to_owned(), Asked::Not)
        } else {
            let question = Question { text, hint: &format!("use {flag}"), ..Question::default() };
            match self.prompt.text(&question, |text| Ok(write(text).map(drop)?))? {
                Some(text) => (text, Asked::Answered),
                None => return Ok((None, Asked::Back)),
            }
        };
        let value = write(&text).map_err(|problem| Failure::usage(format!("{flag}: {problem}")))?;
        Ok((value, asked))
    }
}

/// The refusal to replace a profile without being told.
pub fn already_exists(name: &str) -> Failure {
    Failure::guard(format!("profile `{name}` already exists"))
        .hint("replace it with --replace, or change one setting with `storefront config set`")
}
