//! The program in a pseudoterminal, and its screen.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcsetwinsize};

use super::storefront::{Home, Storefront};

const TIMEOUT: Duration = Duration::from_secs(20);
const ROWS: u16 = 60;

pub const ESC: &str = "\u{1b}";
pub const ENTER: &str = "\r";
pub const DOWN: &str = "\u{1b}[B";
pub const CTRL_C: &str = "\u{3}";
pub const CTRL_D: &str = "\u{4}";

/// What a terminal can draw, and what its user wants of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Color,
    NoColor,
    Dumb,
    Accessible,
}

impl Look {
    /// Runs a test in each.
    pub fn each(test: impl Fn(Self)) {
        for look in [Self::Color, Self::NoColor, Self::Dumb, Self::Accessible] {
            test(look);
        }
    }

    fn variables(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Color => &[],
            Self::NoColor => &[("NO_COLOR", "1")],
            Self::Dumb => &[("TERM", "dumb")],
            Self::Accessible => &[("STOREFRONT_ACCESSIBLE", "1")],
        }
    }
}

/// A running program, its keyboard and its screen. Its home lives as long: a temporary one would be removed while the program
/// makes its files there.
pub struct Terminal<'home> {
    home: PhantomData<&'home Home>,
    /// Whether lists are numbered.
    is_numbered: bool,
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<vt100::Parser>>,
    raw: Arc<Mutex<Vec<u8>>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

impl<'home> Terminal<'home> {
    /// Runs the program with these variables in a terminal of so many columns; one that reports 0 has 80.
    pub fn run(home: &'home Home, columns: u16, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command: Command = home.storefront(arguments).into_command();
        command.envs(variables.iter().copied());
        Self::start(columns, command, None)
    }

    /// The same command line, with this look.
    pub fn looking(home: &'home Home, look: Look, columns: u16, line: &str) -> Self {
        Self::run(home, columns, &line.split(' ').collect::<Vec<_>>(), look.variables())
    }

