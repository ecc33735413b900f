//! Where the records of a batch come from: an input, or a plan.

use crate::input::records::Source;
use crate::plan::Plan;
use crate::system::context::Context;
use storefront_core::failure::Failure;

/// Where records come from.
#[derive(Debug)]
pub enum Origin {
    /// An input of many records.
    Input(Source),
    /// A plan, with the copy of its records.
    Plan(Source, Box<Plan>),
}

impl Origin {
    /// The records of a plan.
    pub fn of_plan(plan: Plan) -> Self {
        Self::Plan(Source::of_plan(&plan.path, plan.lines.clone()), Box::new(plan))
    }

    /// What is read.
    pub const fn source(&self) -> &Source {
        match self {
            Self::Input(source) | Self::Plan(source, _) => source,
        }
    }

    /// The plan whose records they are.
    pub fn plan(&self) -> Option<&Plan> {
        match self {
            Self::Input(_) => None,
            Self::Plan(_, plan) => Some(plan),
        }
    }

    /// As [`Source::copied`]; a plan was copied when it was read.
    ///
    /// # Errors
    /// As [`Source::copied`].
    pub fn copied(self, context: &Context) -> Result<Self, Failure> {
        let copied = |source: Source| source.copied(&*context.storage, &context.directories()?.state);
        Ok(match self {
            Self::Input(source) => Self::Input(copied(source)?),
            plan @ Self::Plan(..) => plan,
        })
    }
}
