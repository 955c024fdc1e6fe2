//! Keys that should not be in a file. A found key is never shown, only its kind and place.

use super::reading::{Reading, diagnostic};
use super::{Diagnostic, Rule};

/// The prefix of a kind of key, the minimum length after it, and the kind.
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

pub(super) fn check(reading: &Reading, out: &mut Vec<Diagnostic>) {
    for (_, file, text) in reading.texts() {
        let mut places: Vec<(usize, &str)> = keys(text).collect();
        places.extend(blocks(text));
        places.sort_unstable();
        let (mut line, mut counted) = (1, 0);
        for (at, kind) in places {
            line += text[counted..at].matches('\n').count();
            counted = at;
            out.push(diagnostic(Rule::Secret, file, line, format!("possible secret: {kind}")));
        }
    }
}

/// Replaces every key in a text, for texts that are stored and shown.
pub fn without_keys(text: &str, with: &str) -> String {
    let (mut clean, mut done) = (String::with_capacity(text.len()), 0);
    for (at, key) in likely_keys(text) {
        clean.push_str(&text[done..at]);
        clean.push_str(with);
        done = at + key.len();
    }
    clean + &text[done..]
}

/// Returns every key in the text and its place; keys do not overlap.
pub fn likely_keys(text: &str) -> Vec<(usize, &str)> {
    let runs = keys(text).map(|(at, _)| (at, end_of_run as fn(&str) -> usize));
    let mut places: Vec<_> = runs.chain(blocks(text).map(|(at, _)| (at, end_of_block as _))).collect();
    places.sort_unstable_by_key(|(at, _)| *at);
    let (mut found, mut done) = (Vec::new(), 0);
    for (at, end) in places {
        // The ends are searched one after the other, so that a text full of prefixes needs only linear time.
        if at >= done {
            done = at + end(&text[at..]);
            found.push((at, &text[at..done]));
        }
    }
    found
}

fn end_of_run(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(text.len())
}

