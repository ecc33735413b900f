//! Who else can read or write a file that decides where requests and tokens go.
//!
//! Only Unix has owners and modes that can be checked this way; elsewhere nothing is checked, and the protection of the
//! user's profile directory has to do.

use std::fs::Metadata;
use std::path::Path;

use crate::failure::Failure;
use crate::shell::Shell;

/// What other users can do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "nothing is checked there"))]
pub enum Exposure {
    /// Another user owns it and can change it at any time.
    ForeignOwner {
        /// The user who runs this program.
        user: u32,
        /// The user who owns the file.
        owner: u32,
    },
    /// Other users can change it.
    Writable,
    /// Other users can read it.
    Readable,
    /// None of these.
    None,
}

impl Exposure {
    /// What other users can do with the file of this metadata, which is that of the opened file: its name may mean
    /// another file by now.
    pub fn of(metadata: &Metadata) -> Self {
        platform::exposure(metadata)
    }

    /// Refuses a file that another user owns or can write.
    ///
    /// # Errors
    /// `usage`, with the command that makes the file safe.
    pub fn require_trusted(self, path: &Path) -> Result<(), Failure> {
        let shown = path.display();
        let quoted = Shell::NATIVE.quote(&path.to_string_lossy()).into_owned();
        match self {
            Self::ForeignOwner { user, owner } => Err(Failure::usage(format!(
                "`{shown}` is owned by another user (uid {owner}), who could change where tokens are sent"
            ))
            .hint(format!("check its contents, then run `sudo chown {user} {quoted}`"))),
            Self::Writable => Err(Failure::usage(format!("`{shown}` can be changed by other users"))
                .hint(format!("chmod go-w {quoted}"))),
            Self::Readable | Self::None => Ok(()),
        }
    }

    /// Refuses also a file that other users can read: one that holds a token.
    ///
    /// # Errors
    /// As [`Self::require_trusted`].
    pub fn require_private(self, path: &Path) -> Result<(), Failure> {
        let shown = path.display();
        let hint = || format!("chmod 600 {}", Shell::NATIVE.quote(&path.to_string_lossy()));
        match self {
            Self::Readable => {
                Err(Failure::usage(format!("`{shown}` contains a token and can be read by other users"))
                    .hint(hint()))
            }
            Self::Writable => {
                Err(Failure::usage(format!("`{shown}` contains a token and can be changed by other users"))
                    .hint(hint()))
            }
            other => other.require_trusted(path),
        }
    }
}

#[cfg(unix)]
mod platform {
    use std::fs::{Metadata, read_to_string};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    use super::Exposure;

    const GROUP_WRITE: u32 = 0o020;
    const GROUP_READ: u32 = 0o040;
    const OTHERS_WRITE: u32 = 0o002;
    const OTHERS_READ: u32 = 0o004;
    const ROOT: u32 = 0;

    pub(super) fn exposure(metadata: &Metadata) -> Exposure {
        // /dev/null is writable for all, and its content cannot change.
        if metadata.file_type().is_char_device() {
            return Exposure::None;
        }
        let user = rustix::process::geteuid().as_raw();
        judge(metadata.uid(), metadata.mode(), user, || {
            let accounts = |file| read_to_string(file).unwrap_or_default();
            is_only_member(user, metadata.gid(), &accounts("/etc/passwd"), &accounts("/etc/group"))
        })
    }

    /// `is_own_group` says whether the file's group has no field but the user.
    pub(super) fn judge(owner: u32, mode: u32, user: u32, is_own_group: impl Fn() -> bool) -> Exposure {
        if owner != user {
            // A secret that is mounted into a container is root's, and often readable by every process in it.
            let only_root_writes = mode & (GROUP_WRITE | OTHERS_WRITE) == 0;
            let root_alone = owner == ROOT && only_root_writes;
            return if root_alone { Exposure::None } else { Exposure::ForeignOwner { user, owner } };
        }
        let by_others =
            |group: u32, others: u32| mode & others != 0 || (mode & group != 0 && !is_own_group());
        if by_others(GROUP_WRITE, OTHERS_WRITE) {
            Exposure::Writable
        } else if by_others(GROUP_READ, OTHERS_READ) {
            Exposure::Readable
        } else {
            Exposure::None
        }
    }

