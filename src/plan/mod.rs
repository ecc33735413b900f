//! The pure part: what the user wants becomes exactly what will be sent. Nothing here reads, writes or waits.

pub mod request;
