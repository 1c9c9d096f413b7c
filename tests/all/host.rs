//! A Worker's check of its own agents: mistakes that the build cannot find are reported when the Worker starts, with the
//! file and the line.

use std::fs;
use std::path::Path;

use a2a::model::UnixMillis;
use a2a_agents::AgentTexts;
use a2a_agents::files::Disk;
use a2a_agents::project::{Terms, check};
use a2a_edge::prelude::*;

/// Asks for something.
struct Quiz;

#[settings]
struct QuizSettings {
    answer: String,
    hints: Vec<Hint>,
}

#[settings]
struct Hint {
    text: String,
}

#[async_trait(?Send)]
impl AgentExecutor for Quiz {
    async fn execute(&self, _: &Turn, events: &Events) -> Result<(), ExecutorError> {
        events.complete(None)
    }
}

/// The result of the check for an agent with this table `[executor]`, which begins in line 8 of its file.
fn checked(name: &str, executor: &str) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("host-{name}"));
    let agents = folder.join("agents");
    fs::create_dir_all(&agents).unwrap();
    let about = "name = \"Quiz\"\ndescription = \"Asks.\"\nversion = \"1.0.0\"\ndefault = true\n\n\
                 [[skills]]\nid = \"quiz\"\n";
    fs::write(agents.join("quiz.toml"), format!("{about}[executor]\n{executor}")).unwrap();
    let terms = Terms { may_register: true, now: UnixMillis(0) };
    let checked = check(&Disk::new(folder), terms).map_err(|problems| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    })?;
    let host = Host::new().executor("quiz", |QuizSettings { answer, hints }, _| {
        let texts = hints.into_iter().map(|Hint { text }| text);
        if texts.chain([answer]).all(|text| !text.is_empty()) {
            Ok(Quiz)
        } else {
            Err(Misfit("`answer` must not be empty".to_owned()))
        }
    });
    let checked = AgentTexts::of(&checked).unwrap();
    host.check(checked).map_err(|unreadable| {
        unreadable.to_string().trim_start_matches("the agents cannot be read: ").to_owned()
    })
}

#[test]
fn what_the_build_cannot_know_is_found_with_the_file_the_line_and_the_kinds_there_are() {
    let hints = "[[executor.quiz.hints]]\ntext = \"even\"\n";
    assert_eq!(
        checked("good", &format!("kind = \"quiz\"\n[executor.quiz]\nanswer = \"7\"\n{hints}")),
        Ok(())
    );
    for (name, executor, told) in [
        (
            "kind",
            "kind = \"quizz\"\n[executor.quizz]\nanswer = \"7\"\n".to_owned(),
            "the agent quiz: agents/quiz.toml:9: `executor.kind` there is no kind of executor \"quizz\", did you mean \"quiz\"?; \
             there are: tools, script, remote, http, model, quiz",
        ),
        (
            "key",
            format!("kind = \"quiz\"\n[executor.quiz]\nanswer = \"7\"\nanswers = 2\n{hints}"),
            "the agent quiz: agents/quiz.toml:12: `executor.quiz.answers` unknown field `answers`, did you mean `answer`?; expected `answer` or `hints`",
        ),
        (
            "inner",
            format!("kind = \"quiz\"\n[executor.quiz]\nanswer = \"7\"\n{hints}texts = 1\n"),
            "the agent quiz: agents/quiz.toml:14: `executor.quiz.hints[0].texts` unknown field `texts`, did you mean `text`?; expected `text`",
        ),
        (
            "missing",
            "kind = \"quiz\"\n[executor.quiz]\nanswer = \"7\"\n".to_owned(),
            "the agent quiz: agents/quiz.toml:10: `executor.quiz` missing field `hints`",
        ),
        (
            "bare",
            "kind = \"quiz\"\n".to_owned(),
            "the agent quiz: agents/quiz.toml:9: `executor.quiz` missing field `answer`",
        ),
        (
            "own",
            format!("kind = \"quiz\"\n[executor.quiz]\nanswer = \"\"\n{hints}"),
            "the agent quiz: agents/quiz.toml:11: `executor.quiz.answer` `answer` must not be empty",
        ),
        (
            "built-in",
            "kind = \"tols\"\n".to_owned(),
            "agents/quiz.toml:9: `executor.kind` there is no kind of executor \"tols\", did you mean \"tools\"?; there are: tools, script,",
        ),
    ] {
        let said = checked(name, &executor).expect_err(name);
        assert!(said.starts_with(told), "{said}");
    }
}
