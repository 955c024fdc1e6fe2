//! The keys that `claude plugin eval` knows.

/// In the front matter of `prompt.md` alone.
pub(super) const PROMPT: [&str; 6] =
    ["name", "description", "tags", "plugins", "expected_outcome", "schema_version"];

/// How a case is run.
pub(super) const SETTINGS: [&str; 10] = [
    "runs",
    "model",
    "max_turns",
    "timeout_seconds",
    "allowed_tools",
    "disallowed_tools",
    "append_system_prompt",
    "env",
    "artifact_publish",
    "growthbook_overrides",
];

/// At the top of `case.yaml`.
pub(super) const CASE: [&str; 2] = ["description", "plugins"];

/// Under `execution` alone.
pub(super) const EXECUTION: [&str; 1] = ["prompt"];

/// What every grader may have.
pub(super) const GRADER: [&str; 5] = ["type", "name", "weight", "arm", "description"];

/// What a grader of a type may have besides.
pub(super) fn of_grader(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "regex" => &["pattern", "flags", "match", "target"],
        "tool_used" => &["tool", "input_match", "min", "max"],
        "tool_order" => &["before", "after"],
        "file_exists" => &["path", "exists"],
        "llm" => &["criteria", "focus"],
        "baseline" => &["baseline_file", "criteria"],
        _ => return None,
    })
}
