//! Keys that should not be in a file. What is found is never shown, only its kind and its place.

use super::reading::{Reading, finding};
use super::{Finding, Rule};

/// How a kind of key begins, and how long it is at least behind that.
const SHAPES: [(&str, usize, &str); 27] = [
    ("AKIA", 16, "an AWS access key"),
    ("ASIA", 16, "an AWS access key"),
    ("AIza", 35, "a Google API key"),
    ("ghp_", 36, "a GitHub token"),
    ("gho_", 36, "a GitHub token"),
    ("ghu_", 36, "a GitHub token"),
    ("ghs_", 36, "a GitHub token"),
    ("ghr_", 36, "a GitHub token"),
    ("github_pat_", 60, "a GitHub token"),
    ("glpat-", 20, "a GitLab token"),
    ("sk-ant-", 40, "an Anthropic API key"),
    ("sk-proj-", 40, "an OpenAI API key"),
    ("sk-or-v1-", 40, "an OpenRouter API key"),
    ("sk-", 40, "an API key"),
    ("sk_live_", 20, "a Stripe secret key"),
    ("rk_live_", 20, "a Stripe restricted key"),
    ("xoxb-", 20, "a Slack token"),
    ("xoxp-", 20, "a Slack token"),
    ("xoxa-", 20, "a Slack token"),
    ("xoxs-", 20, "a Slack token"),
    ("xapp-", 20, "a Slack token"),
    ("npm_", 36, "an npm token"),
    ("pypi-", 80, "a PyPI token"),
    ("hf_", 34, "a Hugging Face token"),
    ("dop_v1_", 60, "a DigitalOcean token"),
    ("shpat_", 32, "a Shopify token"),
    ("lin_api_", 32, "a Linear API key"),
];

pub(super) fn check(reading: &Reading, out: &mut Vec<Finding>) {
    for (_, file, text) in reading.texts() {
        let mut places: Vec<(usize, &str)> = keys(text).collect();
        places.extend(blocks(text));
        places.sort_unstable();
        let (mut line, mut counted) = (1, 0);
        for (at, kind) in places {
            line += text[counted..at].matches('\n').count();
            counted = at;
            out.push(finding(Rule::Secret, file, line, format!("possible secret: {kind}")));
        }
    }
}

fn keys(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let runs = text.as_bytes().split(move |byte| !part(byte)).filter(|run| run.len() >= 20);
    let start = text.as_ptr() as usize;
    runs.filter_map(move |run| Some((run.as_ptr() as usize - start, kind(std::str::from_utf8(run).ok()?)?)))
}

fn kind(run: &str) -> Option<&'static str> {
    let shape = SHAPES
        .iter()
        .find(|(prefix, length, _)| run.len() >= prefix.len() + length && run.starts_with(prefix));
    let (prefix, length, kind) = shape?;
    let key = &run[prefix.len()..];
    // AWS keys have one length; longer runs of capitals are words.
    let fits = !matches!(*prefix, "AKIA" | "ASIA")
        || key.len() == *length && key.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    (fits && is_random(key)).then_some(*kind)
}

/// Examples repeat themselves or say that they are examples; words have no digits.
fn is_random(key: &str) -> bool {
    let mut seen = [false; 128];
    key.bytes().for_each(|byte| seen[usize::from(byte & 127)] = true);
    let small = key.to_ascii_lowercase();
    seen.iter().filter(|seen| **seen).count() >= 10
        && key.bytes().any(|byte| byte.is_ascii_digit())
        && !["example", "xxxx", "your", "placeholder", "0123456789abcdef0123"]
            .iter()
            .any(|word| small.contains(word))
}

fn blocks(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let begin = text.match_indices("-----BEGIN ");
    let is_private = |rest: &str| rest.lines().next().is_some_and(|line| line.contains("PRIVATE KEY"));
    begin.filter(move |(at, _)| is_private(&text[*at..])).map(|(at, _)| (at, "a private key"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, skill};
    use super::*;

    // Put together here, so that nobody takes this file for one with keys in it.
    fn random(length: usize) -> String {
        "a1B2c3D4e5F6g7H8i9J0".chars().cycle().take(length).collect()
    }

    #[test]
    fn keys_are_found_in_any_file_and_not_shown() {
        let key = ["ghp", "_", &random(36)].concat();
        let block = ["-----BEGIN RSA ", "PRIVATE KEY-----"].concat();
        let files = skill(&format!("Use `{key}`.\n")).with("x.env", &format!("A=1\n\nKEY={key}\n{block}\n"));
        let told = found(&files, Rule::Secret);
        assert_eq!(
            told,
            [
                "SKILL.md:5: possible secret: a GitHub token",
                "x.env:3: possible secret: a GitHub token",
                "x.env:4: possible secret: a private key"
            ]
        );
        assert!(!told.concat().contains(&key));
    }

    #[test]
    fn every_shape_is_found() {
        for (prefix, length, wanted) in SHAPES {
            let key = format!("{prefix}{}", random(length)).replace("AWS", "");
            let key = if wanted.contains("AWS") { key.to_uppercase() } else { key };
            assert_eq!(kind(&key), Some(wanted), "{prefix}");
        }
    }

    #[test]
    fn examples_and_words_are_no_keys() {
        let examples = [
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            format!("ghp_{}", "x".repeat(36)),
            format!("sk-{}", "your-key-goes-here-".repeat(3)),
            "sk-a-very-long-name-of-a-class-in-a-style-sheet-of-words".to_owned(),
            format!("AKIA{}", random(17).to_uppercase()),
        ];
        for example in examples {
            assert_eq!(kind(&example), None, "{example}");
        }
    }
}
