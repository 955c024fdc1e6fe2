//! Commands and addresses in one line.

use std::sync::LazyLock;

use regex::Regex;

use super::pieces::Kind;
use super::{DangerClass, fold};

/// Returns the hits of a line with a key that finds the same hit elsewhere: the whole line of a command, or the
/// address.
pub(super) fn hits(line: &str, kind: Kind) -> Vec<(DangerClass, String)> {
    let folded = fold::word(line);
    let bare = fold::unquoted(&folded);
    let forms = if bare == folded { vec![&folded] } else { vec![&folded, &bare] };
    let is_in = |patterns: &[&LazyLock<Regex>]| {
        patterns.iter().any(|pattern| forms.iter().any(|form| pattern.is_match(form)))
    };
    let mut hits = Vec::new();
    let key = || fold::spaced(bare.trim_matches(|c: char| c.is_whitespace() || c == '`'));
    let is_network = match kind {
        Kind::Code => is_in(&[&PROGRAM, &CLIENT, &INSTALL, &REMOTE, &HTTPIE, &LIBRARY, &ARGUMENT]),
        Kind::Prose => is_in(&[&ARGUMENT, &PACKAGE, &DEVICE]),
    };
    if is_network {
        hits.push((DangerClass::Network, key()));
    }
    if is_in(&[&HIDDEN]) && kind == Kind::Code || is_in(&[&PIPED]) {
        hits.push((DangerClass::HiddenCode, key()));
    }
    if kind == Kind::Code {
        let addresses = ADDRESS.captures_iter(&folded).filter(|found| !is_harmless(&found[2]));
        hits.extend(addresses.map(|found| (DangerClass::Network, found[0].to_owned())));
    }
    hits
}

/// Programs whose names are not ordinary words.
static PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^|[^\w.-])(?:curl|wget|aria2c|ncat|socat|telnet|scp|rsync|npx|bunx|uvx|pipx|corepack)(?:\.exe)?(?:$|[\s`;|&<>,\]])",
    )
});

/// Programs whose names are also ordinary words, at the start of a command.
static CLIENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^|[|;&(`{\[,]|[=:]\s|\s--\s|^\s*[$>#%]|\b(?:sudo|exec|xargs|then|do|else|env|nohup|time|command|builtin)\b)\s*(?:/[\w./-]*/)?(?:nc|ssh|sftp|ftp|dig|nslookup|ssh-keyscan|whois|lftp)\s*,?\s+[^=\s]",
    )
});

/// Package managers that fetch what they install, and programs that fetch what they run.
static INSTALL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:pip[\d.]*|uv|npm|pnpm|yarn|bun|cargo|go|gem|brew|apt|apt-get|dnf|yum|apk|conda|mamba|deno|composer|pacman|choco|winget|snap|easy_install|poetry)[\s,]+(?:-\S+\s+)*(?:install|add|i|ci|dlx|exec|x|get|download|wheel|update|upgrade|sync|create|tool\s+(?:run|install|upgrade)|run\s+--with)\b|\bgo\s+run\s+(?:-\S+\s+)*[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/\S|\bdeno\s+run\s+(?:-\S+\s+)*(?:https?|npm|jsr):",
    )
});

/// Commands of a program that also does other things.
static REMOTE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[GIT, OTHER_VERSION_CONTROL, GITHUB, CONTAINERS, CLOUD, TEXT_BROWSER].join("|"))
});

const GIT: &str = r"\bgit\s+(?:-\S+\s+\S+\s+)*(?:clone|push|pull|fetch|lfs|ls-remote|send-email|submodule|svn|remote\s+(?:add|set-url|update))\b";
const OTHER_VERSION_CONTROL: &str = r"\bsvn\s+(?:-\S+\s+)*(?:checkout|co|export|update|up|commit|ci|import|switch|relocate|log|list|ls|cat|blame)\b|\b(?:hg|fossil|bzr|jj\s+git)\s+(?:-\S+\s+)*(?:clone|pull|push|fetch|incoming|outgoing|sync|branch\s+\S+:)";
const GITHUB: &str = r"\bgh\s+(?:api|pr|repo|gist|release|issue|auth|workflow|run|secret|extensions?|ext|codespace|cs|ssh-key|gpg-key|variable|search|project|cache|ruleset)\b";
const CONTAINERS: &str = r"\b(?:docker|podman|nerdctl|docker-compose|podman-compose)\s+(?:-\S+\s+(?:[^-\s]\S*\s+)??)*(?:(?:image|container|buildx|compose)\s+(?:-\S+\s+(?:[^-\s]\S*\s+)??)*)?(?:pull|push|run|login|build|up|create)\b";
const CLOUD: &str = r"\b(?:aws|gcloud|kubectl)\s+[a-z-]+\s+\S|\bopenssl\s+s_client\b";
const TEXT_BROWSER: &str = r"\b(?:lynx|w3m|elinks)[\s,]+(?:-\w|[a-z]+://\S|[\w-]+\.[a-z]{2,})";

