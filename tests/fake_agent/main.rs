//! A scripted agent: a real program that plays executor, evaluator or improver in a deterministic way.
//!
//! `fake-agent ROLE [SCRIPT]` reads its prompt from stdin; with the role `any`, the prompt says the role. Its actions
//! follow from the skill in its workspace (a line `Quality: 40`) and from the script, so that a run can be predicted and
//! two runs compared. Each call is logged when it begins, when it has answered, and when it stays after its answer.
#![expect(clippy::disallowed_methods, reason = "a program of tests works in its own scene")]
#![expect(clippy::print_stderr, reason = "a program of its own, which says what went wrong")]

mod evaluate;
mod evolve;
mod gan;
mod law;
mod misbehave;
mod reflex;
mod review;
mod script;
mod serve;
mod wrapped;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use script::{Script, Style};

fn main() -> ExitCode {
    if let Some(code) = wrapped::play() {
        return code;
    }
    let mut arguments = std::env::args().skip(1);
    let Some(role) = arguments.next() else {
        eprintln!("usage: fake-agent ROLE [SCRIPT]");
        return ExitCode::from(64);
    };
    if let Some(part) = misbehave::part(&role) {
        return part();
    }
    if role == "serve" {
        return serve::serve(&arguments.next().expect("a port is named"));
    }
    if role == "scribble" {
        let path = PathBuf::from(arguments.next().expect("a file is named"));
        // If the parent folder cannot be created, writing the file fails.
        let _ = path.parent().map(fs::create_dir_all);
        let written = fs::OpenOptions::new().append(true).create(true).open(path);
        return match written.and_then(|mut file| file.write_all(b"scribbled\n")) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => ExitCode::FAILURE,
            Err(error) => panic!("denied otherwise than by the system: {error}"),
        };
    }
    let script = arguments.next().map_or_else(Script::default, |script| Script::read(Path::new(&script)));
    if let Some(&kind) = script.misbehave.get(&role) {
        script.note("start", &format!("{role}-{kind:?}"));
        return misbehave::misbehave(kind, &script);
    }
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt).expect("the prompt is text");
    let role = if role == "any" { role_of(&prompt).to_owned() } else { role };
    let page = reflex::Page::of(&prompt);
    let turn = gan::Page::of(&prompt);
    let named = page.map(|page| page.name()).or(turn.map(|turn| turn.name()));
    let review = review::Page::of(&prompt);
    let named = named.or(review.map(review::Page::name));
    let stage = evolve::Page::of(&prompt);
    let named = named.or(stage.map(|page| page.name(&prompt)));
    let is_expert = prompt.contains("\n# What you are asked\n");
    let named = named.or_else(|| is_expert.then(|| "expert".to_owned()));
    let part = named.unwrap_or_else(|| role.clone());
    let call = call_name(&part, &prompt);
    script.note("start", &call);
    script.tell_start(&prompt);
    // Simulates the time that a model takes; it is not used for synchronization.
    std::thread::sleep(Duration::from_millis(script.delay_ms + jitter(&script, &call)));
    if let Some(mut gate) = script.gates.get(&part).and_then(|gate| fs::File::open(gate).ok()) {
        gate.read_to_string(&mut String::new()).expect("the gate says nothing");
    }
    script.overwrite(&role);
    let answer = match (page, role.as_str()) {
        _ if let Some(play) = &script.law => Some(play.answer(&role, &prompt, &call)),
        (Some(page), _) => Some(reflex::answer(&script, page, &call)),
        _ if turn.is_some() => turn.map(|turn| gan::answer(&script, turn, &call)),
        _ if review.is_some() => review.map(|page| review::answer(&script.review, page, &prompt)),
        _ if stage.is_some() => stage.and_then(|page| evolve::answer(&script, page, &prompt, &call)),
        _ if is_expert => Some(script.as_expert(&prompt, &call)),
        (None, "executor") => execute(&script, &call),
        (None, "evaluator") if prompt.starts_with("# Judge what was produced") => {
            Some(evaluate::grade(&script, &prompt))
        }
        (None, "evaluator") => Some(evaluate::answer(&script, &prompt)),
        (None, "improver") if prompt.starts_with("# Write scenarios") => Some(script.draft(&prompt)),
        (None, "improver") if script.unedited > 0 && script.nth("improver", &call) < script.unedited => {
            Some("I have no idea.".to_owned())
        }
        (None, "improver") => Some(improve(&script)),
        (None, other) => panic!("no such role: {other}"),
    };
    let Some(answer) = answer else {
        eprintln!("{}", script.swapped(&part, "no luck today"));
        return ExitCode::from(3);
    };
    script.swap_in_files(&part);
    let answer = script.swapped(&part, &answer);
    let answer = if script.parrot { prompt + &answer } else { answer };
    let answer = if script.envelope { script::envelope(&answer) } else { answer };
    if script.no_text {
        std::io::stdout().write_all(b"\xff\xfe\n").expect("somebody reads the answer");
    }
    std::io::stdout().write_all(answer.as_bytes()).expect("somebody reads the answer");
    close_streams();
    script.note("answer", &call);
    linger(&script, &call);
    ExitCode::SUCCESS
}

