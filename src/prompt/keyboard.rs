//! The keyboard during a question: nothing is echoed between two keys, and earlier input is discarded.

use std::io;

#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(unix)]
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};

/// A signal must not end the process while the terminal is changed: it ends the question.
#[cfg(unix)]
static SIGNALS_ARE_CAUGHT: std::sync::Once = std::sync::Once::new();

/// Restores the terminal when dropped. `console` reads the keys.
pub struct Keyboard {
    #[cfg(unix)]
    before: Termios,
}

#[cfg(unix)]
impl Keyboard {
    /// Takes the terminal over.
    pub fn open() -> io::Result<Self> {
        SIGNALS_ARE_CAUGHT.call_once(|| {
            for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
                let _ = signal_hook::flag::register(signal, std::sync::Arc::default());
            }
        });
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        raw.output_modes = before.output_modes;
        tcsetattr(io::stdin(), OptionalActions::Flush, &raw)?;
        Ok(Self { before })
    }

    /// Whether there are keys that were not read yet.
    #[expect(clippy::unused_self, reason = "only while the terminal is taken over")]
    pub fn has_more(&self) -> bool {
        let no_time = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&io::stdin(), PollFlags::IN)], Some(&no_time)).is_ok_and(|ready| ready > 0)
    }

    /// Discards those.
    #[expect(clippy::unused_self, reason = "only while the terminal is taken over")]
    pub fn flush(&self) {
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

#[cfg(unix)]
impl Drop for Keyboard {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

#[cfg(windows)]
#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the same on every system")]
impl Keyboard {
    /// A console echoes nothing that is read by keys.
    pub fn open() -> io::Result<Self> {
        let keyboard = Self {};
        keyboard.flush();
        Ok(keyboard)
    }

    /// A console does not tell a pressed key from a released one.
    pub fn has_more(&self) -> bool {
        false
    }

    /// Discards what was not read yet.
    pub fn flush(&self) {
        use crossterm::event::{poll, read};
        while poll(std::time::Duration::ZERO).is_ok_and(|is_there| is_there) && read().is_ok() {}
    }
}
