//! Guesses the template of a task from its words.

use std::collections::BTreeSet;

use super::Template;

impl Template {
    /// Returns the template that the words of a task indicate; none if no template has more of them than all others
    /// together.
    pub fn guess(task: &str) -> Option<Self> {
        let lower = task.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric() && c != '-');
        // A compound may be a sign as a whole or by its parts.
        let words: BTreeSet<&str> =
            words.flat_map(|word| std::iter::once(word).chain(word.split('-'))).collect();
        let named = |template: Self| words.iter().filter(|word| template.is_named_by(word)).count();
        let all: usize = Self::ALL.into_iter().map(named).sum();
        Self::ALL.into_iter().find(|template| 2 * named(*template) > all)
    }

    fn is_named_by(self, word: &str) -> bool {
        let singular = word.strip_suffix('s').unwrap_or(word);
        self.signs().iter().any(|sign| *sign == word || *sign == singular)
    }

    /// Words that indicate one kind of text and are rarely used for another.
    fn signs(self) -> &'static [&'static str] {
        match self {
            Self::Api => &["api", "endpoint", "graphql", "grpc", "openapi", "swagger", "webhook"],
            Self::Code => &[
                "algorithm",
                "class",
                "cli",
                "code",
                "function",
                "implement",
                "implementation",
                "javascript",
                "library",
                "module",
                "parser",
                "program",
                "python",
                "refactor",
                "rust",
                "script",
                "typescript",
            ],
            Self::Docs => &[
                "article",
                "changelog",
                "doc",
                "document",
                "documentation",
                "faq",
                "guide",
                "handbook",
                "how-to",
                "manual",
                "onboarding",
                "readme",
                "runbook",
                "tutorial",
            ],
            Self::Config => &[
                "ansible",
                "compose",
                "config",
                "configuration",
                "configure",
                "dockerfile",
                "env",
                "helm",
                "ini",
                "kubernetes",
                "manifest",
                "nginx",
                "setting",
                "systemd",
                "terraform",
                "toml",
                "yaml",
                "yml",
            ],
            Self::Other => &[],
        }
    }
}
