//! Keeps the diagnostics in agreement with the format's reference validator, on everything that it judges.

use super::CLAUDE_CODE;
use crate::skills::lint::reading::diagnostic;
use crate::skills::lint::{Diagnostic, File, Rule};
use crate::skills::skill::strict::{Fault, Field};

/// The rules with a diagnostic exactly when the reference validator refuses.
const JUDGED: [Rule; 10] = [
    Rule::FrontMatter,
    Rule::FrontMatterStrict,
    Rule::FieldDuplicate,
    Rule::FieldPortable,
    Rule::FieldUnknown,
    Rule::Name,
    Rule::NameFolder,
    Rule::Description,
    Rule::DescriptionLong,
    Rule::Compatibility,
];

/// Reports lint's own diagnostics unless the validator accepts the file, and the validator's where lint has none.
pub(super) fn agree(file: &File, faults: &[Fault], ours: Vec<Diagnostic>, out: &mut Vec<Diagnostic>) {
    for found in ours {
        if !faults.is_empty() || !JUDGED.contains(&found.rule) {
            out.push(found);
        } else if found.rule == Rule::FrontMatter {
            // The validator reads front matter that other parsers do not.
            out.push(Diagnostic { rule: Rule::FrontMatterForm, ..found });
        }
    }
    for fault in faults {
        if !out.iter().any(|found| found.rule == rule(fault)) {
            out.push(diagnostic(rule(fault), file, fault.line(), fault.to_string()));
        }
    }
}

fn rule(fault: &Fault) -> Rule {
    match fault {
        Fault::NotOpened
        | Fault::NotClosed
        | Fault::Oversized
        | Fault::Unprintable { .. }
        | Fault::NotYaml { .. }
        | Fault::NotMapping => Rule::FrontMatter,
        Fault::Refused { .. } => Rule::FrontMatterStrict,
        Fault::Repeated { .. } => Rule::FieldDuplicate,
        Fault::Unknown { key, .. } if CLAUDE_CODE.contains(&key.as_str()) => Rule::FieldPortable,
        Fault::Unknown { .. } => Rule::FieldUnknown,
        Fault::Missing(field) | Fault::NoText { field, .. } => match field {
            Field::Name => Rule::Name,
            Field::Description => Rule::Description,
            Field::Compatibility => Rule::Compatibility,
        },
        Fault::TooLong { field, .. } => match field {
            Field::Name => Rule::Name,
            Field::Description => Rule::DescriptionLong,
            Field::Compatibility => Rule::Compatibility,
        },
        Fault::NotLowercase { .. }
        | Fault::OuterHyphen { .. }
        | Fault::DoubleHyphen { .. }
        | Fault::NotLetter { .. } => Rule::Name,
        Fault::NotFolder { .. } => Rule::NameFolder,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::base::material::Body;
    use crate::skills::lint::{Files, lint};
    use crate::skills::skill::strict::strict;

    #[derive(Deserialize)]
    struct Case {
        folder: String,
        skill_md: String,
    }

    #[test]
    fn on_every_recorded_front_matter_lint_judges_as_the_strict_reading_does() {
        let recorded = include_str!("../../../../../fixtures/frontmatter/cases.jsonl");
        let cases: Vec<Case> =
            recorded.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(cases.len() > 500);
        for Case { folder, skill_md } in cases {
            let refused = !strict(&skill_md, &folder).is_empty();
            let main =
                File { path: "SKILL.md".into(), body: Body::Text(skill_md.clone()), executable: false };
            let found = lint(&Files::new(folder, [main]));
            let judged: Vec<_> = found.iter().filter(|found| JUDGED.contains(&found.rule)).collect();
            assert_eq!(!judged.is_empty(), refused, "{skill_md:?}\n{judged:?}");
        }
    }
}
