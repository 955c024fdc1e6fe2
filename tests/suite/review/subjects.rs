//! What can be reviewed: uncommitted changes, revisions, ranges, folders and skills; and names that are refused.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{BROKEN, Project, confirmed, ended, reporting, shown, table};
use crate::scene::{Ran, Scene};

/// Returns a project with the broken pump on the branch `topic`, and a new page that is not committed.
fn project() -> Project {
    let project = Project::broken(&reporting(&confirmed()));
    project.git.git(&["checkout", "--quiet", "-b", "topic"]);
    project.git.commit("Break it");
    project.write("docs/page.md", "# A page\n");
    project
}

fn files(ran: &Ran) -> Value {
    ran.json()["files"].clone()
}

#[test]
fn each_way_to_name_a_change_reviews_its_files() {
    let project = project();
    for (what, expected, code) in [
        (&[][..], &["docs/page.md"][..], 0),
        (&["HEAD"], &["docs/page.md"], 0),
        (&["topic"], &["docs/page.md"], 0),
        (&["main"], &["docs/page.md", "pump"], 3),
        (&["main..topic"], &["pump"], 3),
        (&["main...topic"], &["pump"], 3),
        (&["main.."], &["pump"], 3),
        (&["..main"], &[], 0),
        (&["docs"], &["page.md"], 0),
        (&["pump"], &["pump"], 3),
        (&["."], &["docs/page.md", "pump"], 3),
    ] {
        let ran = project.review(what);
        assert_eq!((ran.code, files(&ran)), (Some(code), json!(expected)), "{what:?}: {ran:?}");
    }
    let mut below = project.scene().command(&["review", "--yes", "--format", "json", "main"]);
    let ran = Ran::of(below.current_dir(project.git.path("docs")).output().unwrap());
    assert_eq!(files(&ran), json!(["docs/page.md", "pump"]), "the whole repository: {ran:?}");
}

#[test]
fn a_folder_is_reviewed_as_it_is_with_nothing_before_it() {
    let project = Project::broken(&reporting(&shown()));
    project.write("skilltune.toml", "[commands]\ntest = [\"awk\", \"BEGIN { exit 1 }\"]\n");
    project.git.commit("Break it");
    let ran = project.review(&[".", "--trust", "--commands", "run"]);
    assert_eq!(
        table(&ran),
        ["machine high: test fails | - | test", "confirmed high: Division by zero | pump:8 | security",],
        "no empty folder makes a fault an older one, or proves one: {ran:?}"
    );
}

#[test]
fn a_change_of_nothing_is_clean_and_asks_no_agent() {
    let project = project();
    let ran = project.review(&["topic..topic"]);
    assert_eq!((ended(&ran), files(&ran)), ((Some(0), json!("clean")), json!([])), "{ran:?}");
    assert!(project.scene().calls().is_empty());
}

#[test]
fn symlinks_renames_modes_and_inner_repositories_of_the_working_tree_are_read() {
    let project = project();
    project.git.commit("Add a page");
    project.git.git(&["mv", "pump", "pump2"]);
    project.write("docs/page.md", "#! A page\n");
    symlink("/etc", project.git.path("etc")).unwrap();
    fs::create_dir(project.git.path("inner")).unwrap();
    project.git.git(&["init", "--quiet", "inner"]);
    project.write("inner/file", "not ours\n");
    let ran = project.review(&[]);
    assert_eq!(files(&ran), json!(["docs/page.md", "etc", "pump", "pump2"]), "{ran:?}");
    assert_eq!(ran.json()["left_out"], json!([{ "path": "inner", "why": "another repository" }]));
    let prompts = project.prompts();
    assert!(prompts.iter().all(|prompt| prompt.contains("+symbolic link to /etc\n")), "{prompts:?}");
    assert!(
        prompts.iter().all(|prompt| prompt.contains("+++ docs/page.md (now executable)\n")),
        "{prompts:?}"
    );
    fs::remove_dir_all(project.git.path("docs")).unwrap();
    symlink("/etc", project.git.path("docs")).unwrap();
    let ran = project.review(&[]);
    assert_eq!(files(&ran), json!(["docs", "docs/page.md", "etc", "pump", "pump2"]), "{ran:?}");
}

#[test]
fn a_skill_is_linted_and_its_reviewers_know_what_a_skill_is() {
    let project = project();
    project.write(".claude/skills/writer/SKILL.md", "---\nname: other\n---\n\n# Write\n");
    let lint = |place: &str| {
        [
            format!("machine high: the description is missing | {place}SKILL.md:1 | lint"),
            format!(
                "machine high: the name is \"other\", but the folder is \"writer\" | {place}SKILL.md:2 | lint"
            ),
        ]
    };
    let ran = project.review(&[".claude/skills/writer"]);
    assert_eq!((ran.code, &ran.json()["is_skill"]), (Some(3), &json!(true)), "{ran:?}");
    assert_eq!(table(&ran), lint(""));
    let prompts = project.prompts();
    assert!(prompts.iter().all(|prompt| prompt.contains("The files are an agent skill")), "{prompts:?}");
    let ran = project.review(&["--with", "quality"]);
    assert_eq!(table(&ran), lint(".claude/skills/writer/"), "uncommitted: {ran:?}");
}

#[test]
fn a_name_that_is_none_is_refused_before_anything_is_written() {
    let project = project();
    let scene = project.scene();
    for (line, why) in [
        (&["review", "nosuch", "--yes"][..], "the repository has no revision \"nosuch\""),
        (&["review", "nosuch..main", "--yes"], "the repository has no revision \"nosuch\""),
        (&["review", "main..-x", "--yes"], "the repository has no revision \"-x\""),
        (&["review", "main..--upload-pack=x", "--yes"], "the repository has no revision \"--upload-pack=x\""),
        (&["review", "--yes", "--", "--upload-pack=x"], "the repository has no revision \"--upload-pack=x\""),
        (&["review", "-x"], "unexpected argument '-x'"),
        (&["review", "", "--yes"], "has an empty name"),
        (&["review", "/", "--yes"], "it holds all of your files"),
        (&["review", "--with", "unknown", "--yes"], "there is no reviewer named \"unknown\""),
        (&["review", "--with", "", "--yes"], "no reviewer is named"),
        (&["review", "--fail-on", "bad"], "invalid value 'bad'"),
    ] {
        let refused = scene.refusal(line);
        assert!(refused.contains(why), "{line:?}: {refused}");
    }
    let unborn = Project::new(&json!({}));
    unborn.write("pump", BROKEN);
    assert!(unborn.scene().refusal(&["review", "--yes"]).contains("the repository has no commit yet"));
    assert_eq!(files(&unborn.review(&["."])), json!(["pump"]));
    let alone = Scene::new(&[], &json!({}));
    fs::remove_dir(alone.path("project/.git")).unwrap();
    assert!(alone.refusal(&["review", "--yes"]).contains("is not in a git repository"));
}