/// Programs named like a protocol, with the method or the host of a request.
static HTTPIE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^|[|;&(`{]|^\s*[$>#%]|\b(?:sudo|exec|xargs|then|do|else|env|nohup|time|command|builtin)\b)\s*(?:/[\w./-]*/)?(?:https?|xhs?|httpie)\s+(?:-\S+\s+)*(?:(?:get|post|put|patch|delete|head|options)\s+\S|[a-z]+://|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:[\s/:]|$))",
    )
});

static LIBRARY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:import|from)\s+(?:requests|httpx|aiohttp|urllib3?|socket|paramiko|ftplib|smtplib|telnetlib|websockets?|http\.client)\b|\b(?:requests|httpx|urllib\.request|urllib3|http\.client|socket|paramiko)\.\w|\bfetch\s*\(|\baxios\b|xmlhttprequest|\bnew\s+websocket|invoke-webrequest|invoke-restmethod|\biwr\s|\birm\s|net\.webclient|/dev/(?:tcp|udp)/|\bnet/http\b|\brequire\s*\(?\s*.?(?:node:)?(?:https?|net|dgram|dns|tls).?\s*\)|\bfrom\s+.(?:node:)?(?:https?|net|dgram|tls)\b|lwp::|\bopen-uri\b",
    )
});

/// A program with an argument that does not occur in prose.
static ARGUMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^|[^\w.-])(?:curl|wget|nc|ncat|ssh|scp|sftp|rsync|npx|uvx|bunx|pipx|telnet|socat|ftp)\s+(?:-\w|--\w|[a-z]+://|\S+@\S|\S+\.[a-z]{2,}/|\d+\.\d+\.\d|\S+\s+\d{2,5}\b|\S+@latest)",
    )
});

/// An instruction to install or run something from the network. It works without being code.
static PACKAGE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:pip[\d.]*|npm|pnpm|yarn|uv|gem|brew|cargo|apt|apt-get|dnf|yum|apk|conda)\s+(?:-\S+\s+)*(?:install|add|dlx)\s+\S|\b(?:uv\s+tool|pipx|gh\s+ext(?:ension)?)\s+(?:run|install)\s+\S|\bgo\s+(?:run|install|get)\s+(?:-\S+\s+)*[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/\S|\bdeno\s+run\s+(?:-\S+\s+)*(?:https?|npm|jsr):|\b(?:git|hg)\s+clone\s+\S+[:/]|\bsvn\s+(?:checkout|co)\s+\S+[:/]|\b(?:docker|podman|nerdctl)\s+(?:run|pull|compose\s+up)\s+(?:-\w|--\w|\S+[:/]\S)|\bnpx\s+(?:-y|--yes)\b|\bcorepack\s+(?:enable|prepare|use)\b|\b(?:lynx|w3m|elinks)\s+(?:-\w|[a-z]+://)",
    )
});

static DEVICE: LazyLock<Regex> = LazyLock::new(|| pattern(r"/dev/(?:tcp|udp)/"));

/// A shell at the end of a pipe, on its own or started by another program.
const SHELL: &str = r"\|&?\s*(?:(?:sudo|doas|env|exec|command|nohup|nice|time|timeout|setsid|busybox|xargs)\s+(?:-[ugn]\s+\S+\s+|-\S+\s+|\w+=\S*\s+|\d+[smh]?\s+)*)*(?:\S*/)?(?:ba|z|da|k|c|tc|a|fi|mk)?sh";
/// The output of a process, read as a script.
const SUBSTITUTED: &str = r"(?:(?:^|[\s;|&(`{])(?:source|\.)|\b(?:ba|z|da|k|mk)?sh)\s+(?:-\S+\s+)*<\(";

/// Code that is decoded or assembled before it runs.
static HIDDEN: LazyLock<Regex> = LazyLock::new(|| {
    let others = r"\|&?\s*(?:(?:sudo|env|exec|command)\s+)*(?:python[\d.]*|perl|ruby|node|php|bun|lua|pwsh)\s*(?:-\s*)?(?:$|[`;)])|(?:^|[\s;|&(`])eval[\s(]|\bbase64\s+(?:-d|--decode)|\bexec\s*\(\s*\S|\bfrombase64string\b|\batob\s*\(|\bb64decode\b|\bxxd\s+-r|-encodedcommand\b|\|\s*iex\b|\binvoke-expression\b|\b(?:ba|z|da|k)?sh\s+-\w*c\s+(?:\$\(|`)";
    pattern(&format!(r"{SHELL}(?:\s|$|[`;)])|{SUBSTITUTED}|{others}"))
});

/// The same outside code: an address piped into a shell.
static PIPED: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"(?:://|base64\b)[^|]*{SHELL}(?:\s|$|[`;.)])|{SUBSTITUTED}")));

static ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b((?:https?|ftps?|wss?|ssh|git|sftp)://|git@)([^\s/`<>)\]}|;,?#]+)"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of ours")
}

/// Returns whether a host is this machine, leads nowhere, or names a format.
fn is_harmless(host: &str) -> bool {
    const EXACT: [&str; 9] = [
        "localhost",
        "127.0.0.1",
        "0.0.0.0",
        "example.com",
        "example.org",
        "example.net",
        "www.w3.org",
        "json-schema.org",
        "schemas.openxmlformats.org",
    ];
    const UNDER: [&str; 6] =
        [".example.com", ".example.org", ".example.net", ".example", ".test", ".invalid"];
    // The part before an `@` is a user name, not the host.
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = host.trim_matches(['"', '\'', '.']).split(':').next().unwrap_or_default();
    EXACT.contains(&host) || UNDER.iter().any(|end| host.ends_with(end))
}
