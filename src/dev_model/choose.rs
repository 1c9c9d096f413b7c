//! Which tools a text asks for, and which of its clauses are for which of them.

use super::request::Tool;
use super::words::{are_kin, tells, words};

/// A tool that is to be called for a part of the text.
pub(super) struct Chosen<'a> {
    pub(super) tool: &'a Tool,
    /// The clauses that are for it.
    pub(super) text: String,
}

/// The tools that a text asks for, in their own order: each word asks for the tools that it fits best, by their name before their
/// description, letter by letter before by its root.
pub(super) fn choose<'a>(text: &str, tools: &[&'a Tool]) -> Vec<Chosen<'a>> {
    let known: Vec<Words> = tools.iter().map(|tool| Words::of(tool)).collect();
    let clauses: Vec<(&str, Vec<usize>)> =
        clauses(text).into_iter().map(|clause| (clause, wanted(clause, &known))).collect();
    let mut chosen: Vec<(usize, String)> = Vec::new();
    let mut latest: Vec<usize> = Vec::new();
    let mut waiting = String::new();
    for (clause, wanted) in clauses {
        // A clause that names no tool belongs to the one before, and the first ones to what follows.
        let of = if wanted.is_empty() { &latest } else { &wanted };
        if of.is_empty() {
            waiting += clause;
            continue;
        }
        let waited = std::mem::take(&mut waiting);
        for index in of {
            let text = match chosen.iter_mut().find(|(known, _)| known == index) {
                Some((_, text)) => text,
                None => {
                    chosen.push((*index, waited.clone()));
                    let Some((_, text)) = chosen.last_mut() else { continue };
                    text
                }
            };
            *text += clause;
        }
        if !wanted.is_empty() {
            latest = wanted;
        }
    }
    chosen.sort_by_key(|(index, _)| *index);
    chosen.truncate(MOST_CALLS);
    let is_alone = chosen.len() == 1;
    let chosen = chosen.into_iter().filter_map(|(index, clauses)| {
        let clauses = if is_alone { text } else { &clauses };
        Some(Chosen { tool: tools.get(index)?, text: tidy(clauses) })
    });
    chosen.collect()
}

/// The words of a tool.
struct Words {
    name: Vec<String>,
    description: Vec<String>,
}

impl Words {
    fn of(tool: &Tool) -> Self {
        let name = words(&tool.name).filter(|word| tells(word)).collect();
        let description = words(&tool.description).filter(|word| tells(word)).collect();
        Self { name, description }
    }

    /// How well a word fits, from 0 for not at all.
    fn fit(&self, word: &str) -> u8 {
        let is_same = |known: &String| known == word;
        let is_kin = |known: &String| are_kin(known, word);
        match self {
            _ if self.name.iter().any(is_same) => 4,
            _ if self.description.iter().any(is_same) => 3,
            _ if self.name.iter().any(is_kin) => 2,
            _ if self.description.iter().any(is_kin) => 1,
            _ => 0,
        }
    }
}

/// The tools that a clause asks for, by their numbers.
fn wanted(clause: &str, tools: &[Words]) -> Vec<usize> {
    let mut wanted = Vec::new();
    for word in words(clause).filter(|word| tells(word)) {
        let fits: Vec<u8> = tools.iter().map(|tool| tool.fit(&word)).collect();
        let best = fits.iter().copied().max().unwrap_or_default();
        let count = fits.iter().filter(|fit| **fit == best).count();
        // A word of several descriptions says little.
        if best == 0 || (count > 1 && best != 4) {
            continue;
        }
        for (index, _) in fits.iter().enumerate().filter(|(_, fit)| **fit == best) {
            if !wanted.contains(&index) {
                wanted.push(index);
            }
        }
    }
    wanted
}

/// The clauses of a text, which together are the text.
fn clauses(text: &str) -> Vec<&str> {
    let mut clauses = vec![text];
    for separator in [". ", "? ", "! ", "; ", ", ", "\n", " and ", " then "] {
        clauses =
            clauses.into_iter().flat_map(|clause| clause.split_inclusive(separator)).collect();
    }
    clauses
}

/// A text without what separates its clauses at the ends.
fn tidy(text: &str) -> String {
    let mut text = text.trim();
    loop {
        let before = text;
        text = text.trim_end_matches([',', ';']).trim();
        for word in [" and", " then"] {
            text = text.strip_suffix(word).unwrap_or(text);
        }
        for word in ["and ", "then "] {
            text = text.strip_prefix(word).unwrap_or(text);
        }
        if text == before {
            return text.to_owned();
        }
    }
}

/// The largest number of calls that are made at once.
const MOST_CALLS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<Tool> {
        let tool = |name: &str, description: &str| Tool {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: serde_json::Value::Null,
        };
        vec![
            tool("current_time", "Tells the time."),
            tool(
                "weather",
                "Hands a task to the agent Weather. Forecasts rain and sunshine for places.",
            ),
            tool(
                "calculator",
                "Hands a task to the agent Calculator. Adds, subtracts, multiplies and divides: plus, minus, times.",
            ),
        ]
    }

    #[test]
    fn tools_are_chosen_by_words_each_with_its_clauses() {
        let tools = tools();
        let tools: Vec<&Tool> = tools.iter().collect();
        for (text, expected) in [
            ("Will it rain in Rome?", vec![("weather", "Will it rain in Rome?")]),
            (
                "What is the weather in Rome and in Paris, and what is 12 times 7?",
                vec![
                    ("weather", "What is the weather in Rome and in Paris"),
                    ("calculator", "what is 12 times 7?"),
                ],
            ),
            (
                "I am in Rome. Forecast? Then what time is it; multiply 2 and 3",
                vec![
                    ("current_time", "Then what time is it"),
                    ("weather", "I am in Rome. Forecast?"),
                    ("calculator", "multiply 2 and 3"),
                ],
            ),
            ("Use current_time", vec![("current_time", "Use current_time")]),
            ("Hello, who are you and what can you do?", vec![]),
            ("", vec![]),
        ] {
            let chosen = choose(text, &tools);
            let chosen: Vec<(&str, &str)> =
                chosen.iter().map(|one| (one.tool.name.as_str(), one.text.as_str())).collect();
            assert_eq!(chosen, expected, "{text}");
        }
    }
}
