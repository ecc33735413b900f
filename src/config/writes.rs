//! Who may write: everybody, a person at a terminal, or nobody.

use super::profile::Profile;
use crate::system::context::Context;
use crate::system::environment::WRITES;
use storefront_core::failure::Failure;

/// Who may write; the later is the stricter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writes {
    /// Every command writes.
    #[default]
    Yes,
    /// A person at a terminal confirms each command.
    Ask,
    /// Nothing is written.
    No,
}

impl Writes {
    /// The values of the setting, the least strict first.
    pub const NAMES: [&str; 3] = ["yes", "ask", "no"];

    fn named(name: &str) -> Option<Self> {
        let place = Self::NAMES.iter().position(|known| *known == name)?;
        Some([Self::Yes, Self::Ask, Self::No][place])
    }

    /// Its value as a setting.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// The stricter one of profile and environment, and which of them that is.
    ///
    /// # Errors
    /// `usage` for an unknown value in the environment.
    pub fn of(context: &Context, profile: Option<&Profile>) -> Result<(Self, String), Failure> {
        let in_profile = profile.and_then(|profile| {
            let writes = Self::named(&profile.text("writes")?)?;
            Some((writes, format!("`writes` of profile {}", profile.name)))
        });
        let variable = context.var(WRITES)?;
        let in_environment = variable.map(|name| {
            let writes = Self::named(name).ok_or_else(|| {
                Failure::usage(format!("{WRITES} is `{name}`")).hint("set it to yes, ask or no")
            })?;
            Ok((writes, WRITES.to_owned()))
        });
        let both = [in_environment.transpose()?, in_profile];
        Ok(both.into_iter().flatten().max_by_key(|(writes, _)| *writes).unwrap_or_default())
    }
}
