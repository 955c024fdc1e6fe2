//! The built-in executor without a command: how an agent would load the skill, stage by stage, and the cost of that.

use std::fmt::Write as _;

use crate::skills::lint::{self, Files, Rule, Stage, Stop};

/// Returns the walk as a page. The same files give the same page.
pub fn walk(name: &str, files: &Files) -> String {
    let route = lint::route(files);
    let mut page = format!(
        "# How an agent loads `{name}`\n\n\
         Nothing was run: the built-in agent only read the files. Tokens are estimated.\n\n\
         | when | what | tokens | so far |\n|---|---|---:|---:|\n"
    );
    let mut sum = 0;
    for Stop { stage, what, tokens } in &route.stops {
        sum += tokens;
        let _ = writeln!(page, "| {} | {} | {tokens} | {sum} |", when(*stage), plain(what));
    }
    let missing = lint::lint(files)
        .into_iter()
        .filter(|one| matches!(one.rule, Rule::LinkDangling | Rule::PathMissing));
    let missing = missing.map(|one| format!("{}: {}", one.path, one.message));
    list(&mut page, "Mentioned but missing", missing);
    list(&mut page, "Never mentioned", route.unreached.into_iter());
    page
}

fn when(stage: Stage) -> &'static str {
    match stage {
        Stage::Listed => "always",
        Stage::Picked => "picked",
        Stage::Named => "named",
        Stage::Nested => "mentioned by a mentioned file",
    }
}

fn list(page: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return;
    }
    let _ = writeln!(page, "\n## {title}\n");
    for line in lines {
        let _ = writeln!(page, "- {}", plain(&line));
    }
}

/// Returns text as one line for a table or a list, because a file name may contain anything.
fn plain(text: &str) -> String {
    text.chars()
        .map(|char| if char.is_control() { ' ' } else { char })
        .collect::<String>()
        .replace('|', "\\|")
}
