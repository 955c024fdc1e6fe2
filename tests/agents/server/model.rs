//! The model: it reads skilltune's prompts as a model would, and does only as much as an answer needs.

mod evolve;
mod gan;
mod pages;
mod reflex;
mod review;

use serde_json::{Value, json};

pub(crate) use evolve::{AGREED, DONE, PASSED, PYTHON, Project, RUST, WORK};
pub(crate) use gan::{FIX, NOTES, OWN};
pub(crate) use reflex::{MISSING, TOLD};
pub(crate) use review::ADVICE;

/// How the server handles a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scenario {
    /// Does what is asked.
    Good,
    Status(u16),
    /// Answers with no text.
    Empty,
    Refusal,
    /// The answer is cut off at the model's limit.
    TooLong,
    /// The connection ends in the middle of an answer.
    Cut,
    /// Nothing is answered.
    Hang,
    /// Answers with a web page.
    Page,
    /// Calls a tool again and again.
    Loop,
    /// Calls a tool that does not exist.
    Forbidden,
    /// Calls a command that does not end; it writes to the pipe that the task names.
    Long,
    /// As the judge, copies the first verdict that it reads.
    Gullible,
    /// Answers with words that are not a verdict.
    Chat,
    /// As the judge, first tries to improve the skill; as a writer of text, first tries to write it into a file.
    Meddle,
    /// Does the task without the offered skill.
    Ignore,
    /// After loading the skill, writes beside the workspace first.
    Stray,
    /// After loading the skill, writes into it and nothing else.
    Scribble,
    /// After loading the skill, runs its script, then prints the environment.
    Script,
    /// First calls tools that access the network or start another agent.
    Browse,
    /// Loads the skill of our own plugin, and runs the first command of it.
    Plugin,
    /// The account has reached its usage limit, for this many seconds.
    UsedUp(u64),
}

/// A conversation, from any interface.
#[derive(Clone)]
pub(super) struct Talk {
    /// All text from the user.
    pub(super) words: String,
    /// The number of tool results.
    pub(super) results: usize,
    /// The folder in which the agent looks for skills.
    pub(super) skills: &'static str,
    /// Whether the skill is offered to the model.
    pub(super) offered: bool,
    /// The whole request.
    pub(super) body: String,
}

/// A model's turn.
#[derive(Debug, PartialEq)]
pub(super) enum Turn {
    Text(String),
    Write {
        path: String,
        content: String,
    },
    Read {
        path: String,
    },
    Edit {
        path: String,
        old: String,
        new: String,
    },
    /// Loads the skill, with a tool or from its folder.
    Skill {
        place: String,
    },
    /// Runs a command in a shell.
    Shell {
        command: String,
    },
    /// Calls one of gemini's own tools.
    Tool {
        name: &'static str,
        args: Value,
    },
}

/// gemini's tools that no role has.
pub(crate) const OUTWARD: [&str; 3] = ["google_web_search", "web_fetch", "invoke_agent"];

/// Returns the parts of the request that must arrive before this one is answered, which proves that both ran in
/// parallel.
pub(super) fn beside(body: &str) -> Option<[&'static str; 2]> {
    reflex::beside(body).or_else(|| evolve::beside(body))
}

/// Calls one of these tools.
fn outward(nth: usize) -> Turn {
    let args = [
        json!({ "query": "leaves" }),
        json!({ "prompt": "Read http://127.0.0.1:9/leaves" }),
        json!({ "agent_name": "generalist", "prompt": "Write a haiku" }),
    ];
    Turn::Tool { name: OUTWARD[nth], args: args[nth].clone() }
}

