//! `storefront`: storefront operations against a Magento-derived marketplace.

pub mod context;
pub mod failure;
pub mod wire;