    /// The same with standard error in a file, in a session of its own, which the terminal controls or which has none.
    pub fn run_redirected(home: &'home Home, arguments: &[&str], stderr: &Path, is_controlled: bool) -> Self {
        let storefront: Command = home.storefront(arguments).into_command();
        let mut command = Command::new("setsid");
        command.args(is_controlled.then_some("--ctty")).arg(storefront.get_program());
        command.args(storefront.get_args()).env_clear();
        command.envs(storefront.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        Self::start(100, command, Some(File::create(stderr).unwrap()))
    }

    /// A program whose standard output and standard error are files; the terminal controls it, and shows what it writes there itself.
    pub fn run_apart(home: &'home Home, program: Storefront, stdout: &Path, stderr: &Path) -> Self {
        let program: Command = program.into_command();
        let mut command = home.command("setsid");
        command.args(["--ctty", "sh", "-c", "exec \"$@\" >\"$OUT\" 2>\"$ERR\"", "sh"]);
        command.arg(program.get_program()).args(program.get_args());
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("OUT", stdout).env("ERR", stderr);
        for file in [stdout, stderr] {
            File::create(file).unwrap();
        }
        Self::start(100, command, None)
    }

    fn start(columns: u16, mut command: Command, stderr: Option<File>) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let size = Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        let slave =
            || -> OwnedFd { rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap() };
        let variable = |name: &str| command.get_envs().find(|(own, _)| *own == name).and_then(|(_, it)| it);
        let is_numbered =
            variable("TERM").is_some_and(|it| it == "dumb") || variable("STOREFRONT_ACCESSIBLE").is_some();
        if variable("TERM").is_none() {
            command.env("TERM", "xterm-256color");
        }
        let stderr = stderr.map_or_else(|| Stdio::from(slave()), Stdio::from);
        let child = command.stdin(slave()).stdout(slave()).stderr(stderr).spawn().unwrap();
        drop(command);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(
            some(ROWS),
            some(if columns == 0 { 80 } else { columns }),
            0,
        )));
        let raw = Arc::<Mutex<Vec<u8>>>::default();
        let keyboard = File::from(master);
        let reader = std::thread::spawn({
            let (mut output, screen, raw) = (keyboard.try_clone().unwrap(), screen.clone(), raw.clone());
            move || {
                let mut bytes = [0; 4096];
                // The end of the other side is an error on Linux.
                while let Ok(read @ 1..) = output.read(&mut bytes) {
                    screen.lock().unwrap().process(&bytes[..read]);
                    raw.lock().unwrap().extend_from_slice(&bytes[..read]);
                }
            }
        });
        Self { home: PhantomData, is_numbered, child, keyboard, screen, raw, reader: Some(reader) }
    }

    /// What the screen shows.
    pub fn screen(&self) -> String {
        let text = self.screen.lock().unwrap().screen().contents();
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// What the screen shows, color and all, as text with escape sequences.
    pub fn picture(&self) -> String {
        let parser = self.screen.lock().unwrap();
        let screen = parser.screen();
        let (rows, columns) = screen.size();
        let lines = (0..rows.get()).map(|row| {
            let mut line = String::new();
            let mut style = String::new();
            for cell in (0..columns.get()).filter_map(|column| screen.cell(row, column)) {
                if cell.is_wide_continuation() {
                    continue;
                }
                let now = if cell.has_contents() { style_of(cell) } else { String::new() };
                if now != style {
                    line.extend(["\u{1b}[0m", &now]);
                    style = now;
                }
                line.push_str(if cell.has_contents() { cell.contents() } else { " " });
            }
            let line = if style.is_empty() { line } else { format!("{line}\u{1b}[0m") };
            line.trim_end().to_owned()
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        format!("{}\n", text.trim_end())
    }

    /// Waits until the screen shows this.
    #[track_caller]
    pub fn sees(&mut self, text: &str) -> &mut Self {
        self.waits(text, true);
        self
    }

    #[track_caller]
    fn waits(&self, text: &str, there: bool) {
        let deadline = Instant::now() + TIMEOUT;
        while self.screen().contains(text) != there {
            assert!(Instant::now() < deadline, "waited for {text:?} ({there}) in\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the screen no longer shows this.
    #[track_caller]
    pub fn sees_no_more(&mut self, text: &str) -> &mut Self {
        self.waits(text, false);
        self
    }

    /// Types this, all at once.
    pub fn types(&mut self, keys: &str) -> &mut Self {
        let before = self.screen();
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        // Esc that is followed at once would be the start of a sequence.
        std::thread::sleep(Duration::from_millis(60));
        // On a busy machine it may not have been read yet. Not every key shows.
        let deadline = Instant::now() + Duration::from_millis(500);
        while self.screen() == before && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        self
    }

    /// Waits for the end; gives the exit code and all that was written, byte by byte.
    #[track_caller]
    pub fn ends_raw(mut self) -> (i32, String) {
        let code = self.waits_for_end();
        let raw: &Mutex<Vec<u8>> = &self.raw;
        (code, String::from_utf8_lossy(&raw.lock().unwrap()).into_owned())
    }

    /// Types an answer, then Enter.
    pub fn answers(&mut self, text: &str) -> &mut Self {
        self.types(text).types(ENTER)
    }

    /// Waits until this is asked, by the last line of the screen.
    #[track_caller]
    pub fn asks(&mut self, text: &str) -> &mut Self {
        self.waits_for_line(text, "");
        self
    }

    #[track_caller]
    fn waits_for_line(&self, start: &str, end: &str) {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let screen = self.screen();
            let last = screen.lines().last().unwrap_or_default();
            let last = last.strip_prefix("? ").unwrap_or(last);
            if last.starts_with(start) && last.ends_with(end) {
                return;
            }
            assert!(Instant::now() < deadline, "waited to be asked {start:?} in\n{screen}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Types the number of the last line that starts so.
    #[track_caller]
    fn picks_by_number(&mut self, label: &str) -> &mut Self {
        self.waits_for_line("Number or words of a line", ":");
        let screen = self.screen();
        let number = screen.lines().rev().find_map(|line| {
            let (number, choice) = line.split_once(". ")?;
            choice.starts_with(label).then(|| number.to_owned())
        });
        self.answers(&number.unwrap_or_else(|| panic!("no {label:?} in\n{screen}")))
    }

    /// Moves the cursor to the line of a list that starts so, and presses Enter.
    #[track_caller]
    pub fn picks(&mut self, label: &str) -> &mut Self {
        if self.is_numbered {
            return self.picks_by_number(label);
        }
        self.sees(label);
        let is_there = |screen: &str| screen.lines().any(|it| it.starts_with(&format!("\u{276f} {label}")));
        for _ in 0..30 {
            if is_there(&self.screen()) {
                break;
            }
            self.types(DOWN);
        }
        self.types(ENTER)
    }

    /// The same in place of the text that is there.
    pub fn replaces(&mut self, text: &str) -> &mut Self {
        self.types("\u{15}").answers(text)
    }

    /// Answers a confirmation, after reading it.
    pub fn confirms(&mut self, text: &str) -> &mut Self {
        std::thread::sleep(Duration::from_millis(300));
        self.answers(text)
    }

    /// Sends SIGTERM, when the question that is on the screen is listened to.
    pub fn terminate(&mut self) -> &mut Self {
        std::thread::sleep(Duration::from_millis(300));
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        self
    }

    /// Whether the terminal is in the mode of a shell: echo, line editing, signals.
    pub fn is_restored(&self) -> bool {
        let modes = rustix::termios::tcgetattr(&self.keyboard).unwrap().local_modes;
        let is_cooked = modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        let parser = self.screen.lock().unwrap();
        is_cooked && !parser.screen().hide_cursor()
    }

    /// Waits for the end; gives the exit code and the last screen.
    #[track_caller]
    pub fn ends(self) -> (i32, String) {
        let (code, screen, _) = self.ends_with_cursor();
        (code, screen)
    }

    /// The same, and whether the cursor is shown.
    #[track_caller]
    pub fn ends_with_cursor(mut self) -> (i32, String, bool) {
        let code = self.waits_for_end();
        let hidden = self.screen.lock().unwrap().screen().hide_cursor();
        (code, self.screen(), !hidden)
    }

    /// Waits for the end; gives the exit code.
    #[track_caller]
    pub fn waits_for_end(&mut self) -> i32 {
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > deadline => panic!("still running:\n{}", self.screen()),
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        status.code().unwrap_or(-1)
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn some(count: u16) -> std::num::NonZero<u16> {
    std::num::NonZero::new(count).unwrap()
}

/// The escape sequence that makes text look like this cell.
fn style_of(cell: &vt100::Cell) -> String {
    let color = match cell.fgcolor() {
        vt100::Color::Idx(color @ 0..8) => Some(30 + color),
        vt100::Color::Idx(color @ 8..16) => Some(82 + color),
        _ => None,
    };
    let codes = [cell.bold().then_some(1), cell.dim().then_some(2), cell.underline().then_some(4), color];
    codes.into_iter().flatten().map(|code| format!("\u{1b}[{code}m")).collect::<Vec<_>>().concat()
}
