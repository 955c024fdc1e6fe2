//! Bad input: one clear error, what to do now, exit code 2, and nothing written before.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::scene::Scene;

fn plain() -> Scene {
    Scene::new(&[("writer", 40)], &json!({}))
}

fn refused(scene: &Scene, lines: &[&[&str]]) -> String {
    lines.iter().map(|line| scene.refusal(line)).collect::<Vec<_>>().join("\n")
}

fn tune(scene: &Scene, skills: &[&str]) -> String {
    let lines: Vec<_> = skills.iter().map(|skill| vec!["tune", skill, "a task", "--yes"]).collect();
    refused(scene, &lines.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn a_skill_that_is_not_there_is_told_where_it_was_looked_for() {
    insta::assert_snapshot!(tune(&plain(), &["wirter", "nowhere", "./nowhere", "/nowhere", "~/nowhere"]), @r#"
    error: no skill is named "wirter"
    hint: did you mean `writer`?
    hint: looked in .claude/skills, .agents/skills, .gemini/skills, .codex/skills below /project, /home
    hint: for a skill elsewhere, give its path, such as ./my-skill

    error: no skill is named "nowhere"
    hint: looked in .claude/skills, .agents/skills, .gemini/skills, .codex/skills below /project, /home
    hint: for a skill elsewhere, give its path, such as ./my-skill

    error: there is no skill at /project/nowhere
    hint: give the folder that holds SKILL.md, or the bare name of a skill

    error: there is no skill at /nowhere
    hint: give the folder that holds SKILL.md, or the bare name of a skill

    error: there is no skill at /home/nowhere
    hint: give the folder that holds SKILL.md, or the bare name of a skill
    "#);
}

#[test]
fn a_folder_that_is_no_skill_is_told_what_it_lacks() {
    let scene = plain();
    let folder = |name: &str| {
        fs::create_dir_all(scene.path("project").join(name)).unwrap();
        scene.path("project").join(name)
    };
    folder("empty");
    folder("unreadable/SKILL.md");
    fs::write(folder("lower").join("skill.md"), "").unwrap();
    fs::write(folder("bare").join("SKILL.md"), "# A title\n").unwrap();
    fs::write(folder("open").join("SKILL.md"), "---\nname: open\n").unwrap();
    fs::write(folder("yaml").join("SKILL.md"), "---\nname: [a\n---\n").unwrap();
    fs::write(folder("nameless").join("SKILL.md"), "---\ndescription: d\n---\n").unwrap();
    symlink("gone", scene.path("project/dangling")).unwrap();
    fs::write(scene.path("project/file"), "").unwrap();
    let given = [
        "./empty",
        "./unreadable",
        "./lower",
        "./bare",
        "./open",
        "./yaml",
        "./nameless",
        "./dangling",
        "./file",
    ];
    insta::assert_snapshot!(tune(&scene, &given), @r"
    error: /project/empty has no SKILL.md
    hint: give the folder that holds SKILL.md, or the bare name of a skill

    error: cannot read /project/unreadable/SKILL.md
    caused by: it is not a regular file
    hint: a skill is files and folders that you can read, in UTF-8

    error: /project/lower has no SKILL.md
    hint: there is a skill.md: agents look for SKILL.md, in capitals

    error: agents could not load /project/bare/SKILL.md
    caused by: front matter is missing: the first line must be `---`
    hint: it begins with a line `---`, then `name:` and `description:`, then `---` again

    error: agents could not load /project/open/SKILL.md
    caused by: front matter has no closing `---` line
    hint: it begins with a line `---`, then `name:` and `description:`, then `---` again

    error: agents could not load /project/yaml/SKILL.md
    caused by: front matter is not a valid YAML mapping: expected string scalar at line 1, column 7
    hint: it begins with a line `---`, then `name:` and `description:`, then `---` again

    error: agents could not load /project/nameless/SKILL.md
    caused by: front matter has no `name`, or it is empty
    hint: it begins with a line `---`, then `name:` and `description:`, then `---` again

    error: /project/dangling is a symlink that leads nowhere, to gone
    hint: make the link lead to a skill, or remove it

    error: /project/file is not a folder
    hint: give the folder that holds SKILL.md, or the bare name of a skill
    ");
}

#[test]
fn what_cannot_be_stored_is_refused_before_anything_is_stored() {
    let scene = plain();
    fifo(&scene.skill("writer").join("pipe"));
    insta::assert_snapshot!(tune(&scene, &["writer"]), @r"
    error: /project/.claude/skills/writer/pipe is neither a file nor a folder nor a link
    hint: a skill is files, folders and links that can be read: look at /project/.claude/skills/writer
    ");
}

#[test]
fn a_skill_is_given_once() {
    let scene = plain();
    scene.write_skill("writer/inner", 40);
    fs::create_dir_all(scene.path("project/.agents/skills")).unwrap();
    symlink(scene.skill("writer"), scene.path("project/.agents/skills/author")).unwrap();
    let lists = ["writer,writer", "writer,author", "writer,.claude/skills/writer/inner", "writer,,", ""];
    let said: Vec<_> = lists.iter().map(|list| scene.refusal(&["tune", list, "a task", "--chain"])).collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    error: the same skill is given twice: /project/.claude/skills/writer
    hint: name each skill once; a symlink to a skill is that skill

    error: the same skill is given twice: /project/.claude/skills/writer
    hint: name each skill once; a symlink to a skill is that skill

    error: one skill is inside another: /project/.claude/skills/writer/inner in /project/.claude/skills/writer
    hint: name the outer one alone: it holds the other

    error: an empty name in the list of skills "writer,,"
    hint: separate skills by single commas, without spaces

    error: an empty name in the list of skills ""
    hint: separate skills by single commas, without spaces
    "#);
}

#[test]
fn a_name_of_two_different_skills_must_be_a_path() {
    let scene = plain();
    fs::create_dir_all(scene.path("home/.claude/skills/writer")).unwrap();
    fs::copy(scene.skill("writer").join("SKILL.md"), scene.path("home/.claude/skills/writer/SKILL.md"))
        .unwrap();
    insta::assert_snapshot!(tune(&scene, &["writer"]), @r#"
    error: "writer" is the name of 2 different skills
    hint: found /project/.claude/skills/writer
    hint: found /home/.claude/skills/writer
    hint: give the path of the one you mean
    "#);
}

#[test]
fn flags_that_contradict_each_other_or_mean_nothing_are_refused() {
    let scene = plain();
    let with = |flags: &[&str]| {
        let said = scene.refusal(&[&["tune", "writer", "a task"], flags].concat());
        // The rest is the usage, which clap words.
        said.split("\n\n").next().unwrap().trim_end().to_owned()
    };
    let said = [
        with(&["--chain", "--mode", "single"]),
        with(&["--max-iterations", "0"]),
        with(&["--threshold", "101"]),
        with(&["--timeout", "0"]),
        with(&["--jobs", "many"]),
        with(&["--format", "xml"]),
        with(&["--agent", "a b"]),
        with(&["--agent", "executor:-x"]),
        with(&["--treshold", "5"]),
        with(&["--project", "nowhere"]),
    ];
    insta::assert_snapshot!(said.join("\n"), @r"
    error: --chain and --mode single contradict each other
    hint: give one of them
    error: invalid value '0' for '--max-iterations <N>': must be a whole number from 1 to 100
    error: invalid value '101' for '--threshold <SCORE>': must be a number from 0 to 100
    error: invalid value '0' for '--timeout <TIME>': must be from 1 to 604800 seconds, such as 90, 90s, 10m or 1h
    error: invalid value 'many' for '--jobs <N>': must be a whole number from 1 to 256
    error: invalid value 'xml' for '--format <FORMAT>'
      [possible values: human, json, jsonl]
    error: invalid value 'a b' for '--agent <AGENT>': an agent name may contain only letters, digits, `-`, `_` and `.`
    error: invalid value 'executor:-x' for '--agent <AGENT>': a model name must not be empty or start with `-`
    error: unexpected argument '--treshold' found
    error: cannot use nowhere as the project folder
    caused by: No such file or directory (os error 2)
    hint: --project takes a folder that is there
    ");
}

#[test]
fn settings_with_a_mistake_are_told_the_line_and_the_nearest_key() {
    let scene = plain();
    let with = |text: &str| {
        fs::write(scene.path("project/skilltune.toml"), text).unwrap();
        tune(&scene, &["writer"])
    };
    let said = [
        with("[tune]\ntreshold = 80\n"),
        with("[tune]\n\nthreshold = \"80\"\n"),
        with("[tune]\nmax_iterations = 2.5\n"),
        with("[tune]\npreset = \"fast\"\n"),
        with("[roles]\nexecuter = \"a\"\n"),
        with("threshold = 80\n"),
        with("[agents.a]\ncommand = \"sh -c x\"\n"),
        with("[agents.a]\ncommand = [\"x\"]\nenv.pas = []\n"),
        with("[tune\n"),
    ];
    insta::assert_snapshot!(said.join("\n"), @r#"
    error: /project/skilltune.toml:2: unknown key `tune.treshold`
    hint: did you mean `tune.threshold`?

    error: /project/skilltune.toml:3: `tune.threshold` must be a number from 0 to 100, not "80"

    error: /project/skilltune.toml:2: `tune.max_iterations` must be a whole number from 1 to 100, not 2.5

    error: /project/skilltune.toml:2: `tune.preset` must be one of "quick", "standard", "thorough", not "fast"

    error: /project/skilltune.toml:2: unknown key `roles.executer`
    hint: did you mean `roles.executor`?

    error: /project/skilltune.toml:1: unknown key `threshold`
    hint: did you mean `tune.threshold`?

    error: /project/skilltune.toml:2: `agents.a.command` must be a list of texts: a program and its arguments

    error: /project/skilltune.toml:3: unknown key `agents.a.env.pas`
    hint: did you mean `agents.a.env.pass`?

    error: /project/skilltune.toml:1: unclosed table, expected `]`
    hint: settings are a TOML file in UTF-8; put it right, or move it away
    "#);
}

#[test]
fn an_agent_must_be_known_and_its_program_be_there() {
    let scene = plain();
    let unknown = scene.refusal(&["tune", "writer", "a task", "--yes", "--evaluator", "evaluater"]);
    fs::write(scene.path("config/skilltune/skilltune.toml"), "").unwrap();
    let nobody = tune(&scene, &["writer"]);
    fs::write(
        scene.path("config/skilltune/skilltune.toml"),
        "[agents.mine]\ncommand = [\"no-such-program\"]\n",
    )
    .unwrap();
    let unnamed = tune(&scene, &["writer"]);
    let missing = scene.refusal(&["tune", "writer", "a task", "--yes", "--agent", "mine"]);
    insta::assert_snapshot!([unknown, nobody, unnamed, missing].join("\n"), @r#"
    error: no agent is named `evaluater`, chosen as evaluator by flag --evaluator
    hint: did you mean `evaluator`?
    hint: these agents are described: evaluator, executor, improver

    error: no agent is set as executor
    hint: --agent offline needs no model: it looks at structure only, and says so
    hint: claude and some others need no settings: npm install -g @anthropic-ai/claude-code
    hint: describe it in skilltune.toml, then say --agent mine:

        [agents.mine]
        command = ["program", "argument"]


    error: no agent is set as executor
    hint: --agent offline needs no model: it looks at structure only, and says so
    hint: say --agent NAME or --executor NAME, or set roles.executor
    hint: these agents are described: mine

    error: agent `mine` cannot run: program "no-such-program" was not found
    hint: install it, or set agents.mine.command (user file /config/skilltune/skilltune.toml)
    "#);
}

#[test]
fn a_projects_agents_are_not_run_unattended_before_they_are_trusted() {
    let scene = plain();
    let settings = fs::read(scene.path("config/skilltune/skilltune.toml")).unwrap();
    fs::remove_file(scene.path("config/skilltune/skilltune.toml")).unwrap();
    fs::write(scene.path("project/skilltune.toml"), settings).unwrap();
    insta::assert_snapshot!(tune(&scene, &["writer"]), @r"
    error: the agents of /project/skilltune.toml are not trusted: evaluator, executor, improver
    hint: read the file, then run `skilltune trust /project/skilltune.toml`
    hint: --trust allows them for this once
    ");
}

#[test]
fn a_run_must_be_named_by_a_beginning_that_is_its_own() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    insta::assert_snapshot!(refused(&scene, &[&["status"], &["report", "ab"], &["trust", "nowhere"], &["trust", "."]]), @r"
    error: there are no runs in /project/.skilltune
    hint: start one with `skilltune tune SKILL`, or name another project with --project DIR

    error: there are no runs in /project/.skilltune
    hint: start one with `skilltune tune SKILL`, or name another project with --project DIR

    error: there is no /project/nowhere
    hint: give a project's skilltune.toml, the folder that it stands in, or a suite

    error: there is no /project/skilltune.toml
    hint: give a project's skilltune.toml, the folder that it stands in, or a suite
    ");
    scene.tune("writer", &[]);
    let taken = scene.path("project/taken");
    fs::create_dir(&taken).unwrap();
    let run = scene.run_folder().file_name().unwrap().to_str().unwrap().to_owned();
    let said = refused(
        &scene,
        &[
            &["status", "xyz"],
            &["diff", &run, "xyz"],
            &["show", &run, "9"],
            &["apply", &run, "xyz"],
            &["export", &run, "champion", "taken"],
            &["resume", &run, "--answer", "keep"],
            &["clean", &run],
        ],
    );
    assert_eq!(fs::read_dir(&taken).unwrap().count(), 0);
    let size = said.lines().find_map(|line| line.strip_prefix("RUN  ")).unwrap();
    insta::assert_snapshot!(said.replace(size, "SIZE"), @r#"
    error: no run has the alias "xyz" or an id that begins with it
    hint: `skilltune list` shows the runs of this project; a round or a candidate is named after its run

    error: run RUN has no candidate "xyz"
    hint: it has HASH, HASH, HASH (and the words start, best, head, champion)

    error: run RUN has no round 9
    hint: it has 3 so far

    error: run RUN has no candidate "xyz"
    hint: it has HASH, HASH, HASH (and the words start, best, head, champion)

    error: /project/taken is there already
    hint: name a folder that is not

    error: run RUN waits for no answer
    hint: leave --answer out

    RUN  SIZE
    error: nothing was deleted
    hint: add --yes to delete without a question
    "#);
    // Every id begins with the empty text.
    scene.tune("writer", &["--fresh"]);
    let ambiguous = scene.refusal(&["status", ""]);
    assert!(
        ambiguous.starts_with("error: \"\" begins the ids of 2 runs\nhint: write more of it: RUN, RUN"),
        "{ambiguous}"
    );
}

#[test]
fn a_damaged_run_is_not_touched_and_a_newer_one_is_left_to_a_newer_program() {
    let scene = Scene::new(&[("writer", 40)], &json!({ "improve": { "writer": { "40": 60, "60": 90 } } }));
    scene.tune("writer", &[]);
    let journal = scene.run_folder().join("history.jsonl");
    let whole = fs::read(&journal).unwrap();
    let mut damaged = whole.clone();
    let third = damaged.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(2).unwrap().0;
    damaged[third - 30] ^= 1;
    fs::write(&journal, &damaged).unwrap();
    let commands: [&[&str]; 7] = [
        &["status"],
        &["resume"],
        &["history"],
        &["report"],
        &["apply"],
        &["rollback"],
        &["export", "", "start", "x"],
    ];
    let first = scene.refusal(commands[0]);
    for command in commands {
        assert_eq!(scene.refusal(command), first, "{command:?}");
    }
    let text = String::from_utf8(whole).unwrap();
    fs::write(&journal, text.replacen("\"format\":1", "\"format\":9", 1)).unwrap();
    let newer = scene.refusal(&["status"]);
    fs::write(&journal, "").unwrap();
    let empty = scene.refusal(&["status"]);
    insta::assert_snapshot!([first, newer, empty].join("\n"), @r"
    error: line 3 of /project/.skilltune/runs/RUN/history.jsonl is damaged: its checksum does not fit
    hint: the run cannot be taken up; its answers are in the cache, so a new run on the same skill makes none of them again

    error: /project/.skilltune/runs/RUN was written by a newer skilltune
    caused by: it has format 9; this program reads up to 1
    hint: update skilltune: this run needs the newer program

    error: the journal is empty
    caused by: /project/.skilltune/runs/RUN/history.jsonl
    hint: nothing is lost with it: a run begins with the first line of its journal
    ");
    let listed = scene.run(&["list"]);
    assert_eq!(
        (listed.code, scene.shown(&listed.stdout).as_str()),
        (Some(0), "RUN  damaged: the journal is empty\n")
    );
}
