//! A first suite: one scenario with a user's task, and every other setting of a scenario as a comment.
//!
//! A line that begins with `#` and no space is a setting that can be uncommented.

/// Returns the whole file.
pub fn stub(task: &str) -> String {
    format!("{HEAD}description = {}\n{REST}", toml::Value::String(task.to_owned()))
}

const HEAD: &str = r#"# Tasks to try a skill on: `skilltune tune SKILL --suite suite.toml`. More tasks give stronger evidence.

[[scenarios]]

# The scenario's name in reports: letters, digits, `-` and `_`.
id = "first"

# The task, in the words of someone who uses the skill.
"#;

const REST: &str = r#"
# Requirements that the result must meet.
#requirements = ["at most 100 words", "no title"]

# What makes a result good, in one sentence.
#success_criteria = "someone new to the topic understands the result"

# Arguments to call the skill with.
#input_args = "--short"

# The command that the built-in agent runs instead of reading the task: a program and its arguments, without a shell.
# {skill} is the skill's folder, {input} the output of the previous skill in a chain. Needs `skilltune trust suite.toml`.
#command = ["sh", "{skill}/scripts/run.sh", "{input}"]

# What the executor may use: "files", or "shell" to run commands too. Needs `skilltune trust suite.toml`.
#tools = "shell"

# Start the next scenario with another [[scenarios]].
"#;

#[cfg(test)]
mod tests {
    use skilltune_phases::suites::scenario::Scenario;

    use super::*;
    use crate::inputs::suite::{SHELL, SUITE_FILE, Suite};

    fn read(text: &str) -> Suite {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SUITE_FILE);
        std::fs::write(&path, text).unwrap();
        Suite::read(&path).unwrap()
    }

    #[test]
    fn as_it_is_written_it_is_a_suite_of_the_task_and_runs_nothing() {
        for task in ["Write a haiku", "\"quoted\" '''and''' \\ \n[[scenarios]]\n", "# 俳句"] {
            let suite = read(&stub(task));
            assert_eq!(suite.scenarios, [Scenario::new("first".parse().unwrap(), task)]);
            assert!(suite.programs().is_empty());
        }
    }

    #[test]
    fn switched_on_every_line_of_it_is_understood() {
        let line = |line: &str| match line.strip_prefix('#') {
            Some(setting) if !setting.starts_with(' ') => format!("{setting}\n"),
            _ => format!("{line}\n"),
        };
        let suite = read(&stub("Write a haiku").lines().map(line).collect::<String>());
        let [scenario] = &suite.scenarios[..] else { panic!("one scenario: {suite:?}") };
        assert_eq!((scenario.requirements.len(), scenario.input_args.as_str()), (2, "--short"));
        assert_ne!(
            scenario.success_criteria,
            Scenario::new("first".parse().unwrap(), "Write a haiku").success_criteria
        );
        assert_eq!(suite.programs(), ["sh", SHELL]);
    }
}
