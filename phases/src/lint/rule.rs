//! The rules: one closed list, with all that is known of each.

use std::fmt;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Some agent refuses the skill, misses a part of it, or does harm with it.
    Error,
    /// It works, but not everywhere or not well.
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

/// How far a finding can be fixed without a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fix {
    /// The repair changes nothing that an agent or a script could miss. A single one may still be a suggestion only.
    Safe,
    /// There is a repair, and a person decides whether it is right.
    Suggested,
    /// There is no repair.
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
        /// What lint looks for.
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
        "An agent finds a skill by a file `SKILL.md` of text in its folder.",
        "Write a `SKILL.md` in UTF-8, with front matter and instructions.";
    MainFileCase: "main-file-case" Warning ByHand PARTS,
        "Only some agents find a `SKILL.md` whose name is in small letters.",
        "Rename the file to `SKILL.md`.";
    FrontMatter: "front-matter" Error ByHand FACTS,
        "An agent reads name and description from a YAML mapping between two lines `---` at the very top.",
        "Begin the file with a line `---`, then `name:` and `description:`, then a line `---`.";
    FrontMatterForm: "front-matter-form" Warning ByHand FACTS,
        "Agents read front matter with parsers of different strictness, and here they come to different results.",
        "Write each value on its key's line, quoted where it holds `: ` or ` #`, and indent with blanks.";
    FrontMatterStrict: "front-matter-strict" Warning ByHand FACTS,
        "Strict readers, the field's reference validator among them, refuse this form of YAML.",
        "Write plain keys and values, a list with one `-` a line, and nothing in brackets or braces.";
    FieldDuplicate: "field-duplicate" Error ByHand AGREEMENT,
        "Of a key given twice one agent takes the first, another the last, and a third refuses the file.",
        "Keep one of them.";
    FieldKind: "field-kind" Warning ByHand FACTS,
        "A value that YAML reads as a number, a date or a yes is no text to an agent that expects text.",
        "Put the value in quotes.";
    FieldPortable: "field-portable" Warning ByHand None,
        "Some agents act on this field; others ignore it or refuse the skill.",
        "Keep it if the skill is for those agents only; else say it in the text.";
    FieldUnknown: "field-unknown" Warning ByHand None,
        "No agent is known to read this field, and strict validators refuse it.",
        "Correct its spelling, or put it under `metadata`.";
    Name: "name" Error ByHand PURPOSE,
        "A name has 1 to 64 small letters, digits and single hyphens between them; other names are refused.",
        "Give it such a name, the same as the folder's.";
    NameFolder: "name-folder" Error Suggested AGREEMENT,
        "A skill is called by its folder's name; validators refuse another one in its front matter.",
        "Write the folder's name after `name:`, or rename the folder.";
    NameReserved: "name-reserved" Warning ByHand None,
        "Names with the name of a vendor or its model are refused where skills are uploaded.",
        "Name the skill after what it does.";
    Description: "description" Error ByHand PURPOSE,
        "An agent picks a skill by its description, and refuses one without.",
        "Say in one to three sentences what the skill does and when to use it.";
    DescriptionLong: "description-long" Error Suggested PURPOSE,
        "A description of more than 1,024 characters is refused.",
        "Keep the sentences that tell when to use the skill, and move the others into its text.";
    DescriptionMarkup: "description-markup" Warning ByHand None,
        "Descriptions with angle brackets are refused where skills are uploaded: they end up in a prompt.",
        "Write the description without `<` and `>`.";
    DescriptionWhen: "description-when" Warning ByHand PURPOSE,
        "A description that tells only what a skill does leaves the agent to guess when it is meant.",
        "Add a sentence that begins with `Use when`, with the words that people use for the task.";
    DescriptionPerson: "description-person" Warning ByHand WORDING,
        "The description stands in the agent's own instructions, where `I` and `you` mean somebody else.",
        "Write it in the third person: `Formats tables`, not `I format tables`.";
    Compatibility: "compatibility" Error ByHand None,
        "A compatibility of more than 500 characters is refused.",
        "Shorten it to what the skill needs to run.";
    ListingCut: "listing-cut" Warning ByHand CONTEXT,
        "An agent's listing shows the first 1,536 characters of `description` and `when_to_use` together.",
        "Shorten the two, with what decides first.";
    ListingBudget: "listing-budget" Warning ByHand CONTEXT,
        "All skills share about 8,000 characters of listing; beyond them only names remain.",
        "Shorten the longest descriptions, or keep fewer skills here.";
    BodyEmpty: "body-empty" Warning ByHand STAGES,
        "A skill without instructions gives an agent nothing that it did not have.",
        "Write what to do, step by step.";
    BodyLong: "body-long" Warning Suggested CONTEXT,
        "The whole body is loaded with the skill, and only about 5,000 tokens of it outlive a long session.",
        "Move what not every task needs into files below `references/`, each linked from here.";
    HeadingJump: "heading-jump" Note Suggested STEPS,
        "A heading that skips a level makes it unclear which part it belongs to.",
        "Raise it to one level below the heading above it.";
    ParagraphRepeated: "paragraph-repeated" Warning Suggested REDUNDANCY,
        "What is said twice is paid for twice, and one day changed only once.",
        "Keep the first, and remove the others.";
    ContentsMissing: "contents-missing" Warning Suggested CONTEXT,
        "An agent that looks at the head of a long file does not learn what else is in it.",
        "Put a list of its sections at the top.";
    LinkDangling: "link-dangling" Error Safe PARTS,
        "The agent looks for this file and does not find it.",
        "Correct the path, or add the file.";
    PathMissing: "path-missing" Warning ByHand PARTS,
        "The text names a file in a folder of the skill, and it is not there.",
        "Correct the path, add the file, or say where it comes from.";
    ReferenceNested: "reference-nested" Warning ByHand CONTEXT,
        "Files named only by other references are often read in part, or not at all.",
        "Name the file in `SKILL.md`, with when to read it.";
    FileOrphan: "file-orphan" Warning ByHand CONTEXT,
        "No text of the skill leads to this file, so no agent opens it.",
        "Name it in `SKILL.md`, or remove it.";
    FileUnread: "file-unread" Note ByHand None,
        "The file is too large to be looked into here, and too large for an agent to read.",
        "Keep in the skill only what a task needs.";
    ScriptMode: "script-mode" Warning Safe FACTS,
        "A script that names its interpreter is run by its path, and that needs the executable bit.",
        "Set the bit: `chmod +x`.";
    PathAbsolute: "path-absolute" Warning ByHand FACTS,
        "The path is right on one machine only.",
        "Write it relative to the skill's folder.";
    PathOutside: "path-outside" Error ByHand PARTS,
        "What is outside of the skill's folder is not there when the skill is installed elsewhere.",
        "Bring the file into the skill's folder.";
    PathOtherSkill: "path-other-skill" Warning ByHand PARTS,
        "Another skill's files may be missing, or change without notice.",
        "Name the other skill instead of its files, or copy what is needed.";
    Secret: "secret" Error ByHand None,
        "Whoever gets the skill gets the key.",
        "Revoke the key, and have the skill read it from the environment.";
    ByteOrderMark: "byte-order-mark" Warning Suggested FACTS,
        "Some agents and every kernel take the mark for a part of the first line.",
        "Save the file as UTF-8 without a byte order mark.";
    LineEndings: "line-endings" Warning Suggested FACTS,
        "Carriage returns hide front matter from some agents, and the interpreter of a script from the kernel.",
        "Save the file with line feeds alone.";
    TrailingBlanks: "trailing-blanks" Note Safe None,
        "Blanks at the ends of lines say nothing and show up in every diff.",
        "Remove them; two blanks that break a line may stay.";
}

impl Rule {
    /// As people and scripts name it.
    pub fn id(self) -> &'static str {
        self.facts().id
    }

    pub fn severity(self) -> Severity {
        self.facts().severity
    }

    pub fn fix(self) -> Fix {
        self.facts().fix
    }

    /// The criterion of the tune contract that a finding is evidence against.
    pub fn criterion(self) -> Option<&'static str> {
        self.facts().criterion
    }

    /// What is bad about it, in one sentence.
    pub fn why(self) -> &'static str {
        self.facts().why
    }

    /// What to do about it, in one sentence.
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
    use crate::contract::CriterionId;
    use crate::rubric;

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
        let published = include_str!("../../../docs/lint.md").lines().filter(is_rule);
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
