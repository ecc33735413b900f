//! The keyboard while a question is asked. The terminal is as it was as soon as the question is over, however it ends.

use std::cell::{RefCell, RefMut};
use std::io;

use super::device::Device;
use super::keys::{Decoder, Event};

const PASTE_MARKS_ON: &str = "\x1b[?2004h";
/// And the cursor is shown again, which a list hides.
const AS_IT_WAS: &str = "\x1b[?2004l\x1b[?25h";

/// Keys, one by one and not echoed.
pub struct Keyboard<'a> {
    device: &'a Device,
    decoder: RefMut<'a, Decoder>,
    source: Source,
    /// The number of the reading the last event came with. Keys of one reading were not typed one after another.
    pub reading: u64,
}

impl<'a> Keyboard<'a> {
    /// Takes the terminal over.
    pub fn open(device: &'a Device, decoder: &'a RefCell<Decoder>) -> io::Result<Self> {
        let source = Source::open()?;
        device.write(PASTE_MARKS_ON);
        Ok(Self { device, decoder: decoder.borrow_mut(), source, reading: 0 })
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// `Interrupted` for a signal, and whatever reading the terminal gives.
    pub fn next(&mut self) -> io::Result<Event> {
        loop {
            if let Some(event) = self.decoder.next(false) {
                return Ok(event);
            }
            let wait = if self.decoder.is_amid_a_key() { Wait::ForRestOfKey } else { Wait::ForPerson };
            let more = self.source.read(wait, &mut self.decoder)?;
            self.reading += u64::from(more);
            if let Some(event) = (!more).then(|| self.decoder.next(true)).flatten() {
                return Ok(event);
            }
        }
    }

    /// What was typed or pasted before now.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub fn typed_ahead(&mut self) -> io::Result<Vec<Event>> {
        while self.source.read(Wait::No, &mut self.decoder)? {}
        Ok(std::iter::from_fn(|| self.decoder.next(true)).collect())
    }
}

impl Drop for Keyboard<'_> {
    fn drop(&mut self) {
        self.device.write(AS_IT_WAS);
    }
}

/// How long a reading may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    No,
    ForRestOfKey,
    ForPerson,
}

#[cfg(unix)]
pub use unix::signals_are_listened_to;
#[cfg(windows)]
pub use windows::signals_are_listened_to;

#[cfg(unix)]
use unix::Source;
#[cfg(windows)]
use windows::Source;

#[cfg(unix)]
mod unix {
    use std::io;
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, OnceLock};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
    use signal_hook::SigId;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::low_level::{pipe, unregister};

    use super::{Decoder, Wait};

    /// How long the rest of a key may take, over a slow line too.
    const REST_OF_A_KEY: Timespec = Timespec { tv_sec: 0, tv_nsec: 40_000_000 };
    const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

    /// Standard input without echo and line editing, and the signals that end a question.
    pub struct Source {
        before: Termios,
        signals: UnixStream,
        registered: Vec<SigId>,
    }

    impl Source {
        pub fn open() -> io::Result<Self> {
            let by_default = by_default()?;
            let (signals, written) = UnixStream::pair()?;
            let mut registered = Vec::new();
            for signal in [SIGINT, SIGTERM] {
                registered.push(pipe::register(signal, written.try_clone()?)?);
            }
            by_default.store(false, Ordering::SeqCst);
            let before = tcgetattr(io::stdin())?;
            let mut raw = before.clone();
            raw.make_raw();
            // Lines that others print meanwhile end as they always do.
            raw.output_modes = before.output_modes;
            debug_assert!(!raw.local_modes.contains(LocalModes::ISIG));
            let source = Self { before, signals, registered };
            tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
            Ok(source)
        }

        /// Reads what is there, or waits for it. Whether there was anything.
        pub fn read(&mut self, wait: Wait, decoder: &mut Decoder) -> io::Result<bool> {
            let stdin = io::stdin();
            let timeout = match wait {
                Wait::No => Some(&NO_TIME),
                Wait::ForRestOfKey => Some(&REST_OF_A_KEY),
                Wait::ForPerson => None,
            };
            loop {
                let mut ready =
                    [PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
                match poll(&mut ready, timeout) {
                    Err(Errno::INTR) => continue,
                    Ok(0) => return Ok(false),
                    other => other?,
                };
                if !ready[0].revents().is_empty() {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                let mut bytes = [0; 4096];
                match rustix::io::read(&stdin, &mut bytes) {
                    Err(Errno::INTR) => {}
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    read => {
                        decoder.feed(&bytes[..read?]);
                        return Ok(true);
                    }
                }
            }
        }
    }

    impl Drop for Source {
        fn drop(&mut self) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
            self.registered.drain(..).for_each(|id| {
                unregister(id);
            });
            if let Ok(by_default) = by_default() {
                by_default.store(!ARE_LISTENED_TO.load(Ordering::SeqCst), Ordering::SeqCst);
            }
        }
    }

    /// Whether something else than a question acts on signals.
    static ARE_LISTENED_TO: AtomicBool = AtomicBool::new(false);

    /// From now on signals are acted on elsewhere, and never end the process by themselves.
    pub fn signals_are_listened_to() {
        ARE_LISTENED_TO.store(true, Ordering::SeqCst);
        if let Some(by_default) = BY_DEFAULT.get() {
            by_default.store(false, Ordering::SeqCst);
        }
    }

    static BY_DEFAULT: OnceLock<Arc<AtomicBool>> = OnceLock::new();

    /// Whether a signal ends the process. Once a signal was caught, what it does by default is never set again: so it
    /// has to be done by hand after a question.
    fn by_default() -> io::Result<&'static AtomicBool> {
        if BY_DEFAULT.get().is_none() {
            let flag = Arc::new(AtomicBool::new(false));
            for signal in [SIGINT, SIGTERM] {
                signal_hook::flag::register_conditional_default(signal, flag.clone())?;
            }
            let _ = BY_DEFAULT.set(flag);
        }
        BY_DEFAULT.get().map(|flag| &**flag).ok_or_else(|| io::ErrorKind::Other.into())
    }
}

