//! The kinds of input an attribute can have. The interface shows `select` only (docs/interface.md,
//! "Attribute"); the others are Magento's.

use crate::suggestion::closest_match;

/// One kind of input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontendInput {
    /// As `frontend_input` has it.
    pub name: &'static str,
    /// What a merchandiser gets, in one line.
    pub meaning: &'static str,
    /// Whether it offers options to choose from.
    pub takes_options: bool,
}

/// Every kind, the common ones first.
pub static FRONTEND_INPUTS: [FrontendInput; 13] = [
    choice("select", "One option, e.g. a colour"),
    choice("multiselect", "Multiple options, e.g. features"),
    kind("text", "One line of text"),
    kind("textarea", "Several lines of text"),
    kind("texteditor", "Text with formatting"),
    kind("boolean", "Yes or no"),
    kind("price", "Price"),
    kind("date", "A day"),
    kind("datetime", "Date and time"),
    choice("swatch_visual", "One of several options, shown as colour or image"),
    choice("swatch_text", "One of several options, shown as short text"),
    kind("media_image", "An image of the product"),
    kind("weee", "A fixed product tax"),
];

const fn kind(name: &'static str, meaning: &'static str) -> FrontendInput {
    FrontendInput { name, meaning, takes_options: false }
}

const fn choice(name: &'static str, meaning: &'static str) -> FrontendInput {
    FrontendInput { name, meaning, takes_options: true }
}

impl FrontendInput {
    /// The kind called `name`.
    pub fn find(name: &str) -> Option<&'static Self> {
        FRONTEND_INPUTS.iter().find(|kind| kind.name == name)
    }

    /// The kind that was probably meant by `name`.
    pub fn closest_match(name: &str) -> Option<&'static Self> {
        closest_match(name, FRONTEND_INPUTS.iter().map(|kind| kind.name)).and_then(Self::find)
    }
}
