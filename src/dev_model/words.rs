//! Words, and which of them mean the same.

/// The words of a text, in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Whether a word says something about what is wanted.
pub(super) fn tells(word: &str) -> bool {
    let is_number = word.chars().all(|letter| letter.is_ascii_digit());
    word.chars().count() > 1
        && !is_number
        && !COMMON.split_whitespace().any(|common| common == word)
}

/// Whether two words have one root, as `calculate` and `calculator`.
pub(super) fn are_kin(one: &str, other: &str) -> bool {
    let shared = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let (one, other) = (one.chars().count(), other.chars().count());
    let (short, long) = (one.min(other), one.max(other));
    // An ending: `add`, `adds`, `adding`.
    let is_ending = shared == short && short > 2 && long - short <= if short < 5 { 3 } else { 4 };
    is_ending || (shared > 4 && shared * 10 >= long * 7)
}

/// The numbers of a text, in order. A comma may stand between thousands.
pub(super) fn numbers(text: &str) -> Vec<f64> {
    let is_part = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ',' | '-');
    let runs = text.split(|letter: char| !is_part(letter));
    let runs = runs.map(|run| run.trim_end_matches(['.', ',', '-']).trim_start_matches([',', '.']));
    runs.filter_map(|run| run.replace(',', "").parse::<f64>().ok()).collect()
}

/// Words that stand in many messages, and in descriptions of many tools.
const COMMON: &str = "a about after again agent agents all also am an and any anything are as ask at be been before but by call can \
    could current did do does find for from get give gives had hand hands has have he hello help her here hi him his how i if in into is \
    it its just know knows let like make makes many may me more much must my name new no not now of on one or other our out please same \
    say says see she should show shows skill skills so some something task tell tells than thank thanks that the their them then there \
    these they thing this to today too tool tools two up us use uses using want was we were what when where which who why will with \
    would you your";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_root_are_kin() {
        for (one, other) in [
            ("add", "adds"),
            ("add", "adding"),
            ("calculate", "calculator"),
            ("translate", "translation"),
            ("weather", "weather"),
            ("forecast", "forecasts"),
        ] {
            assert!(are_kin(one, other) && are_kin(other, one), "{one} {other}");
        }
        for (one, other) in
            [("convert", "conversation"), ("in", "inner"), ("rain", "train"), ("go", "goes")]
        {
            assert!(!are_kin(one, other), "{one} {other}");
        }
    }

    #[test]
    fn numbers_are_found_wherever_they_stand() {
        for (text, found) in [
            ("12 times 7", vec![12.0, 7.0]),
            ("it is -3.5 degrees, or 1,200.", vec![-3.5, 1200.0]),
            ("none - at all...", vec![]),
            ("a2a in v1.2.3", vec![2.0]),
        ] {
            assert_eq!(numbers(text), found, "{text}");
        }
    }

    #[test]
    fn common_words_tell_nothing() {
        assert!(tells("weather") && tells("times"));
        for word in ["the", "12", "x", "please"] {
            assert!(!tells(word), "{word}");
        }
    }
}
