//! Bad input: one clear error, what to do now, exit code 2, and nothing written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::finished::won;
use crate::scene::{Scene, without_padding};

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
    error: no skill named "wirter"
    hint: did you mean `skilltune tune writer`?

    error: no skill named "nowhere"
    hint: skills found: writer
    hint: run `skilltune tune writer`

    error: no skill at /project/nowhere
    hint: skills found: writer
    hint: run `skilltune tune writer`

    error: no skill at /nowhere
    hint: skills found: writer
    hint: run `skilltune tune writer`

    error: no skill at /home/nowhere
    hint: skills found: writer
    hint: run `skilltune tune writer`
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
    hint: skills found: writer, bare, nameless, open, yaml
    hint: run `skilltune tune writer`

    error: cannot read /project/unreadable/SKILL.md
    caused by: it is not a regular file
    hint: check its permissions, and that SKILL.md is UTF-8 text

    error: /project/lower has no SKILL.md
    hint: rename skill.md to SKILL.md: agents look for that name

    error: agents cannot load /project/bare/SKILL.md
    caused by: front matter is missing: the first line must be `---`
    hint: start it with a `---` line, then `name:` and `description:`, then another `---` line
    hint: `skilltune lint ./bare` lists what to fix

    error: agents cannot load /project/open/SKILL.md
    caused by: front matter has no closing `---` line
    hint: start it with a `---` line, then `name:` and `description:`, then another `---` line
    hint: `skilltune lint ./open` lists what to fix

    error: agents cannot load /project/yaml/SKILL.md
    caused by: front matter is not a valid YAML mapping: expected string scalar at line 1, column 7
    hint: start it with a `---` line, then `name:` and `description:`, then another `---` line
    hint: `skilltune lint ./yaml` lists what to fix

    error: agents cannot load /project/nameless/SKILL.md
    caused by: front matter has no `name`, or it is empty
    hint: start it with a `---` line, then `name:` and `description:`, then another `---` line
    hint: `skilltune lint ./nameless` lists what to fix

    error: /project/dangling is a broken symlink to gone
    hint: fix the symlink, or remove it

    error: /project/file is not a folder
    hint: skills found: writer, bare, nameless, open, yaml
    hint: run `skilltune tune writer`
    ");
}

