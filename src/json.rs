//! What JSON parsers pass over in silence: an object that names a member twice. Most keep the last, some the first;
//! whoever wrote two address lists meant both.

use std::collections::HashSet;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

/// The path of the first member that is named twice, such as `customer.addresses`. `None` where each name stands
/// once, and for text that is not JSON.
pub fn named_twice(text: &[u8]) -> Option<String> {
    let mut walk = Walk::default();
    let _ = serde_json::Deserializer::from_slice(text).deserialize_any(&mut walk);
    walk.twice.then_some(walk.path)
}

/// A walk over a document that keeps nothing but where it is.
#[derive(Default)]
struct Walk {
    path: String,
    twice: bool,
}

impl Walk {
    /// Walks on inside a member or an element, and comes back unless the walk ended there.
    fn inside<E>(
        &mut self,
        step: impl FnOnce(&mut String),
        walk: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let here = self.path.len();
        step(&mut self.path);
        walk(self)?;
        self.path.truncate(here);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Walk {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Walk {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let mut more = true;
        for index in 0_usize.. {
            self.inside(
                |path| path.extend(["[", &index.to_string(), "]"]),
                |walk| elements.next_element_seed(walk).map(|element| more = element.is_some()),
            )?;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// A number whose exact text is kept comes here too, as one member.
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            let dot = if self.path.is_empty() { "" } else { "." };
            self.inside(
                |path| path.extend([dot, &name]),
                |walk| {
                    if names.contains(&name) {
                        walk.twice = true;
                        return Err(A::Error::custom("named twice"));
                    }
                    members.next_value_seed(walk)
                },
            )?;
            names.insert(name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::named_twice;

    #[test]
    fn the_first_member_named_twice_is_told_by_its_path() {
        for (text, path) in [
            (r#"{"a": 1, "a": 1}"#, "a"),
            (r#"{"customer": {"addresses": [1], "email": "x", "addresses": []}}"#, "customer.addresses"),
            (r#"[{}, {"b": [[], {"c": null, "\u0063": 1.50}]}]"#, "[1].b[1].c"),
            (r#"{"a": {"b": 1}, "c": {"b": 2}, "a": 3} and more"#, "a"),
        ] {
            assert_eq!(named_twice(text.as_bytes()).as_deref(), Some(path), "{text}");
        }
    }

    #[test]
    fn names_in_objects_of_their_own_are_no_repetition() {
        for text in [
            r#"{"a": {"a": [{"a": 1}, {"a": 1.0e3}]}, "A": true, "": "a"}"#,
            "12",
            "{",
            "",
            r#"{"a": 1, "a""#,
        ] {
            let cut = text.ends_with('"');
            assert_eq!(named_twice(text.as_bytes()).is_some(), cut, "{text}");
        }
    }
}
