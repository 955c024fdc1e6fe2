use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::terminal::columns::UNBOUNDED;
use crate::terminal::complaint::Complaint;
use crate::terminal::style::Style;

/// A temporary folder with `home` and a project `repo`, whose `sub` is the current folder.
struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["home", "repo/.git", "repo/sub"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    fn skill(self, path: &str) -> Self {
        self.file(&format!("{path}/SKILL.md"), "---\nname: a\ndescription: b\n---\n")
    }

    fn file(self, path: &str, text: &str) -> Self {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn link(self, path: &str, leads_to: &str) -> Self {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        symlink(leads_to, self.at(path)).unwrap();
        self
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    fn env(&self) -> Environment {
        Environment { cwd: self.at("repo/sub"), ..Environment::fake(self.at(""), &[]) }
    }

    /// Returns the real paths found, below the root.
    fn find(&self, list: &str) -> Vec<String> {
        let found = skills(list, &self.env()).unwrap();
        let root = self.at("");
        let below = |skill: Skill| skill.path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        found.into_iter().map(below).collect()
    }

    fn refusal(&self, list: &str) -> String {
        let complaint = Complaint::from(skills(list, &self.env()).unwrap_err());
        assert_eq!(complaint.exit().code(), 2);
        complaint.render(Style::PLAIN, UNBOUNDED).replace(self.at("").to_str().unwrap(), "/")
    }
}

#[test]
fn a_path_is_taken_as_it_is() {
    let world = World::new().skill("repo/a").skill("repo/sub/b").skill("home/c");
    let absolute = world.at("repo/a");
    assert_eq!(world.find(absolute.to_str().unwrap()), ["repo/a"]);
    assert_eq!(world.find("../a,./b,~/c"), ["repo/a", "repo/sub/b", "home/c"]);
    assert_eq!(world.find("../sub/b/"), ["repo/sub/b"]);
    assert_eq!(world.find("b/SKILL.md"), ["repo/sub/b"], "people name the page too");
}

#[test]
fn a_path_with_a_comma_that_exists_is_one_path() {
    let world = World::new().skill("repo/sub/a,b").skill("repo/sub/c");
    assert_eq!(world.find("./a,b"), ["repo/sub/a,b"]);
    insta::assert_snapshot!(world.refusal("./c,,./d"), @r#"
    error: empty name in the list of skills "./c,,./d"
    hint: separate skills with single commas, without spaces
    "#);
}

#[test]
fn a_bare_name_of_a_file_here_means_the_file_unless_a_skill_has_the_name() {
    let world = World::new().file("repo/sub/README.md", "").file("repo/skills/README.md", "");
    let world = world.file("repo/sub/a,b.md", "").file("repo/sub/writer", "").skill("repo/skills/writer");
    let found = |list: &str| {
        let root = world.at("");
        let paths = paths(list, &world.env()).unwrap();
        let below = |path: PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        paths.into_iter().map(below).collect::<Vec<_>>()
    };
    assert_eq!(found("README.md,writer"), ["repo/sub/README.md", "repo/skills/writer"]);
    assert_eq!(found("a,b.md"), ["repo/sub/a,b.md"]);
    assert_eq!(found("./gone.md"), ["repo/sub/gone.md"]);
}

#[test]
fn a_bare_name_is_found_on_every_shelf() {
    let world = World::new()
        .skill("repo/sub/.claude/skills/a")
        .skill("repo/.agents/skills/b")
        .skill("repo/.gemini/skills/c")
        .skill("home/.codex/skills/d")
        .skill(".claude/skills/above");
    assert_eq!(world.find("a,b")[1], "repo/.agents/skills/b");
    assert_eq!(world.find("c,d")[1], "home/.codex/skills/d");
    assert!(world.refusal("above").starts_with("error: no skill named \"above\""), "outside the project");
}

#[test]
fn a_name_that_only_a_skill_in_the_current_folder_has_means_that_one() {
    let world = World::new().skill("repo/sub/a").skill("repo/sub/b").skill("home/.claude/skills/b");
    assert_eq!(
        world.find("a,b"),
        ["repo/sub/a", "home/.claude/skills/b"],
        "a name means an installed skill first"
    );
}

#[test]
fn one_skill_on_several_shelves_is_one_skill() {
    let world = World::new()
        .skill("repo/.agents/skills/a")
        .link("repo/.claude/skills/a", "../../.agents/skills/a")
        .link("home/.claude/skills", "../../repo/.claude/skills");
    assert_eq!(world.find("a"), ["repo/.agents/skills/a"]);
}

#[test]
fn different_skills_of_one_name_are_listed() {
    let world = World::new().skill("repo/.agents/skills/a").skill("home/.claude/skills/a");
    insta::assert_snapshot!(world.refusal("a"), @r#"
    error: 2 skills are named "a"
    hint: found /repo/.agents/skills/a
    hint: found /home/.claude/skills/a
    hint: pass the path of the one you mean
    "#);
}

#[test]
fn a_name_found_nowhere_tells_where_was_looked_and_what_is_near() {
    let world = World::new().skill("repo/.claude/skills/writer").file("repo/sub/wirter/page.md", "");
    insta::assert_snapshot!(world.refusal("wirter"), @r#"
    error: no skill named "wirter"
    hint: did you mean `writer`?
    hint: for the folder here, use ./wirter
    hint: looked in skills, .claude/skills, .agents/skills, .gemini/skills, .codex/skills, .opencode/skills below /repo/sub, /repo, /home
    hint: for a skill elsewhere, pass its path, such as ./my-skill
    "#);
}

#[test]
fn what_is_no_skill_is_refused_with_the_reason() {
    let world = World::new()
        .file("repo/sub/file", "")
        .file("repo/sub/lower/skill.md", "")
        .file("repo/sub/empty/README.md", "")
        .file("repo/sub/broken/SKILL.md", "# no front matter")
        .link("repo/sub/dangling", "../nowhere")
        .skill("repo/sub/a");
    let given = ["./missing", "./dangling", "./file", "./empty", "./lower", "./broken"];
    insta::assert_snapshot!(given.map(|path| world.refusal(path)).join("\n"), @r"
    error: no skill at /repo/sub/missing
    hint: pass the folder that contains SKILL.md, or the name of a skill
    error: /repo/sub/dangling is a broken symlink to ../nowhere
    hint: fix the symlink, or remove it
    error: /repo/sub/file is not a folder
    hint: pass the folder that contains SKILL.md, or the name of a skill
    error: /repo/sub/empty has no SKILL.md
    hint: pass the folder that contains SKILL.md, or the name of a skill
    error: /repo/sub/lower has no SKILL.md
    hint: rename skill.md to SKILL.md: agents look for that name
    error: agents cannot load /repo/sub/broken/SKILL.md
    caused by: front matter is missing: the first line must be `---`
    hint: start it with a `---` line, then `name:` and `description:`, then another `---` line
    ");
}

#[test]
fn a_dangling_link_on_a_shelf_is_said_to_be_one() {
    let world = World::new().link("repo/.claude/skills/a", "../gone");
    insta::assert_snapshot!(world.refusal("a"), @r"
    error: /repo/.claude/skills/a is a broken symlink to ../gone
    hint: fix the symlink, or remove it
    ");
}

#[test]
fn what_cannot_be_read_as_text_is_refused() {
    let world = World::new().file("repo/sub/a/SKILL.md/x", "");
    assert!(world.refusal("./a").starts_with("error: cannot read /repo/sub/a/SKILL.md\ncaused by: "));
    let world = World::new().skill("repo/sub/a");
    fs::write(world.at("repo/sub/a/SKILL.md"), b"---\nname: \xff\n---\n").unwrap();
    assert!(world.refusal("./a").contains("invalid utf-8 sequence"));
}

#[test]
fn a_path_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::new().skill("repo/sub/a");
    let odd = world.at("repo/sub").join(std::ffi::OsStr::from_bytes(b"\xff"));
    // Some file systems refuse such names.
    if fs::rename(world.at("repo/sub/a"), &odd).is_ok() {
        symlink(&odd, world.at("repo/sub/link")).unwrap();
        assert!(world.refusal("./link").starts_with("error: the path of the skill is not valid UTF-8"));
    }
    assert!(world.refusal("/").starts_with("error: the root folder cannot be a skill\nhint: "));
}

#[test]
fn no_skill_may_be_given_twice_or_be_inside_another() {
    let world = World::new().skill("repo/sub/a").skill("repo/sub/a/b").link("repo/sub/c", "a");
    insta::assert_snapshot!(["./a,./c", "./a/b,./a"].map(|list| world.refusal(list)).join("\n"), @r"
    error: duplicate skill: /repo/sub/a
    hint: list each skill once; a symlink to a skill counts as that skill
    error: nested skills: /repo/sub/a/b is inside /repo/sub/a
    hint: pass only the outer skill; it contains the other
    ");
}

#[test]
fn members_of_one_name_are_told_apart() {
    let named = |name: &str| Skill { name: name.to_owned(), path: PathBuf::new() };
    let mut members = ["x", "x-2", "x", "y", "x"].map(named);
    make_unique(&mut members);
    assert_eq!(members.map(|member| member.name), ["x", "x-2", "x-3", "y", "x-4"]);
}