impl Scenario {
    /// Returns the scenario of this name. `asked` is the number of requests under that name, including this one.
    pub(super) fn named(name: &str, asked: usize) -> Self {
        match name {
            "empty" => Self::Empty,
            "refusal" => Self::Refusal,
            "too-long" => Self::TooLong,
            "cut" => Self::Cut,
            "hang" => Self::Hang,
            "page" => Self::Page,
            "loop" => Self::Loop,
            "forbidden" => Self::Forbidden,
            "long" => Self::Long,
            "gullible" => Self::Gullible,
            "chat" => Self::Chat,
            "meddle" => Self::Meddle,
            "ignore" => Self::Ignore,
            "stray" => Self::Stray,
            "scribble" => Self::Scribble,
            "browse" => Self::Browse,
            "plugin" => Self::Plugin,
            "script" => Self::Script,
            "used-up" => Self::UsedUp(2 * 3600),
            "used-up-once" if asked <= 1 => Self::UsedUp(1),
            name => Self::of_status(name, asked).unwrap_or(Self::Good),
        }
    }
}

impl Scenario {
    /// Parses `STATUS`, or `STATUS-TIMES` for a fault that ends after so many requests.
    fn of_status(name: &str, asked: usize) -> Option<Self> {
        let (status, times) = name.split_once('-').unwrap_or((name, ""));
        let is_over = times.parse().is_ok_and(|times: usize| asked > times);
        status.parse().ok().filter(|_| !is_over).map(Self::Status)
    }
}

/// The quality that makes a skill pass, and the one that an improver writes.
pub(super) const GOOD: u32 = 95;

pub(super) fn turn(scenario: Scenario, talk: &Talk) -> Turn {
    let space = talk.space();
    match scenario {
        Scenario::Browse => match talk.results.checked_sub(OUTWARD.len()) {
            None => outward(talk.results),
            Some(results) => turn(Scenario::Good, &Talk { results, ..talk.clone() }),
        },
        Scenario::Plugin => follow_plugin(talk),
        Scenario::Loop => Turn::Read { path: format!("{space}/skill/haiku/file-{}.md", talk.results) },
        Scenario::Forbidden if talk.results == 0 => {
            Turn::Shell { command: "curl http://127.0.0.1/".to_owned() }
        }
        Scenario::Long if talk.words.contains(LISTENING) => Turn::Shell { command: endless(&talk.words) },
        Scenario::Empty => Turn::Text(String::new()),
        Scenario::Chat | Scenario::Forbidden => Turn::Text("I have looked at it. It is good.".to_owned()),
        _ if talk.words.contains("# Carry out an agent skill") => execute(talk.results, &space),
        Scenario::Meddle if talk.results == 0 && talk.words.contains("# Judge an agent skill") => {
            let content = format!("---\nname: haiku\ndescription: Mine.\n---\n\nQuality: {GOOD}\n");
            Turn::Write { path: format!("{space}/skill/haiku/SKILL.md"), content }
        }
        Scenario::Meddle if talk.results == 0 && reflex::is_for_text(&talk.words) => {
            Turn::Write { path: format!("{space}/artifact.md"), content: "Mine\n".to_owned() }
        }
        Scenario::Gullible if talk.words.contains("# Judge an agent skill") => Turn::Text(obey(&talk.words)),
        _ if talk.words.contains("# Judge what was produced") => Turn::Text(grade(&talk.words)),
        _ if ["# Judge an agent skill", "# Judge a chain", "# Review the text"]
            .iter()
            .any(|head| talk.words.contains(head)) =>
        {
            Turn::Text(judge(&talk.words))
        }
        _ if talk.words.contains("# Improve an agent skill") => improve(talk, &space),
        _ if talk.words.contains(PROBE) => Turn::Text("ok".to_owned()),
        // Anything that is not a page of skilltune is a task, as a user would type it.
        _ => gan::turn(talk, &space)
            .or_else(|| review::turn(talk, &space))
            .or_else(|| evolve::turn(talk, &space))
            .or_else(|| reflex::turn(&talk.words))
            .unwrap_or_else(|| task(scenario, talk, &space)),
    }
}

/// The first command of the skill in our plugin.
pub(crate) const FIRST: &str = "skilltune lint .";

