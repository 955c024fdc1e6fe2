//! The keys that `claude plugin eval` knows.

/// Keys of the front matter of `prompt.md` only.
pub(super) const PROMPT: [&str; 6] =
    ["name", "description", "tags", "plugins", "expected_outcome", "schema_version"];

/// Keys for how a case is run.
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

/// Keys at the top of `case.yaml`.
pub(super) const CASE: [&str; 2] = ["description", "plugins"];

/// Keys under `execution` only.
pub(super) const EXECUTION: [&str; 1] = ["prompt"];

/// Keys of every grader.
pub(super) const GRADER: [&str; 5] = ["type", "name", "weight", "arm", "description"];

/// Returns the additional keys of a grader's type.
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