    /// Whether no other account is in the group, by the text of `/etc/passwd` and `/etc/group`. A user or
    /// group that is not in them comes from a directory service, whose fields cannot be known here.
    pub(super) fn is_only_member(user: u32, group: u32, passwd: &str, groups: &str) -> bool {
        let rows = |text| str::lines(text).map(|line| line.split(':').collect::<Vec<_>>());
        let number = |row: &[&str], field: usize| row.get(field).and_then(|text| text.parse::<u32>().ok());
        let Some(name) = rows(passwd)
            .find(|row| number(row, 2) == Some(user))
            .and_then(|row| row.first().map(|name| (*name).to_owned()))
        else {
            return false;
        };
        let others_by_account =
            rows(passwd).any(|row| number(&row, 3) == Some(group) && number(&row, 2) != Some(user));
        let mut entries = rows(groups).filter(|row| number(row, 2) == Some(group)).peekable();
        let is_known = entries.peek().is_some();
        let only_user = entries.all(|row| {
            let members = row.get(3).copied().unwrap_or_default();
            members.split(',').map(str::trim).all(|member| member.is_empty() || member == name)
        });
        is_known && only_user && !others_by_account
    }
}

#[cfg(not(unix))]
mod platform {
    use super::{Exposure, Metadata};

    pub(super) fn exposure(_: &Metadata) -> Exposure {
        Exposure::None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::Exposure;
    use super::platform::{is_only_member, judge};

    const ME: u32 = 1000;

    #[test]
    fn a_file_is_trusted_when_only_its_user_or_root_can_change_it() {
        let foreign = |owner| Exposure::ForeignOwner { user: ME, owner };
        for (owner, mode, own_group, expected) in [
            (ME, 0o600, false, Exposure::None),
            (ME, 0o644, false, Exposure::Readable),
            (ME, 0o640, false, Exposure::Readable),
            (ME, 0o640, true, Exposure::None),
            (ME, 0o644, true, Exposure::Readable),
            (ME, 0o620, false, Exposure::Writable),
            (ME, 0o660, true, Exposure::None),
            (ME, 0o602, true, Exposure::Writable),
            (ME, 0o666, true, Exposure::Writable),
            (1001, 0o600, true, foreign(1001)),
            (1001, 0o444, true, foreign(1001)),
            (0, 0o444, false, Exposure::None),
            (0, 0o644, false, Exposure::None),
            (0, 0o664, true, foreign(0)),
            (0, 0o646, true, foreign(0)),
        ] {
            assert_eq!(judge(owner, mode, ME, || own_group), expected, "{owner} {mode:o} {own_group}");
        }
        assert_eq!(judge(0, 0o644, 0, || true), Exposure::Readable, "a token of root's own is private too");
    }

    #[test]
    fn a_group_is_the_users_own_when_nobody_else_is_in_it() {
        let passwd = "root:x:0:0::/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\nyou:x:1001:1001::/:/bin/sh\n\
            guest:x:1002:100::/:/bin/sh\n";
        let groups = "root:x:0:\nme:x:1000:\nshop:x:50:me\nstaff:x:60:me,you\nusers:x:100:\nempty:x:70:\n";
        for (group, expected) in
            [(1000, true), (50, true), (70, true), (60, false), (100, false), (999, false), (1001, false)]
        {
            assert_eq!(is_only_member(ME, group, passwd, groups), expected, "{group}");
        }
        assert!(!is_only_member(5000, 50, passwd, groups), "a user of a directory service");
    }
}
