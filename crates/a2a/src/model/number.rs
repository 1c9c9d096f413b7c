//! Floats as text.

use serde_json::Number;

/// A number as in ECMAScript (Number::toString, to which RFC 8785 §3.2.2.3 refers): 3 for 3.0. What is no number is 0.
///
/// The format of the standard library is not used for floats: it would add 14 KB to a module.
pub fn number_text(value: f64) -> String {
    let Some(Digits { sign, digits, point }) = Digits::of(value) else { return "0".to_owned() };
    match point {
        -5..=21 => format!("{sign}{}", positional(&digits, point)),
        _ => format!("{sign}{}e{:+}", with_first_point(&digits), point - 1),
    }
}

/// A number in its shortest digits: 0.digits times ten to the power of `point`.
pub(crate) struct Digits {
    pub(crate) sign: &'static str,
    pub(crate) digits: String,
    pub(crate) point: i32,
}

impl Digits {
    /// The shortest digits that parse to this number; of two equally near candidates, the one with an even last digit.
    /// `None` for zero.
    pub(crate) fn of(value: f64) -> Option<Self> {
        if value == 0.0 {
            return None;
        }
        // The formats of the standard library choose the larger one of two equally near candidates.
        let shortest = Number::from_f64(value.abs())?.to_string();
        let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let leading = length(&all) - length(significant);
        let point = exponent.parse::<i32>().unwrap_or_default() + length(whole) - leading;
        let digits = significant.trim_end_matches('0').to_owned();
        Some(Self { sign: if value < 0.0 { "-" } else { "" }, digits, point })
    }
}

pub(crate) fn length(digits: &str) -> i32 {
    i32::try_from(digits.len()).unwrap_or(i32::MAX)
}

/// A number without an exponent.
pub(crate) fn positional(digits: &str, point: i32) -> String {
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    if point <= 0 {
        return format!("0.{}{digits}", zeros(-point));
    }
    match digits.split_at_checked(usize::try_from(point).unwrap_or_default()) {
        Some((whole, fraction)) if !fraction.is_empty() => format!("{whole}.{fraction}"),
        Some(_) | None => format!("{digits}{}", zeros(point - length(digits))),
    }
}

/// Digits with a point after the first one.
pub(crate) fn with_first_point(digits: &str) -> String {
    match digits.split_at_checked(1) {
        Some((first, rest)) if !rest.is_empty() => format!("{first}.{rest}"),
        Some(_) | None => digits.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The samples of RFC 8785, appendix B.
    #[test]
    fn numbers_are_written_as_the_rfc_has_them() {
        for (bits, expected) in [
            (0x0000_0000_0000_0000_u64, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5554, "333333333.33333325"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            assert_eq!(number_text(f64::from_bits(bits)), expected, "{bits:x}");
        }
    }
}
