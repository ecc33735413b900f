//! Changes one setting of the file and leaves every other byte as it is.

use serde::Deserialize as _;
use serde::de::IntoDeserializer as _;
use serde_json::Value;
use toml_edit::{Item, Key as Name, Table, TableLike};

use super::file::ConfigFile;
use super::header_rules::HEADERS;
use super::profile::{
    BASE_URL, DEFAULT_PROFILE, Setting, TOP, check_profile_name, is_secret, join, origin, parse_base_url,
    unknown, unknown_key,
};
use crate::cli::GlobalArgs;
use crate::system::context::Context;
use storefront_core::failure::Failure;
use storefront_core::text::redact::MASK;

/// A setting by its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPath {
    names: Vec<String>,
}

impl KeyPath {
    /// A path by its names.
    pub fn of<const N: usize>(names: [&str; N]) -> Self {
        Self { names: names.map(str::to_owned).to_vec() }
    }

    /// Takes a path from the top of the file, or from the chosen profile.
    ///
    /// # Errors
    /// `usage` when it is not a path, or begins in a profile and none is chosen.
    pub fn resolve(
        text: &str,
        file: &ConfigFile,
        context: &Context,
        global: &GlobalArgs,
    ) -> Result<Self, Failure> {
        let names = Name::parse(text).map_err(|_| {
            Failure::usage(format!("invalid key `{text}`")).hint("write a key such as profiles.shop.base-url")
        })?;
        let mut names: Vec<String> = names.iter().map(|name| name.get().to_owned()).collect();
        let from_top = names.first().is_some_and(|name| TOP.contains(&name.as_str()));
        if !from_top {
            let (profile, _) = file.chosen_name(context, global)?.ok_or_else(|| {
                Failure::usage(format!("no profile selected for `{text}`"))
                    .hint(format!("use -p NAME, or profiles.NAME.{text}"))
            })?;
            names.splice(0..0, ["profiles".to_owned(), profile]);
        }
        Ok(Self { names })
    }

    /// The kind of setting at the path.
    ///
    /// # Errors
    /// `usage` for a key that is not known, with the nearest one.
    pub fn setting(&self) -> Result<Setting, Failure> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let [top, below @ ..] = &names[..] else { return Ok(Setting::Table) };
        if *top == DEFAULT_PROFILE.name && below.is_empty() {
            return Ok(Setting::Value(&DEFAULT_PROFILE));
        }
        if *top != "profiles" {
            return Err(Failure::usage(unknown(&self.to_string(), top, &TOP)));
        }
        let [name, way @ ..] = below else { return Ok(Setting::Table) };
        check_profile_name(name)
            .map_err(|problem| Failure::usage(format!("{}: {problem}", join("profiles", name))))?;
        (0..=way.len()).try_fold(Setting::Table, |above, end| match (above, Setting::find(&way[..end])) {
            (Setting::Table, Some(found)) => Ok(found),
            (Setting::Table, None) => {
                Err(Failure::usage(unknown_key(&joined(&names[..end + 2]), &way[..end])))
            }
            (Setting::Value(_), _) => {
                Err(Failure::usage(format!("`{}` is not a table", joined(&names[..=end]))))
            }
        })
    }

    /// The profile that the path is in, or is.
    pub fn profile(&self) -> Option<&str> {
        match self.names.as_slice() {
            [top, profile, ..] if top == "profiles" => Some(profile),
            _ => None,
        }
    }

    /// Scheme, host and port of the profile that the path is in.
    pub fn origin(&self, file: &ConfigFile) -> Option<String> {
        let text = Self::of(["profiles", self.profile()?, BASE_URL.name]).find(file)?.as_str()?;
        parse_base_url(text).ok().map(|url| origin(&url))
    }

    /// The last name of the path.
    pub fn name(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }

    /// The value there, as [`to_json`] shows it.
    pub fn shown(&self, item: &Item) -> Value {
        let is_header = matches!(&self.names[..], [_, _, table, _] if table == HEADERS);
        if is_header { header_to_json(item) } else { to_json(self.name(), item) }
    }

    /// Whether it is a whole profile.
    pub fn is_profile(&self) -> bool {
        self.profile().is_some() && self.names.len() == 2
    }

    /// The value there.
    pub fn find<'a>(&self, file: &'a ConfigFile) -> Option<&'a Item> {
        let top = file.document.as_item();
        self.names.iter().try_fold(top, |item, name| item.as_table_like()?.get(name))
    }
}