/// Returns the role that a prompt of `tune` asks.
fn role_of(prompt: &str) -> &'static str {
    let asks = |heads: [&str; 2]| heads.iter().any(|head| prompt.starts_with(head));
    match () {
        () if asks(["# Judge", "# Review the text of"]) => "evaluator",
        () if asks(["# Improve an agent skill", "# Write scenarios"]) => "improver",
        () => "executor",
    }
}

/// Logs that it waits, and exits once the test opens the gate.
fn linger(script: &Script, call: &str) {
    if script.linger.exists() {
        script.note("linger", call);
        // The gate may be gone by now.
        let _ = fs::read(&script.linger);
    }
}

/// Closes the output. An answer is complete only when its streams are closed, so it is logged after that.
fn close_streams() {
    std::io::stdout().flush().expect("somebody reads the answer");
    let nowhere = fs::OpenOptions::new().write(true).open("/dev/null").expect("this is Unix");
    rustix::stdio::dup2_stdout(&nowhere).expect("streams can be closed");
    rustix::stdio::dup2_stderr(&nowhere).expect("streams can be closed");
}

/// Returns the name of a call: the same prompt has the same name, and other prompts have others.
fn call_name(role: &str, prompt: &str) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    prompt.hash(&mut hasher);
    format!("{role}-{:016x}", hasher.finish())
}

fn jitter(script: &Script, call: &str) -> u64 {
    let hash = call.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    let slow = if hash.is_multiple_of(16) { script.slow_ms } else { 0 };
    slow + hash.checked_rem(script.jitter_ms).unwrap_or(0)
}

/// Writes a file that names its skill, quality and input.
fn execute(script: &Script, call: &str) -> Option<String> {
    let (by, quality) = match only_skill() {
        Some(skill) => (name_of(&skill), quality_of(&skill)),
        None => ("nobody".to_owned(), script.without_skill),
    };
    if script.executor_fails_at.contains(&quality) {
        return None;
    }
    let quality = script.made(&by, quality, call);
    let mut made = format!("made by {by} with quality {quality}\n");
    if let Ok(received) = fs::read_to_string("input/out.md") {
        made.push_str("from: ");
        made.push_str(&received);
    }
    if script.words_only {
        return Some(made);
    }
    fs::write("out.md", made).expect("the workspace can be written");
    fs::write("manifest.json", r#"{"artifacts":[{"path":"out.md"}]}"#).expect("the workspace can be written");
    Some("done".to_owned())
}

/// Raises the quality of the skill as the script says, in the file or as an edit in the answer.
fn improve(script: &Script) -> String {
    let skill = only_skill().expect("there is a skill to improve");
    let quality = quality_of(&skill);
    let page = skill.join("SKILL.md");
    let text = fs::read_to_string(&page).expect("a skill has its page");
    let Some(next) = script.next(&name_of(&skill), quality) else {
        return "I have no idea.".to_owned();
    };
    let (old, new) = (format!("Quality: {quality}"), format!("Quality: {next}"));
    let report = format!(
        r#""summary":"quality {quality} becomes {next}","changes":[{{"priority":"high","description":"raise the quality","file":"SKILL.md"}}]"#
    );
    match script.style {
        Style::InPlace => {
            // Many editors also write a new file; its mode follows from the umask.
            fs::remove_file(&page).expect("the copy can be written");
            fs::write(&page, text.replace(&old, &new) + &script.learns).expect("the copy can be written");
            fs::write(skill.join("notes.md"), format!("now {next}\n")).expect("the copy can be written");
            format!("{{{report}}}")
        }
        Style::Words => {
            format!(r#"{{"edits":[{{"path":"SKILL.md","find":"{old}","replace":"{new}"}}],{report}}}"#)
        }
        Style::Outside => r#"{"edits":[{"path":"../outside.md","content":"pwned"}]}"#.to_owned(),
        Style::NoSkill => {
            fs::remove_file(&page).expect("the copy can be written");
            "{}".to_owned()
        }
    }
}

/// Returns the one skill in the workspace, if there is one.
fn only_skill() -> Option<PathBuf> {
    let mut skills = skills();
    assert!(skills.len() <= 1, "a member's workspace holds one skill");
    skills.pop()
}

/// Returns the skills in `skill`, or in the folder of installed skills.
fn skills() -> Vec<PathBuf> {
    let installed = fs::read_dir(".claude/skills");
    let mut skills: Vec<_> = fs::read_dir("skill")
        .or(installed)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("readable").path())
        .collect();
    skills.sort();
    skills
}

fn name_of(skill: &Path) -> String {
    skill.file_name().expect("a skill has a name").to_string_lossy().into_owned()
}

fn quality_of(skill: &Path) -> u32 {
    stated_quality(skill).expect("a test's skill has a quality")
}

fn stated_quality(skill: &Path) -> Option<u32> {
    let text = fs::read_to_string(skill.join("SKILL.md")).expect("a skill has its page");
    let line = text.lines().find_map(|line| line.strip_prefix("Quality: "))?;
    Some(line.trim().parse().expect("a quality is a number"))
}
