//! Quantities that add up exactly: 0.1 and 0.2 are 0.3.

use std::cmp::Ordering;

use serde_json::Value;

use storefront_core::text::exact_json;

/// How many digits after the point are kept; a number that needs more is refused.
const SCALE: u32 = 18;

/// A positive decimal number, in units of ten to the power of minus [`SCALE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity(i128);

impl Quantity {
    /// Reads a JSON number; `None` if it is not above zero or cannot be represented exactly.
    pub fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let shift = i32::try_from(SCALE)
            .ok()?
            .checked_add(exponent)?
            .checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let units = match shift.cmp(&0) {
            Ordering::Less => {
                let divisor = 10_i128.checked_pow(shift.unsigned_abs())?;
                (digits % divisor == 0).then_some(digits / divisor)?
            }
            _ => digits.checked_mul(10_i128.checked_pow(shift.unsigned_abs())?)?,
        };
        (units > 0).then_some(Self(units))
    }

    /// The sum; `None` if it is too large to be held exactly.
    pub fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = 10_i128.pow(SCALE);
        let whole = self.0 / unit;
        let fraction = self.0 % unit;
        if fraction == 0 {
            return write!(out, "{whole}");
        }
        let fraction = format!("{fraction:018}");
        write!(out, "{whole}.{}", fraction.trim_end_matches('0'))
    }
}

/// Stored decimal text as a JSON number.
pub fn parse(text: &str) -> Value {
    exact_json::number(text).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::Quantity;

    fn sum(one: &str, other: &str) -> String {
        let (one, other) = (Quantity::parse(one).unwrap(), Quantity::parse(other).unwrap());
        one.plus(other).unwrap().to_string()
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(sum("0.1", "0.2"), "0.3");
        assert_eq!(sum("1.50", "1.5"), "3");
        assert_eq!(sum("1e2", "25E-1"), "102.5");
        assert_eq!(sum("9007199254740993", "0.000000000000000001"), "9007199254740993.000000000000000001");
    }

    #[test]
    fn only_exact_numbers_above_zero_are_quantities() {
        for text in ["0", "-1", "0.0", "1e-19", "1e40", "1e999999999", "-0", "x", ""] {
            assert_eq!(Quantity::parse(text), None, "{text}");
        }
        assert_eq!(Quantity::parse("10e-19").unwrap().to_string(), "0.000000000000000001");
    }
}
