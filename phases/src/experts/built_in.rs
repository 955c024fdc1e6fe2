//! The experts that are part of the program.

use super::{Expert, Format};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../experts/", $name, ".md"))),)*]
    };
}

const FILES: &[(&str, &str)] = files![
    "architect",
    "backend-developer",
    "frontend-developer",
    "designer",
    "qa-engineer",
    "devops-engineer",
    "product-planner",
    "researcher",
    "technical-writer",
    "security-reviewer",
    "performance-reviewer",
    "quality-reviewer",
];

/// Returns the built-in experts: first those with a role, then the reviewers.
pub fn built_in() -> Vec<Expert> {
    FILES.iter().map(read).collect()
}

/// Returns the expert that drafts the files of new ones. It is in no list, because its answer is only such a file.
pub fn writer() -> Expert {
    read(&files!["persona-writer"][0])
}

/// Returns the expert that drafts specifications. It is in no list either.
pub fn specifier() -> Expert {
    read(&files!["specification-writer"][0])
}

fn read((name, text): &(&str, &str)) -> Expert {
    Expert::read(text.as_bytes(), name, Format::Markdown).expect("each built-in expert is tested")
}
