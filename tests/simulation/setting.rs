//! What kind of world a seed gives: which shop, and what goes wrong in it.

use std::time::Duration;

use super::faults::{FaultProfile, Quirk, any_outage};
use super::job::Access;
use super::random::Random;

/// What the world is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Everything at once: faults, editors, deaths, a failing disk, wrong clocks, two machines.
    Ordinary,
    /// The service stops working during a batch.
    Outage,
    /// Nothing goes wrong.
    Calm,
    /// Two replicas that lag behind, by less than a minute.
    Replicas,
    /// The same by more than that.
    LongLag,
    /// One customer is changed about thirty times, while a replica lags behind further than that takes.
    Many,
    /// A cache that ignores whose token it is.
    Cache,
    /// A service that answers writes with errors that are none, or with success that is none.
    Misreported,
    /// A service that stores values in its own notation.
    Notation,
    /// A service that stores something else than was sent, or refuses it.
    Quirk,
    /// Profiles cannot be read.
    NoRead,
}

/// The kind of a world.
#[derive(Debug, Clone)]
pub struct Setting {
    /// What it is about.
    pub mode: Mode,
    /// Whether the service is a Magento shop.
    pub is_magento: bool,
    /// Whose tokens the commands have.
    pub access: Access,
    /// How network and service behave.
    pub faults: FaultProfile,
    /// How many of a thousand writes and reads of the disk fail.
    pub disk: (u64, u64),
    /// How many customers there are.
    pub customers: usize,
    /// How many machines of ours.
    pub machines: usize,
    /// Whether clocks are set between runs.
    pub sets_clocks: bool,
    /// How many editors act.
    pub editors: usize,
    /// Whether runs die or are interrupted.
    pub has_deaths: bool,
}

impl Setting {
    /// A random one.
    pub fn random(random: &mut Random) -> Self {
        let mode = match random.below(100) {
            0..=42 => Mode::Ordinary,
            43..=45 => Mode::Misreported,
            46 | 47 => Mode::Notation,
            48..=53 => Mode::Outage,
            54..=64 => Mode::Calm,
            65..=78 => Mode::Replicas,
            79 => Mode::Many,
            80 | 81 => Mode::LongLag,
            82..=86 => Mode::Cache,
            87..=97 => Mode::Quirk,
            _ => Mode::NoRead,
        };
        let is_magento = random.chance(40) && mode != Mode::NoRead;
        let access = match random.below(4) {
            0 if is_magento && mode != Mode::Cache => Access::Id,
            1 if is_magento && mode != Mode::Cache => Access::Email,
            _ => Access::Own,
        };
        let is_ordinary = mode == Mode::Ordinary;
        let mut setting = Self {
            mode,
            is_magento,
            access,
            faults: FaultProfile::default(),
            disk: (0, 0),
            customers: if mode == Mode::Many { 1 } else { usize::try_from(1 + random.below(2)).unwrap() },
            machines: if is_ordinary && random.chance(12) { 2 } else { 1 },
            sets_clocks: is_ordinary && random.chance(15),
            editors: if is_ordinary { random.pick(&[0, 0, 1, 2, 3]) } else { 0 },
            has_deaths: is_ordinary,
        };
        if is_ordinary && random.chance(15) {
            setting.disk.0 = random.pick(&[5, 20, 100]);
        }
        if is_ordinary && random.chance(8) {
            setting.disk.1 = random.pick(&[5, 20, 100]);
        }
        setting.faults = setting.faults(random);
        setting
    }

    fn faults(&mut self, random: &mut Random) -> FaultProfile {
        let mut faults = FaultProfile::default();
        match self.mode {
            Mode::Ordinary => {
                faults.writes = random.pick(&[0, 20, 40, 70, 100]);
                faults.reads = random.pick(&[0, 0, 10, 30]);
                faults.doubled = random.pick(&[0, 0, 0, 0, 20]);
                if random.chance(30) {
                    faults.replicas = replicas(random, 8_000);
                }
                if random.chance(10) {
                    let from = random.millis(0, 3_000);
                    faults.outage = Some((from, from + random.millis(500, 60_000), any_outage(random)));
                }
                if random.chance(5) {
                    faults.unauthorized = Some(usize::try_from(random.below(10)).unwrap());
                }
            }
            Mode::Replicas => {
                let most = random.pick(&[3_000, 12_000, 55_000]);
                faults.replicas = replicas(random, most);
                faults.writes = random.pick(&[0, 0, 0, 20]);
            }
            Mode::Many => faults.replicas = [Duration::ZERO, random.millis(35_000, 58_000)],
            Mode::LongLag => {
                faults.replicas =
                    [random.pick(&[Duration::ZERO, Duration::from_secs(70)]), random.millis(70_000, 500_000)];
            }
            Mode::Cache => {
                self.customers = 2;
                faults.cache = Some(random.millis(500, 30_000));
            }
            Mode::Quirk => {
                faults.quirk = match random.below(5) {
                    0 => Quirk::Rewrites,
                    1 | 2 => Quirk::Drops(random.pick(&[30, 100])),
                    3 => Quirk::Renumbers,
                    _ => Quirk::Refuses(random.pick(&[30, 100])),
                };
            }
            Mode::Misreported => faults.misreported = random.pick(&[20, 50, 100]),
            Mode::Notation => faults.quirk = Quirk::Notation,
            Mode::NoRead => faults.has_no_read = random.chance(70),
            Mode::Outage | Mode::Calm => {}
        }
        faults
    }
}

/// One or both lag, by up to `most` milliseconds.
fn replicas(random: &mut Random, most: u64) -> [Duration; 2] {
    let first = if random.chance(70) { Duration::ZERO } else { random.millis(0, most) };
    [first, random.millis(100, most)]
}
