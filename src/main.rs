//! Exit code from [`storefront::run`], nothing else.

fn main() {}