#[test]
fn what_cannot_be_stored_is_refused_before_anything_is_stored() {
    let scene = plain();
    fifo(&scene.skill("writer").join("pipe"));
    insta::assert_snapshot!(tune(&scene, &["writer"]), @r"
    error: /project/.claude/skills/writer/pipe is not a file, folder or symlink
    hint: check the permissions of /project/.claude/skills/writer
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
    error: duplicate skill: /project/.claude/skills/writer
    hint: list each skill once; a symlink to a skill counts as that skill

    error: duplicate skill: /project/.claude/skills/writer
    hint: list each skill once; a symlink to a skill counts as that skill

    error: nested skills: /project/.claude/skills/writer/inner is inside /project/.claude/skills/writer
    hint: pass only the outer skill; it contains the other

    error: empty name in the list of skills "writer,,"
    hint: separate skills with single commas, without spaces

    error: empty name in the list of skills ""
    hint: separate skills with single commas, without spaces
    "#);
}

#[test]
fn a_name_of_two_different_skills_must_be_a_path() {
    let scene = plain();
    fs::create_dir_all(scene.path("home/.claude/skills/writer")).unwrap();
    fs::copy(scene.skill("writer").join("SKILL.md"), scene.path("home/.claude/skills/writer/SKILL.md"))
        .unwrap();
    insta::assert_snapshot!(tune(&scene, &["writer"]), @r#"
    error: 2 skills are named "writer"
    hint: run `skilltune tune .claude/skills/writer`
    hint: run `skilltune tune /home/.claude/skills/writer`
    "#);
}

#[test]
fn flags_that_contradict_each_other_or_mean_nothing_are_refused() {
    let scene = plain();
    let with = |flags: &[&str]| {
        let said = scene.refusal(&[&["tune", "writer", "a task"], flags].concat());
        // The rest is the usage text, which clap writes.
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
    hint: pass only one of them
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
    hint: pass an existing folder to --project
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

    error: /project/skilltune.toml:2: `agents.a.command` must be a list of strings: a program and its arguments

    error: /project/skilltune.toml:3: unknown key `agents.a.env.pas`
    hint: did you mean `agents.a.env.pass`?

    error: /project/skilltune.toml:1: unclosed table, expected `]`
    hint: fix the file, or move it away; settings are TOML in UTF-8
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
    error: unknown agent `evaluater` as evaluator (flag --evaluator)
    hint: did you mean `evaluator`?
    hint: agents in your settings: evaluator, executor, improver

    error: no agent for the role executor
    hint: install claude and log in: npm install -g @anthropic-ai/claude-code; `skilltune doctor` lists other agents
    hint: or pass --agent offline: it needs no model and checks structure only
    hint: or describe your own in skilltune.toml, then pass --agent mine:

        [agents.mine]
        command = ["program", "argument"]


    error: no agent for the role executor
    hint: pass --agent NAME or --executor NAME, or set roles.executor
    hint: agents in your settings: mine
    hint: or pass --agent offline: it needs no model and checks structure only

    error: cannot run agent `mine`: program "no-such-program" not found
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
    hint: or pass --trust to trust them for this run
    ");
}

#[test]
fn a_run_must_be_named_by_a_beginning_that_is_its_own() {
    let scene = plain();
    insta::assert_snapshot!(refused(&scene, &[&["rollback"], &["report", "ab"], &["trust", "nowhere"], &["trust", "."]]), @r"
    error: no runs in /project/.skilltune
    hint: start one with `skilltune tune SKILL`, or pass --project DIR; `skilltune help` lists the other loops

    error: no runs in /project/.skilltune
    hint: start one with `skilltune tune SKILL`, or pass --project DIR; `skilltune help` lists the other loops

    error: /project/nowhere does not exist
    hint: pass a skilltune.toml, its folder, a suite, a file of rules, a file of jobs, an expert, or moai's design.yaml

    error: /project/skilltune.toml does not exist
    hint: pass a skilltune.toml, its folder, a suite, a file of rules, a file of jobs, an expert, or moai's design.yaml
    ");
    let scene = won();
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
    error: no run matches "xyz"
    hint: newest runs: RUN
    hint: list runs with `skilltune list`; name a round or a candidate after its run

    error: run RUN has no candidate "xyz"
    hint: it has HASH, HASH, HASH, or start, best, head, champion

    error: run RUN has no round 9
    hint: it has 3 rounds so far

    error: run RUN has no candidate "xyz"
    hint: it has HASH, HASH, HASH, or start, best, head, champion

    error: /project/taken already exists
    hint: pass a folder that does not exist

    error: run RUN is not waiting for an answer
    hint: omit --answer

    RUN  SIZE
    error: nothing was deleted
    hint: pass --yes to delete without asking
    "#);
    // Every id starts with the empty string.
    scene.tune("writer", &["--fresh"]);
    let ambiguous = scene.refusal(&["status", ""]);
    assert!(
        ambiguous.starts_with("error: \"\" matches 2 runs\nhint: use a longer prefix: RUN, RUN"),
        "{ambiguous}"
    );
}

#[test]
fn a_damaged_run_is_not_touched_and_a_newer_one_is_left_to_a_newer_program() {
    let scene = won();
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
    error: line 3 of /project/.skilltune/runs/RUN/history.jsonl is damaged: its checksum does not match
    hint: this run cannot be resumed; start a new run, which reuses the cached answers

    error: /project/.skilltune/runs/RUN was written by a newer skilltune
    caused by: it has format 9; this version reads up to 1
    hint: update skilltune

    error: the journal is empty
    caused by: /project/.skilltune/runs/RUN/history.jsonl
    hint: nothing is lost: the run was killed before it started
    ");
    let listed = scene.run(&["list"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    insta::assert_snapshot!(without_padding(&scene.normalized(&listed.stdout)), @r"
    RUN  KIND  STATUS  PROGRESS  RESULT  UPDATED  SUBJECT
    RUN  tune  damaged  -  -  -  the journal is empty
    ");
}
