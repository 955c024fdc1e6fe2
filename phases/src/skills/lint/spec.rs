//! The diagnostics of the specification's reference validator, and nothing else.

use super::reading::{Reading, diagnostic};
use super::{Diagnostic, File, Files, Rule};
use crate::base::material::Body;
use crate::skills::skill::strict::strict;

/// Returns every reason why the validator refuses the skill; it accepts a skill without diagnostics.
pub fn spec(files: &Files) -> Vec<Diagnostic> {
    let missing =
        File { path: super::reading::MAIN.to_owned(), body: Body::Binary { bytes: 0 }, executable: false };
    let Some(main) = Reading::main_of(files).map(|at| &files.files()[at]) else {
        return vec![diagnostic(Rule::Spec, &missing, None, "SKILL.md is missing")];
    };
    let Some(page) = main.text() else {
        return vec![diagnostic(Rule::Spec, main, None, "the file is not UTF-8 text")];
    };
    let faults = strict(page, files.folder());
    faults.iter().map(|fault| diagnostic(Rule::Spec, main, fault.line(), fault.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::skill;
    use super::*;

    fn refusals(folder: &str, front: &str) -> String {
        let main = |text: String| File { path: "SKILL.md".into(), body: Body::Text(text), executable: false };
        let found = spec(&Files::new(folder, [main(format!("---\n{front}---\nBody\n"))]));
        found.into_iter().map(|one| one.message).collect::<Vec<_>>().join(" | ")
    }

    /// The cases from the validator's own published tests.
    #[test]
    fn it_refuses_what_the_published_validator_refuses() {
        let long = |text: &str, count| text.repeat(count);
        let name = |name: &str| format!("name: {name}\ndescription: A test skill\n");
        let with = |more: &str| name("my-skill") + more;
        let cases = [
            ("my-skill", with(""), ""),
            ("MySkill", name("MySkill"), "not lower-case"),
            (&long("a", 70), name(&long("a", 70)), "the limit is 64"),
            ("-my-skill", name("-my-skill"), "starts or ends with a hyphen"),
            ("my--skill", name("my--skill"), "two hyphens in a row"),
            ("my_skill", name("my_skill"), "contains '_'"),
            ("wrong-name", name("correct-name"), "differs from its folder"),
            ("my-skill", with("unknown_field: x\n"), "unknown field"),
            ("my-skill", with("argument-hint: x\n"), "unknown field"),
            ("my-skill", with("version: 1.0\n"), "unknown field"),
            ("my-skill", with("license: MIT\nmetadata:\n  author: Test\n"), ""),
            ("my-skill", with("allowed-tools: Bash(jq:*) Bash(git:*)\n"), ""),
            ("技能", name("技能"), ""),
            ("мой-навык", name("мой-навык"), ""),
            ("НАВЫК", name("НАВЫК"), "not lower-case"),
            ("my-skill", format!("name: my-skill\ndescription: {}\n", long("x", 1100)), "the limit is 1024"),
            ("my-skill", with("compatibility: Requires Python 3.11+\n"), ""),
            ("my-skill", with(&format!("compatibility: {}\n", long("x", 550))), "the limit is 500"),
            ("café", name("cafe\u{301}"), ""),
            ("my-skill", "name: my-skill\n".to_owned(), "`description` is missing"),
        ];
        for (folder, front, wanted) in cases {
            let said = refusals(folder, &front);
            assert!(said.contains(wanted) && said.is_empty() == wanted.is_empty(), "{front}: {said}");
        }
    }

    #[test]
    fn it_reads_the_page_in_small_letters_and_nothing_but_the_front_matter() {
        assert_eq!(spec(&Files::new("demo", []))[0].message, "SKILL.md is missing");
        let page = skill("[gone](gone.md)\n").text("SKILL.md").to_owned();
        let small = File { path: "skill.md".into(), body: Body::Text(page), executable: false };
        assert_eq!(spec(&Files::new("demo", [small])), []);
    }
}
