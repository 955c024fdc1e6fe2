//! The rules: one closed list, with everything about each.

use std::fmt;

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Some agent rejects the skill, misses a part of it, or does harm with it.
    Error,
    /// The skill works, but not everywhere or not well.
    Warning,
    /// Worth knowing.
    Note,
}

impl Severity {
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Note];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Whether lint can fix a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fix {
    /// The fix cannot change what an agent or a script does. A single diagnostic may still get a suggestion only.
    Safe,
    /// There is a fix, and a person decides whether it is right.
    Suggested,
    /// There is no fix.
    ByHand,
}

impl Fix {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Suggested => "suggestion",
            Self::ByHand => "by-hand",
        }
    }
}

struct Facts {
    id: &'static str,
    severity: Severity,
    fix: Fix,
    criterion: Option<&'static str>,
    why: &'static str,
    how: &'static str,
}

macro_rules! rules {
    ($($name:ident: $id:literal $severity:ident $fix:ident $criterion:expr, $why:literal, $how:literal;)*) => {
        /// A check that lint makes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $($name,)* }

        impl Rule {
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            fn facts(self) -> Facts {
                match self {
                    $(Self::$name => Facts {
                        id: $id,
                        severity: Severity::$severity,
                        fix: Fix::$fix,
                        criterion: $criterion,
                        why: $why,
                        how: $how,
                    },)*
                }
            }
        }
    };
}

const PURPOSE: Option<&str> = Some("clarity.purpose");
const WORDING: Option<&str> = Some("clarity.wording");
const STEPS: Option<&str> = Some("clarity.steps");
const STAGES: Option<&str> = Some("completeness.stages");
const PARTS: Option<&str> = Some("completeness.parts");
const AGREEMENT: Option<&str> = Some("correctness.agreement");
const FACTS: Option<&str> = Some("correctness.facts");
const REDUNDANCY: Option<&str> = Some("efficiency.redundancy");
const CONTEXT: Option<&str> = Some("efficiency.context");