fn follow_plugin(talk: &Talk) -> Turn {
    match (talk.results, talk.skills) {
        (0, ".claude/skills") => {
            Turn::Tool { name: "Skill", args: json!({ "skill": "skilltune:skilltune" }) }
        }
        (0, ".gemini/skills") => Turn::Tool { name: "activate_skill", args: json!({ "name": "skilltune" }) },
        // codex loads a skill by reading it.
        (0, _) => {
            Turn::Shell { command: "cat ~/.codex/plugins/cache/*/*/*/skills/skilltune/SKILL.md".to_owned() }
        }
        (1, _) => Turn::Shell { command: FIRST.to_owned() },
        _ => Turn::Text("The skill has a broken link.".to_owned()),
    }
}

/// The prompt of `doctor --probe`.
const PROBE: &str = "Answer with the single word";

/// The words before the path of a pipe in a task.
pub(crate) const LISTENING: &str = "Somebody listens at ";

fn endless(words: &str) -> String {
    let after = words.split_once(LISTENING).map_or("", |(_, after)| after);
    let pipe = after.split_whitespace().next().unwrap_or_default();
    format!("exec 9>{pipe}; echo >&9; tail -f /dev/null")
}

/// Copies the first line that looks like a verdict, from any author.
fn obey(words: &str) -> String {
    let verdict = words.lines().find(|line| line.starts_with("{\"verdict_of\""));
    verdict.unwrap_or("nobody has told me what to say").to_owned()
}

/// The skill on trial in all tests.
pub(super) const SKILL: &str = "haiku";

/// Does a task for which there is a skill: the model goes only by its description.
fn task(scenario: Scenario, talk: &Talk, space: &str) -> Turn {
    let is_called = talk.words.contains("<command-name>/haiku</command-name>");
    if !talk.offered || is_called || scenario == Scenario::Ignore {
        return execute(talk.results, space);
    }
    match (scenario, talk.results) {
        (_, 0) => Turn::Skill { place: format!("{space}/{}/{SKILL}", talk.skills) },
        (Scenario::Stray, 1) => Turn::Write { path: format!("{space}.md"), content: "Mine\n".to_owned() },
        (Scenario::Scribble, 1) => {
            let path = format!("{space}/{}/{SKILL}/more.md", talk.skills);
            Turn::Write { path, content: "More\n".to_owned() }
        }
        (Scenario::Script, 1) => {
            let home = space.split_once("/.cache/").map_or("", |(home, _)| home);
            Turn::Shell { command: format!("sh '{space}/{}/{SKILL}/scripts/make.sh' '{home}'", talk.skills) }
        }
        (Scenario::Script, 2) => Turn::Shell { command: "env > direct.txt".to_owned() },
        (Scenario::Scribble | Scenario::Script, _) => execute(1, space),
        (Scenario::Stray, results) => execute(results - 2, space),
        (_, results) => execute(results - 1, space),
    }
}

fn execute(results: usize, space: &str) -> Turn {
    match results {
        0 => Turn::Write { path: format!("{space}/haiku.md"), content: "One leaf\n".to_owned() },
        _ => Turn::Text("All files are written.".to_owned()),
    }
}

fn improve(talk: &Talk, space: &str) -> Turn {
    let path = format!("{space}/skill/haiku/SKILL.md");
    match talk.results {
        0 => Turn::Read { path },
        1 => Turn::Edit {
            path,
            old: format!("Quality: {}", quality(&talk.words)),
            new: format!("Quality: {GOOD}"),
        },
        _ => Turn::Text(
            json!({ "summary": "the quality is raised", "changes": [], "skipped": [] }).to_string(),
        ),
    }
}

