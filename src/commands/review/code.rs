//! The code that a person types in the page to apply: new for each review and shown on the controlling terminal alone, or,
//! where there is no terminal, one that was set before.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;

use ring::digest::{SHA256, digest};
use ring::pbkdf2::{self, PBKDF2_HMAC_SHA256};
use ring::rand::{Random, SystemRandom, generate};
use serde::{Deserialize, Serialize};

use crate::client::Session;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::text::hash::hex;

/// The terminal that controls this process, whatever its streams are.
const TERMINAL: &str = if cfg!(windows) { "CONOUT$" } else { "/dev/tty" };
/// The characters of a code: none that look alike.
const CHARACTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// The least length of a code that is kept: it serves for many reviews.
const LEAST_CHARACTERS: usize = 8;
/// Rounds of the hash. They make each guess slow for somebody who has read the file.
const ROUNDS: u32 = 600_000;

/// The code that is expected.
pub enum Code {
    /// These characters.
    Shown(String),
    /// The code with this hash.
    Kept(Kept),
}

/// The salted hash of a code, as its file has it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Kept {
    salt: [u8; 16],
    rounds: u32,
    hash: [u8; 32],
}

impl Code {
    /// A new code on the terminal; without a terminal the one that was set.
    ///
    /// # Errors
    /// `guard` where there is neither, `internal` where the one that was set cannot be read.
    pub fn new(session: &Session<'_>) -> Result<Self, Failure> {
        let bytes = random::<8>()?;
        let character = |byte: u8| char::from(CHARACTERS[usize::from(byte) % CHARACTERS.len()]);
        let code: String = bytes.into_iter().map(character).collect();
        let shown = format!("Code to apply the plan: {}-{}\n", &code[..4], &code[4..]);
        let terminal = File::options().write(true).open(TERMINAL);
        if terminal.and_then(|mut terminal| terminal.write_all(shown.as_bytes())).is_ok() {
            return Ok(Self::Shown(code));
        }
        let path = file(session)?;
        match session.context.storage.read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(Failure::guard("there is no terminal to show the code on, and no code was set")
                    .hint(hint!("set one in a terminal with ", storefront("review --set-code"))))
            }
            read => {
                let unreadable = |error: &dyn std::fmt::Display| {
                    Failure::internal(format!("cannot read `{}`: {error}", path.display()))
                };
                let text = read.map_err(|error| unreadable(&error))?;
                let kept = serde_json::from_slice(&text).map_err(|error| unreadable(&error))?;
                Ok(Self::Kept(kept))
            }
        }
    }

    /// Where a person finds it.
    pub fn place(&self) -> &'static str {
        match self {
            Self::Shown(_) => "Code from the terminal",
            Self::Kept(_) => "Code from review --set-code",
        }
    }

    /// Whether this is the code. Of one that is shown, case, blanks and dashes do not count.
    pub fn is(&self, typed: &str) -> bool {
        match self {
            Self::Shown(code) => {
                let typed = typed.chars().filter(char::is_ascii_alphanumeric);
                same(code, &typed.collect::<String>().to_ascii_uppercase())
            }
            Self::Kept(Kept { salt, rounds, hash }) => {
                let typed = typed.trim().as_bytes();
                let rounds = at_least_one(*rounds);
                pbkdf2::verify(PBKDF2_HMAC_SHA256, rounds, salt, typed, hash).is_ok()
            }
        }
    }
}

fn at_least_one(rounds: u32) -> NonZeroU32 {
    NonZeroU32::new(rounds).unwrap_or(NonZeroU32::MIN)
}

/// Whether two secrets are the same, in a time that says nothing of where they differ.
pub fn same(one: &str, other: &str) -> bool {
    digest(&SHA256, one.as_bytes()).as_ref() == digest(&SHA256, other.as_bytes()).as_ref()
}

/// A secret that nobody guesses: 64 hexadecimal digits.
///
/// # Errors
/// `internal` without randomness.
pub fn secret() -> Result<String, Failure> {
    random::<32>().map(|bytes| hex(&bytes))
}

fn random<const N: usize>() -> Result<[u8; N], Failure>
where
    [u8; N]: ring::rand::RandomlyConstructable,
{
    let bytes = generate::<[u8; N]>(&SystemRandom::new()).map(Random::expose);
    bytes.map_err(|_| Failure::internal("the system gives no random numbers"))
}

/// The file of a code, beside the tokens.
fn file(session: &Session<'_>) -> Result<PathBuf, Failure> {
    Ok(session.context.directories()?.credentials.join("review-code.json"))
}

/// Asks for a code and keeps its hash, for reviews without a terminal.
///
/// # Errors
/// `usage` where nobody can be asked or the code is too short, `internal` where it cannot be kept.
pub fn set(session: &Session<'_>) -> Result<(), Failure> {
    let prompt = session.prompt();
    let hint = "run it in a terminal";
    let code = prompt.password("Code for reviews without a terminal", hint)?;
    if code.trim().chars().count() < LEAST_CHARACTERS {
        return Err(Failure::usage(format!("a code has at least {LEAST_CHARACTERS} characters")));
    }
    if prompt.password("The same code again", hint)? != code {
        return Err(Failure::usage("the two codes differ"));
    }
    let salt = random::<16>()?;
    let mut hash = [0; 32];
    pbkdf2::derive(PBKDF2_HMAC_SHA256, at_least_one(ROUNDS), &salt, code.trim().as_bytes(), &mut hash);
    let path = file(session)?;
    let text = serde_json::to_vec(&Kept { salt, rounds: ROUNDS, hash }).unwrap_or_default();
    let failed = |error| Failure::internal(format!("cannot write `{}`: {error}", path.display()));
    session.context.storage.replace(&path, &text).map_err(failed)?;
    session.report.status(&format!("The code is kept as a hash in {}", path.display()));
    Ok(())
}