rules! {
    MainFile: "main-file" Error ByHand PARTS,
        "Agents look for a text file named `SKILL.md` in the skill's folder.",
        "Write a `SKILL.md` in UTF-8, with front matter and instructions.";
    MainFileCase: "main-file-case" Warning ByHand PARTS,
        "Some agents do not find a `SKILL.md` with a lower-case name.",
        "Rename the file to `SKILL.md`.";
    FrontMatter: "front-matter" Error ByHand FACTS,
        "Agents read the name and description from a YAML mapping between two `---` lines at the top of the file.",
        "Start the file with a `---` line, then `name:` and `description:`, then another `---` line.";
    FrontMatterForm: "front-matter-form" Warning ByHand FACTS,
        "Agents use different YAML parsers, and those disagree about this front matter.",
        "Put each value on the line of its key, quote values that contain `: ` or ` #`, and indent with spaces.";
    FrontMatterStrict: "front-matter-strict" Warning ByHand FACTS,
        "Strict parsers, such as the reference validator, reject this form of YAML.",
        "Use plain keys and values, write lists with one `-` per line, and avoid brackets and braces.";
    FieldDuplicate: "field-duplicate" Error ByHand AGREEMENT,
        "Some agents use the first value of a duplicate key, some the last, and some reject the file.",
        "Remove the duplicate key.";
    FieldKind: "field-kind" Warning ByHand FACTS,
        "YAML reads this value as a number, a date or a boolean, but agents expect text.",
        "Quote the value.";
    FieldPortable: "field-portable" Warning ByHand None,
        "Only some agents support this field; others ignore it or reject the skill.",
        "Keep it if only those agents use the skill; otherwise move its content into the text.";
    FieldUnknown: "field-unknown" Warning ByHand None,
        "No known agent reads this field, and strict validators reject it.",
        "Fix its spelling, or move it under `metadata`.";
    Name: "name" Error ByHand PURPOSE,
        "A name has 1 to 64 lower-case letters, digits and single inner hyphens; agents reject other names.",
        "Rename the skill and its folder to such a name.";
    NameFolder: "name-folder" Error Suggested AGREEMENT,
        "Agents call a skill by its folder's name, and validators reject a different name in the front matter.",
        "Set `name:` to the folder's name, or rename the folder.";
    NameReserved: "name-reserved" Warning ByHand None,
        "Upload services reject names that contain the name of a vendor or a model.",
        "Name the skill after what it does.";
    Description: "description" Error ByHand PURPOSE,
        "Agents choose a skill by its description, and reject a skill without one.",
        "Write one to three sentences about what the skill does and when to use it.";
    DescriptionLong: "description-long" Error Suggested PURPOSE,
        "Agents reject descriptions of more than 1,024 characters.",
        "Keep the sentences about when to use the skill, and move the others into the body.";
    DescriptionMarkup: "description-markup" Warning ByHand None,
        "Upload services reject descriptions with angle brackets, because the description becomes part of a prompt.",
        "Remove `<` and `>` from the description.";
    DescriptionWhen: "description-when" Warning ByHand PURPOSE,
        "Without a hint about when to use the skill, the agent has to guess.",
        "Add a sentence that starts with `Use when` and contains the words people use for the task.";
    DescriptionPerson: "description-person" Warning ByHand WORDING,
        "The description becomes part of the agent's instructions, where `I` and `you` mean someone else.",
        "Use the third person: `Formats tables`, not `I format tables`.";
    Compatibility: "compatibility" Error ByHand None,
        "Agents reject a `compatibility` field of more than 500 characters.",
        "Keep only what the skill needs to run.";
    ListingCut: "listing-cut" Warning ByHand CONTEXT,
        "Agents list only the first 1,536 characters of `description` and `when_to_use` together.",
        "Shorten both fields, and put the most important words first.";
    ListingBudget: "listing-budget" Warning ByHand CONTEXT,
        "All skills together get about 8,000 characters in the agent's list; beyond that it shows only names.",
        "Shorten the longest descriptions, or remove skills from this folder.";
    BodyEmpty: "body-empty" Warning ByHand STAGES,
        "A skill without instructions does not help an agent.",
        "Write step-by-step instructions.";
    BodyLong: "body-long" Warning Suggested CONTEXT,
        "Agents load the whole body, and keep only about 5,000 tokens of it in a long session.",
        "Move details that only some tasks need into files in `references/`, and link to them.";
    HeadingJump: "heading-jump" Note Suggested STEPS,
        "When a heading skips a level, it is unclear which section it belongs to.",
        "Make it one level below the heading above it.";
    ParagraphRepeated: "paragraph-repeated" Warning Suggested REDUNDANCY,
        "Duplicates cost tokens and drift apart.",
        "Keep the first copy and remove the others.";
    ContentsMissing: "contents-missing" Warning Suggested CONTEXT,
        "An agent that reads only the top of a long file does not see what else it contains.",
        "Add a table of contents at the top.";
    LinkDangling: "link-dangling" Error Safe PARTS,
        "The agent cannot find this file.",
        "Fix the path, or add the file.";
    PathMissing: "path-missing" Warning ByHand PARTS,
        "A command of the skill runs this file, but it does not exist.",
        "Fix the path, or add the file.";
    ReferenceNested: "reference-nested" Warning ByHand CONTEXT,
        "Agents often skip or only skim files that `SKILL.md` does not name.",
        "Name the file in `SKILL.md`, and say when to read it.";
    FileOrphan: "file-orphan" Warning ByHand CONTEXT,
        "Agents do not open files that the skill never mentions.",
        "Mention it in `SKILL.md`, or delete it.";
    FileUnread: "file-unread" Note ByHand None,
        "The file is too large for lint to check and for an agent to read.",
        "Keep only files that a task needs.";
    ScriptMode: "script-mode" Warning Safe FACTS,
        "A script with a `#!` line is run by its path, and needs the executable bit.",
        "Run `chmod +x` on it.";
    PathAbsolute: "path-absolute" Warning ByHand FACTS,
        "The path exists only on one machine.",
        "Use a path relative to the skill's folder.";
    PathOutside: "path-outside" Error ByHand PARTS,
        "Files outside the skill's folder are missing when the skill is installed elsewhere.",
        "Move the file into the skill's folder.";
    PathOtherSkill: "path-other-skill" Warning ByHand PARTS,
        "Files of another skill may be missing or change without notice.",
        "Refer to the other skill by name, or copy the file.";
    Secret: "secret" Error ByHand None,
        "Everyone who gets the skill gets the key.",
        "Revoke the key, and read it from the environment instead.";
    AnswerKey: "answer-key" Warning ByHand None,
        "An agent that reads the file finds the answers to the skill's own tests, so the tests show nothing.",
        "Keep tasks and their answers together only below `evals/`.";
    ByteOrderMark: "byte-order-mark" Warning Suggested FACTS,
        "Some agents, and every kernel, treat the byte order mark as part of the first line.",
        "Save the file as UTF-8 without a byte order mark (BOM).";
    LineEndings: "line-endings" Warning Suggested FACTS,
        "With carriage returns, some agents cannot read front matter and the kernel cannot run scripts.",
        "Save the file with LF line endings.";
    TrailingBlanks: "trailing-blanks" Note Safe None,
        "Trailing spaces do nothing and add noise to diffs.",
        "Remove them, except two spaces that break a line.";
    Spec: "spec" Error ByHand None,
        "The reference validator of the Agent Skills specification rejects this skill.",
        "Change what the message names; the specification knows six fields, and everything else goes under `metadata`.";
}