impl std::fmt::Display for KeyPath {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&joined(&self.names))
    }
}

impl ConfigFile {
    /// Sets a value; missing tables are made.
    ///
    /// # Errors
    /// `usage` when a part of the path is not a table.
    pub fn set(&mut self, key: &KeyPath, mut value: toml_edit::Value) -> Result<(), Failure> {
        let Some((last, way)) = key.names.split_last() else { return Ok(()) };
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for name in way {
            let inner = table.entry(name).or_insert_with(|| {
                let mut inner = Table::new();
                inner.set_implicit(name == "profiles");
                Item::Table(inner)
            });
            table = inner
                .as_table_like_mut()
                .ok_or_else(|| Failure::usage(format!("{key}: `{name}` is not a table")))?;
        }
        // Inserting would replace the key too, and with it the comment above it.
        let item = table.entry(last).or_insert(Item::None);
        if let Item::Value(old) = item {
            *value.decor_mut() = old.decor().clone();
        }
        *item = Item::Value(value);
        Ok(())
    }

    /// Removes a setting or a profile; `false` if it was not there.
    pub fn unset(&mut self, key: &KeyPath) -> bool {
        let Some((last, way)) = key.names.split_last() else { return false };
        let top: Option<&mut dyn TableLike> = Some(self.document.as_table_mut());
        let table = way.iter().fold(top, |table, name| table?.get_mut(name)?.as_table_like_mut());
        table.and_then(|table| table.remove(last)).is_some()
    }

    /// Leaves only one profile, in memory.
    pub fn keep_only(&mut self, profile: &str) {
        let others: Vec<String> = self.names().into_iter().map(str::to_owned).collect();
        for other in others.iter().filter(|name| *name != profile) {
            self.unset(&KeyPath::of(["profiles", other]));
        }
    }

    /// Refuses the name of a profile that does not exist; `by` is where the name comes from.
    pub fn require_profile(&self, name: &str, by: &str) -> Result<(), Failure> {
        if self.names().contains(&name) { Ok(()) } else { Err(self.no_such_profile(name, by)) }
    }

    /// Removes a default profile that does not exist.
    pub fn drop_dangling_default(&mut self) {
        let default = KeyPath::of([DEFAULT_PROFILE.name]);
        let name = default.find(self).and_then(Item::as_str);
        if name.is_some_and(|name| !self.names().contains(&name)) {
            self.unset(&default);
        }
    }
}

/// Names as one dotted path.
fn joined(names: &[impl AsRef<str>]) -> String {
    names.iter().fold(String::new(), |path, name| join(&path, name.as_ref()))
}

/// An item as JSON, with `•••` for tokens. `name` is the last name of its path.
pub fn to_json(name: &str, item: &Item) -> Value {
    match (item.as_table_like(), item.as_value()) {
        (Some(table), _) => {
            // A header's text is masked; the variable of its value is shown.
            let shown = |inside: &str, item| match name {
                HEADERS => header_to_json(item),
                _ => to_json(inside, item),
            };
            table.iter().map(|(inside, item)| (inside.to_owned(), shown(inside, item))).collect()
        }
        (None, Some(_)) if is_secret(name) => MASK.into(),
        (None, Some(value)) => Value::deserialize(value.clone().into_deserializer()).unwrap_or_default(),
        (None, None) => Value::Null,
    }
}

fn header_to_json(item: &Item) -> Value {
    if item.is_str() { MASK.into() } else { to_json("", item) }
}

/// The dotted path and value of everything inside, in order.
pub fn flattened(value: &Value) -> Vec<(String, &Value)> {
    fn add<'a>(value: &'a Value, path: &str, lines: &mut Vec<(String, &'a Value)>) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    add(value, &join(path, name), lines);
                }
            }
            value => lines.push((path.to_owned(), value)),
        }
    }
    let mut lines = Vec::new();
    add(value, "", &mut lines);
    lines
}
