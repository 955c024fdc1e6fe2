//! How tests and the silencing of checks are written in a language. A file's name ends with what shows its language.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

/// The forms of a language, as patterns.
struct Forms {
    ends: &'static [&'static str],
    /// The beginning of a line that is a comment.
    comment: &'static str,
    /// A test. The first group that matches is its name.
    test: &'static str,
    /// What silences a check, each with its short form.
    silencers: &'static [(&'static str, &'static str)],
}

/// A language whose patterns can be searched for.
pub(super) struct Language {
    forms: &'static Forms,
    test: Regex,
    silencers: RegexSet,
}

static FORMS: [Forms; 5] = [
    Forms {
        ends: &["rs"],
        comment: "//",
        test: r"#\s*\[\s*(?:\w+\s*::\s*)*(?:test|rstest|test_case)\b[^{}]*?\bfn\s+(\w+)",
        silencers: &[
            // A comment may name them.
            ("#[ignore]", r"^\s*(?:(?:[^\s/]|/[^/]).*)?#\s*!?\s*\[\s*(?:cfg_attr\s*\(.*,\s*)?ignore\b"),
            ("#[allow]", r"^\s*(?:(?:[^\s/]|/[^/]).*)?#\s*!?\s*\[\s*(?:cfg_attr\s*\(.*,\s*)?allow\s*\("),
        ],
    },
    Forms {
        ends: &["py", "pyi"],
        comment: "#",
        test: r"(?m)^[ \t]*(?:async\s+)?(?:def\s+(test\w*)|class\s+(Test\w*))",
        silencers: &[
            ("pytest.mark.skip", r"\bmark\s*\.\s*skip(?:if)?\b"),
            ("pytest.skip", r"\bpytest\s*\.\s*(?:skip|importorskip)\s*\("),
            ("unittest.skip", r"\bunittest\s*\.\s*skip|@skip(?:If|Unless)?\b|\bskipTest\s*\("),
            ("expectedFailure", r"\bexpectedFailure\b"),
            ("xfail", r"\bxfail\b"),
            ("# noqa", r"(?i)#\s*(?:\w+:\s*)?noqa\b"),
            ("# type: ignore", r"#\s*(?:type|mypy|pyright)\s*:\s*ignore\b"),
            ("# pylint: disable", r"#\s*pylint\s*:\s*disable"),
            ("# pragma: no cover", r"(?i)#\s*pragma\s*:\s*no\s+(?:cover|branch)\b"),
            ("# nosec", r"(?i)#\s*nosec\b"),
        ],
    },
    Forms {
        ends: &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"],
        comment: "//",
        test: r#"(?:^|[^.\w$])(?:it|test)(?:\s*\.\s*\w+)*\s*(?:\([^()]*\)\s*)?\(\s*(?:"([^"\n]*)"|'([^'\n]*)'|`([^`]*)`)"#,
        silencers: &[
            (".skip(", r"\.\s*skip\s*(?:\(|\.\s*each\b)|\.\s*skipIf\s*\("),
            (".only(", r"\.\s*only\s*(?:\(|\.\s*each\b)"),
            ("xit(", r"\bx(?:it|test)\s*\("),
            ("xdescribe(", r"\bxdescribe\s*\("),
            ("it.todo(", r"\b(?:it|test)\s*\.\s*todo\s*\("),
            ("eslint-disable", r"\beslint-disable"),
            ("@ts-ignore", r"@ts-ignore\b"),
            ("@ts-nocheck", r"@ts-nocheck\b"),
            ("@ts-expect-error", r"@ts-expect-error\b"),
            ("istanbul ignore", r"\bistanbul\s+ignore\b"),
            ("c8 ignore", r"\b[cv]8\s+ignore\b"),
        ],
    },
    Forms {
        ends: &["go"],
        comment: "//",
        test: r"(?m)^func\s+(?:\([^()]*\)\s*)?((?:Test|Fuzz|Example)\w*)\s*\(",
        silencers: &[
            ("t.Skip(", r"\b[tbf]\s*\.\s*Skip(?:f|Now)?\s*\("),
            ("//nolint", r"//\s*nolint\b"),
            ("#nosec", r"#\s*nosec\b"),
        ],
    },
    Forms {
        ends: &["java", "kt", "kts", "groovy"],
        comment: "//",
        test: r"@(?:[\w.]+\.)?(?:Test|ParameterizedTest|RepeatedTest)\b[^;]*?\b(?:void|fun)\s+(?:`([^`\n]*)`|(\w+))",
        silencers: &[("@Disabled", r"@(?:[\w.]+\.)?Disabled\b"), ("@Ignore", r"@(?:[\w.]+\.)?Ignore\b")],
    },
];

static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| FORMS.iter().map(Language::new).collect());

/// Returns the language of a file of code.
pub(super) fn of(path: &str) -> Option<&'static Language> {
    let (_, end) = path.rsplit_once('.')?;
    let end = end.to_ascii_lowercase();
    LANGUAGES.iter().find(|language| language.forms.ends.iter().any(|known| **known == *end))
}

impl Language {
    fn new(forms: &'static Forms) -> Self {
        let test = Regex::new(forms.test).expect("a pattern of ours");
        let patterns = forms.silencers.iter().map(|(_, pattern)| pattern);
        Self { forms, test, silencers: RegexSet::new(patterns).expect("patterns of ours") }
    }

    /// Returns the forms in a line that silence a check.
    pub(super) fn silencers(&self, line: &str) -> Vec<&'static str> {
        self.silencers.matches(line).into_iter().map(|index| self.forms.silencers[index].0).collect()
    }

    /// Returns the names of the tests in a text, in its order. A test in a comment is none.
    pub(super) fn tests(&self, text: &str) -> Vec<String> {
        let code = without_comments(text, self.forms.comment);
        let names = self.test.captures_iter(&code).filter_map(|test| test.iter().skip(1).flatten().next());
        names.map(|name| name.as_str().to_owned()).collect()
    }
}

/// Removes the lines that begin as comments.
fn without_comments(text: &str, comment: &str) -> String {
    let mut is_block = false;
    let is_code = |line: &&str| {
        let line = line.trim_start();
        let is_comment = is_block || (comment == "//" && line.starts_with("/*"));
        is_block = is_comment && !line.contains("*/");
        !is_comment && !line.starts_with(comment)
    };
    text.lines().filter(is_code).flat_map(|line| [line, "\n"]).collect()
}