impl Rule {
    /// Returns the name for people and scripts.
    pub fn id(self) -> &'static str {
        self.facts().id
    }

    pub fn severity(self) -> Severity {
        self.facts().severity
    }

    pub fn fix(self) -> Fix {
        self.facts().fix
    }

    /// Returns true if diagnostics are shown only to users who ask for this rule.
    pub fn is_optional(self) -> bool {
        self == Self::ContentsMissing
    }

    /// Returns the criterion of the tune contract that a diagnostic is evidence against.
    pub fn criterion(self) -> Option<&'static str> {
        self.facts().criterion
    }

    /// Returns why it is a problem, in one sentence.
    pub fn why(self) -> &'static str {
        self.facts().why
    }

    /// Returns how to fix it, in one sentence.
    pub fn how(self) -> &'static str {
        self.facts().how
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::judging::contract::CriterionId;
    use crate::judging::rubric;

    #[test]
    fn every_rule_has_an_id_of_its_own_in_small_letters_and_hyphens() {
        let ids: BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), Rule::ALL.len());
        for id in ids {
            assert!(
                id.split('-').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase()))
            );
        }
    }

    #[test]
    fn every_rule_says_why_and_how_in_one_sentence_each() {
        for rule in Rule::ALL {
            for text in [rule.why(), rule.how()] {
                assert!(text.ends_with('.') && !text.contains(". "), "{rule}: {text}");
            }
        }
    }

    #[test]
    fn the_published_table_is_that_of_the_code() {
        let row = |rule: &Rule| {
            let fix = match rule.fix() {
                Fix::Safe => "`--fix`",
                Fix::Suggested => "suggestion",
                Fix::ByHand => "hand",
            };
            format!("| `{rule}` | {} | {} | {} | {fix} |", rule.severity(), rule.why(), rule.how())
        };
        let is_rule = |line: &&str| line.starts_with("| `") && line.matches(" | ").count() == 4;
        let published = include_str!("../../../../docs/lint.md").lines().filter(is_rule);
        assert_eq!(published.collect::<Vec<_>>(), Rule::ALL.iter().map(row).collect::<Vec<_>>());
    }

    #[test]
    fn every_criterion_named_is_one_of_the_tune_contract() {
        let contract = rubric::tune();
        for criterion in Rule::ALL.iter().filter_map(|rule| rule.criterion()) {
            assert!(contract.criterion(&CriterionId::from(criterion)).is_some(), "{criterion}");
        }
    }
}
