//! A JSON record with the reason why it failed, everything else as it came.

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The name of the column or field that says why.
pub const REASON: &str = "reason";

/// The record with its values exactly as they came. What is not a JSON object stays as it is: there is no place for a
/// reason in it.
pub fn json_with_reason(text: &str, reason: &str) -> String {
    let Ok(Fields(fields)) = serde_json::from_str(text) else { return text.replace(['\n', '\r'], " ") };
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let kept = fields.iter().filter(|(name, _)| name != REASON);
    let mut fields: Vec<String> =
        kept.map(|(name, value)| format!("{}:{}", quoted(name), value.get())).collect();
    fields.push(format!("{}:{}", quoted(REASON), quoted(reason)));
    format!("{{{}}}", fields.join(","))
}

/// The fields of a JSON object, in their order, each value as text.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::json_with_reason;

    #[test]
    fn values_come_back_as_they_came_with_the_last_reason_only() {
        assert_eq!(
            json_with_reason(
                r#"{ "qty" : 1E2, "reason":"old", "$serde_json::private::Number": {"a": 1.0} }"#,
                "no \"x\""
            ),
            r#"{"qty":1E2,"$serde_json::private::Number":{"a": 1.0},"reason":"no \"x\""}"#
        );
        assert_eq!(json_with_reason("[1,\n2]", "no"), "[1, 2]");
    }
}