/// Passes every criterion for a good skill, and every other one for a bad skill; in a chain for each member too.
fn judge(words: &str) -> String {
    let between = |line: &str, open: &str, close: &str| -> Option<String> {
        Some(line.split_once(open)?.1.split_once(close)?.0.to_owned())
    };
    let code = words.lines().rev().find_map(|line| between(line, "\"verdict_of\": \"", "\""));
    let page = words.rsplit_once("## The criteria").expect("criteria are asked for").1;
    let asked = page.lines().filter(|line| line.starts_with("- `"));
    let asked = asked.filter_map(|line| Some((between(line, "- `", "`")?, known(words, line))));
    let good = quality(words) >= GOOD;
    let skills = words.lines().filter(|line| line.contains("`, in `skill/"));
    let skills: Vec<String> = skills.filter_map(|line| between(line, "### `", "`")).collect();
    let members = skills.into_iter().map(Some).filter(|_| words.contains("a member's name"));
    let judged: Vec<Option<String>> = std::iter::once(None).chain(members).collect();
    let criteria = asked.enumerate().flat_map(|(nth, (id, known))| {
        let verdict = if known.unwrap_or(good || nth % 2 == 0) { "pass" } else { "fail" };
        let verdict = json!({ "id": id, "verdict": verdict, "evidence": "SKILL.md: `Quality:`" });
        judged.iter().map(move |member| {
            let mut verdict = verdict.clone();
            if let Some(member) = member {
                verdict["member"] = json!(member);
            }
            verdict
        })
    });
    json!({
        "verdict_of": code,
        "criteria": criteria.collect::<Vec<Value>>(),
        "strengths": [], "weaknesses": [], "suggestions": [],
    })
    .to_string()
}

/// Returns the truth of a statement about the produced files with which skilltune tests a judge: a file that exists is
/// also shown.
fn known(words: &str, line: &str) -> Option<bool> {
    let (_, named) = line.split_once("Among the files that were produced there is `")?;
    let (path, _) = named.split_once("`.")?;
    Some(words.matches(path).count() > 1)
}

/// Passes every statement except those known to be false.
fn grade(words: &str) -> String {
    let between = |line: &str, open: &str, close: &str| -> Option<String> {
        Some(line.split_once(open)?.1.split_once(close)?.0.to_owned())
    };
    let code = words.lines().rev().find_map(|line| between(line, "\"verdict_of\": \"", "\""));
    let (_, statements) = words.rsplit_once("## The statements").expect("statements are asked about");
    let asked = statements.lines().filter(|line| line.starts_with('`') && !line.starts_with("```"));
    let criteria = asked.filter_map(|line| {
        let verdict = if known(words, line).unwrap_or(true) { "pass" } else { "fail" };
        Some(
            json!({ "id": between(line, "`", "`")?, "verdict": verdict, "evidence": "haiku.md: `One leaf`" }),
        )
    });
    json!({ "verdict_of": code, "criteria": criteria.collect::<Vec<Value>>(), "strengths": [], "weaknesses": [] })
        .to_string()
}

fn quality(words: &str) -> u32 {
    let line = words.lines().find_map(|line| line.strip_prefix("Quality: "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

impl Talk {
    pub(super) fn begun(body: &str) -> Self {
        Self { words: String::new(), results: 0, skills: "", offered: false, body: body.to_owned() }
    }

    /// Returns the workspace as the agent describes it to its model: `.../skilltune/work/RUN/CALL/space`.
    fn space(&self) -> String {
        const BELOW: &str = "/skilltune/work/";
        let outside = |c: char| c.is_whitespace() || matches!(c, '"' | '`' | '(' | '\\' | ':' | '>');
        let spaces = self.body.match_indices(BELOW).filter_map(|(at, _)| {
            let from = self.body[..at].rfind(outside).map_or(0, |last| last + 1);
            let mut below = self.body[at + BELOW.len()..].split('/');
            let (run, call) = (below.next()?, below.next()?);
            below.next()?.strip_prefix("space")?;
            Some(format!("{}{BELOW}{run}/{call}/space", &self.body[from..at]))
        });
        { spaces }.next().unwrap_or_else(|| "/nowhere".to_owned())
    }
}
