//! The keyboard while a question is asked: keys one by one and not echoed. The terminal is as it was as soon as this is
//! gone.

use std::cell::Cell;
use std::io;

use dialoguer::console::{Key, Term};

#[cfg(unix)]
use unix::Source;
#[cfg(windows)]
use windows::Source;

/// Standard input, a key at a time.
pub struct Keyboard {
    source: Source,
    came_at_once: Cell<bool>,
}

impl Keyboard {
    /// Takes the terminal over. What was typed before now is thrown away.
    pub fn open() -> io::Result<Self> {
        Ok(Self { source: Source::open()?, came_at_once: Cell::default() })
    }

    /// Waits for the next key.
    pub fn key(&self, term: &Term) -> io::Result<Key> {
        self.came_at_once.set(self.has_more());
        term.read_key_raw()
    }

    /// Whether the last key came along with the one before: it was pasted then.
    pub fn came_at_once(&self) -> bool {
        self.came_at_once.get()
    }

    /// Whether there are keys that were not read yet.
    pub fn has_more(&self) -> bool {
        self.source.has_more()
    }

    /// Throws away what was typed and not read yet.
    pub fn flush(&self) {
        self.source.flush();
    }
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::sync::{Arc, Once};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
    use signal_hook::consts::{SIGINT, SIGTERM};

    const NO_TIME: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

    /// A signal must not end the process while the terminal is not as it was: it ends the question.
    static SIGNALS_ARE_CAUGHT: Once = Once::new();

    /// The terminal without echo and line editing.
    pub struct Source {
        before: Termios,
    }

    impl Source {
        pub fn open() -> io::Result<Self> {
            SIGNALS_ARE_CAUGHT.call_once(|| {
                for signal in [SIGINT, SIGTERM] {
                    let _ = signal_hook::flag::register(signal, Arc::default());
                }
            });
            let before = tcgetattr(io::stdin())?;
            let mut raw = before.clone();
            raw.make_raw();
            raw.output_modes = before.output_modes;
            tcsetattr(io::stdin(), OptionalActions::Flush, &raw)?;
            Ok(Self { before })
        }

        #[expect(clippy::unused_self, reason = "only while the terminal is taken over")]
        pub fn has_more(&self) -> bool {
            poll(&mut [PollFd::new(&io::stdin(), PollFlags::IN)], Some(&NO_TIME)).is_ok_and(|ready| ready > 0)
        }

        #[expect(clippy::unused_self, reason = "only while the terminal is taken over")]
        pub fn flush(&self) {
            let _ = tcflush(io::stdin(), QueueSelector::IFlush);
        }
    }

    impl Drop for Source {
        fn drop(&mut self) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::io;
    use std::time::Duration;

    use crossterm::event::{poll, read};

    /// The console as it is: a key is not echoed where it is read alone.
    pub struct Source;

    impl Source {
        pub fn open() -> io::Result<Self> {
            Self.flush();
            Ok(Self)
        }

        /// A console does not tell keys from keys that are let go.
        #[expect(clippy::unused_self, reason = "the same on every system")]
        pub fn has_more(&self) -> bool {
            false
        }

        #[expect(clippy::unused_self, reason = "the same on every system")]
        pub fn flush(&self) {
            while poll(Duration::ZERO).is_ok_and(|is_there| is_there) && read().is_ok() {}
        }
    }
}
