//! Slugs: the names by which agents are called, as the first segment of their paths and as tenants.

/// Checks the slug of an agent: lower-case letters, digits and `-`, beginning with a letter, at most
/// `MAX_CHARS`, and no word that the Worker has a use for in its own paths, now or later.
///
/// # Errors
///
/// What it must be, to be read behind the name of the thing that holds it.
pub fn check_slug(slug: &str) -> Result<(), String> {
    if RESERVED.contains(&slug) {
        return Err(format!("must not be {slug:?}, which the server keeps for itself"));
    }
    let mut letters = slug.chars();
    let begins_well = letters.next().is_some_and(|letter| letter.is_ascii_lowercase());
    let goes_on_well = letters
        .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-');
    if begins_well && goes_on_well && slug.len() <= MAX_CHARS {
        return Ok(());
    }
    let rule = "lower-case letters, digits and `-`, beginning with a letter";
    Err(format!("must be {rule}, at most {MAX_CHARS}"))
}

/// The longest slug.
const MAX_CHARS: usize = 63;

/// Words that begin paths of the Worker itself, or will.
const RESERVED: [&str; 15] = [
    "_dev",
    "a2a",
    "agent",
    "agents",
    "assets",
    "callbacks",
    "card",
    "console",
    "extended-agent-card",
    "health",
    "mcp",
    "message",
    "subscribe",
    "tasks",
    "v1",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_words_of_small_letters_that_nothing_else_uses() {
        let longest = "a".repeat(63);
        for slug in ["demo", "a", "agent-2", "mcp-demo", &longest] {
            assert_eq!(check_slug(slug), Ok(()));
        }
        let too_long = "a".repeat(64);
        for slug in ["", "Demo", "2nd", "-a", "a_b", "a.b", "ä", &too_long] {
            let refused = check_slug(slug).expect_err(slug);
            assert!(refused.starts_with("must be lower-case letters"), "{refused}");
        }
        for slug in [
            "mcp",
            "a2a",
            "subscribe",
            "agent",
            "agents",
            "console",
            "callbacks",
            "_dev",
            "v1",
            "tasks",
        ] {
            let refused = check_slug(slug).expect_err(slug);
            assert!(refused.starts_with(&format!("must not be \"{slug}\"")), "{refused}");
        }
    }
}