/// Returns the end of a private key, or of the text if the key is cut off.
fn end_of_block(text: &str) -> usize {
    const END: &str = "-----END ";
    let after_mark = |rest: &str| rest.find("-----").map_or(rest.len(), |mark| mark + "-----".len());
    text.split_once(END).map_or(text.len(), |(key, rest)| key.len() + END.len() + after_mark(rest))
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

/// Returns true for random keys. Examples repeat characters, count up or say that they are examples; words have no
/// digits.
fn is_random(key: &str) -> bool {
    let mut seen = [false; 128];
    key.bytes().for_each(|byte| seen[usize::from(byte & 127)] = true);
    let small = key.to_ascii_lowercase();
    seen.iter().filter(|seen| **seen).count() >= 10
        && key.bytes().any(|byte| byte.is_ascii_digit())
        && !counts_up(small.as_bytes())
        && !["example", "xxxx", "your", "placeholder", "0123456789abcdef0123"]
            .iter()
            .any(|word| small.contains(word))
}

/// Returns true if most characters follow the previous one or the one before it, as in `abc123` and `a1b2c3`.
fn counts_up(key: &[u8]) -> bool {
    let follows = |at: &usize| (1..=2).any(|back| *at >= back && key[at - back] + 1 == key[*at]);
    (0..key.len()).filter(follows).count() * 2 > key.len()
}

fn blocks(text: &str) -> impl Iterator<Item = (usize, &'static str)> {
    let begin = text.match_indices("-----BEGIN ");
    begin.filter(move |(at, _)| is_private_key(&text[*at..])).map(|(at, _)| (at, "a private key"))
}

/// The number of base64 characters in the smallest private keys.
const SMALLEST_KEY: usize = 60;
/// Partial lines of base64 are longer than words.
const SMALLEST_RUN: usize = 20;

/// Returns true if a key follows its opening mark. A search pattern and an example have the mark but no key.
fn is_private_key(block: &str) -> bool {
    const LABEL: &str = "PRIVATE KEY-----";
    // No label is longer, so a text full of prefixes needs only linear time.
    const LONGEST_LABEL: usize = 100;
    let end = (0..=LONGEST_LABEL.min(block.len())).rev().find(|&at| block.is_char_boundary(at));
    let head = block[..end.unwrap_or(0)].lines().next().unwrap_or_default();
    let Some(label) = head.find(LABEL) else { return false };
    let body = &block[label + LABEL.len()..];
    let body = &body[..body.find("-----").unwrap_or(body.len())];
    let key = key_at_start(body);
    key.len() >= SMALLEST_KEY && is_random(&key)
}

/// Returns the base64 lines right after the mark, up to the first other line. Later text, such as the names in a
/// program that searches for the mark, is not part of a key.
fn key_at_start(body: &str) -> String {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    // Text between the lines: line ends, also written as `\n`, quotes, and comment marks.
    let between =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '\\' | ',' | '#' | '*' | '|' | '>');
    let mut key = String::new();
    let mut rest = body;
    loop {
        rest = rest.trim_start_matches(between);
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if key.is_empty() && after.starts_with(['-', ':']) {
            // An encrypted key begins with its encryption method.
            rest = after.split_once(['\n', '\\']).map_or("", |(_, below)| below);
        } else if run.len() >= SMALLEST_RUN {
            key.push_str(run);
            rest = after;
        } else if matches!(run, "n" | "r" | "+") {
            rest = after;
        } else {
            return key;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{found, skill};
    use super::*;

    // Built here so that this file itself contains no key.
    fn random(length: usize) -> String {
        "q7Rt2Xw9Kb4Zm1Vc8Ln5".chars().cycle().take(length).collect()
    }

    #[test]
    fn keys_are_found_in_any_file_and_not_shown() {
        let key = ["ghp", "_", &random(36)].concat();
        let block = ["-----BEGIN RSA ", "PRIVATE KEY-----\n", &random(64)].concat();
        let files = skill(&format!("Use `{key}`.\n")).with("x.env", &format!("A=1\n\nKEY={key}\n{block}\n"));
        let messages = found(&files, Rule::Secret);
        assert_eq!(
            messages,
            [
                "SKILL.md:5: possible secret: a GitHub token",
                "x.env:3: possible secret: a GitHub token",
                "x.env:4: possible secret: a private key"
            ]
        );
        assert!(!messages.concat().contains(&key));
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
            format!("AIzaSy{}", "B2C3D4E5F6G7H8I9J0K1L2M3N4O5P6Q7R"),
            format!("ghp_{}", "abcdefghijklmnopqrstuvwxyz0123456789"),
        ];
        for example in examples {
            assert_eq!(kind(&example), None, "{example}");
        }
    }

    #[test]
    fn a_pattern_and_an_example_with_the_mark_of_a_key_are_no_keys() {
        let mark = |kind: &str| ["-----BEGIN ", kind, "PRIVATE KEY-----"].concat();
        let texts = [
            format!("Run `grep -rE '{}' .`\n", mark("(RSA |EC )?")),
            format!("Search for `{}`, then stop.\n", mark("")),
            format!("tls.key: |\n  {}\n  ...\n  -----END PRIVATE KEY-----\n{}\n", mark(""), random(80)),
            format!("{}\nMIIEvQIBADANBgkq...\n-----END\n", mark("")),
            format!(
                "code = '{}'\nself.assertTrue(PATTERN_HARDCODED_PRIVATE_KEY_4.search(code))\n\
                 def test_os_system_pattern_2_detects_what_it_is_to_detect(self):\n    RANDOM_{}\n",
                mark("RSA "),
                random(64)
            ),
            format!("key = \"{}MIIEowIBAAJCA...\"\n\ndef f():\n    return '{}'\n", mark("RSA "), random(80)),
        ];
        for text in texts {
            assert!(found(&skill(&text), Rule::Secret).is_empty(), "{text}");
        }
        for text in [
            format!("{}\n{}\n{}\n-----END\n", mark("OPENSSH "), random(70), random(30)),
            format!("KEY=\"{}\\n{}\\n-----END\"\n", mark(""), random(64)),
            format!("k = (\"{}\\n\"\n  \"{}\\n\" +\n  '{}')\n", mark("EC "), random(40), random(40)),
            format!(
                "# {}\n# Proc-Type: 4,ENCRYPTED\n# DEK-Info: AES-128-CBC,4F\n#\n# {}\n",
                mark("RSA "),
                random(64)
            ),
        ] {
            assert_eq!(found(&skill(&text), Rule::Secret).len(), 1, "{text}");
        }
    }
}