#[cfg(windows)]
mod windows {
    use std::io;
    use std::time::Duration;

    use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};
    use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

    use super::{Decoder, Wait};

    /// Keys that come faster than this were pasted: a console has no marks for that.
    const FASTEST_TYPING: Duration = Duration::from_millis(30);

    /// Any event will do: the caller asks again.
    const LONG: Duration = Duration::from_secs(3600);

    /// The console's keys, without echo and line editing. Ctrl-C is a key too, and not a signal.
    pub struct Source;

    impl Source {
        pub fn open() -> io::Result<Self> {
            enable_raw_mode()?;
            Ok(Self)
        }

        /// Reads what is there, or waits for it. Whether there was anything.
        #[expect(clippy::unused_self, reason = "the same on every system")]
        pub fn read(&mut self, wait: Wait, decoder: &mut Decoder) -> io::Result<bool> {
            let mut timeout = match wait {
                // The bytes of a key come together.
                Wait::ForRestOfKey => return Ok(false),
                Wait::No => Duration::ZERO,
                Wait::ForPerson => LONG,
            };
            let mut was_key = false;
            // All keys that come at once are one reading, so that what was pasted is known by it.
            while poll(timeout)? {
                if let Event::Key(key) = read()? {
                    was_key |= feed(decoder, key);
                }
                if was_key {
                    timeout = FASTEST_TYPING;
                }
            }
            Ok(was_key)
        }
    }

    impl Drop for Source {
        fn drop(&mut self) {
            let _ = disable_raw_mode();
        }
    }

    /// Gives the decoder a key as a terminal sends it. Whether it is one that is known.
    fn feed(decoder: &mut Decoder, key: KeyEvent) -> bool {
        if key.kind == KeyEventKind::Release {
            return false;
        }
        // AltGr is Ctrl and Alt, and makes characters of its own.
        let is_control =
            key.modifiers.contains(KeyModifiers::CONTROL) && !key.modifiers.contains(KeyModifiers::ALT);
        let mut utf8 = [0; 4];
        let bytes: &[u8] = match key.code {
            KeyCode::Char(letter) if is_control && letter.is_ascii_alphabetic() => {
                utf8[0] = letter.to_ascii_lowercase() as u8 - b'a' + 1;
                &utf8[..1]
            }
            KeyCode::Char(character) => character.encode_utf8(&mut utf8).as_bytes(),
            KeyCode::Enter => b"\r",
            KeyCode::Esc => b"\x1b",
            KeyCode::Backspace => b"\x7f",
            KeyCode::Tab => b"\t",
            KeyCode::Up => b"\x1b[A",
            KeyCode::Down => b"\x1b[B",
            KeyCode::Right => b"\x1b[C",
            KeyCode::Left => b"\x1b[D",
            KeyCode::Home => b"\x1b[H",
            KeyCode::End => b"\x1b[F",
            KeyCode::Delete => b"\x1b[3~",
            KeyCode::PageUp => b"\x1b[5~",
            KeyCode::PageDown => b"\x1b[6~",
            _ => return false,
        };
        decoder.feed(bytes);
        true
    }

    /// A question takes Ctrl-C as a key, whether or not something else acts on signals.
    pub fn signals_are_listened_to() {}
}
