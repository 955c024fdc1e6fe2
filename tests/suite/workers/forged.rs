//! A worker that forges the edit of an improver: what must never be in a person's folder is refused here once more.

use skilltune_orchestrator::snapshot::{Manifest, Node, Objects, RelPath};
use skilltune_phases::base::id::BlobId;

use super::hostile::lying;
use super::*;

const PAGE: &str = "---\nname: writer\ndescription: Writes a page for tests. Use it in tests.\n---\n\n# writer\n\nQuality: 90\n\nSee references/style.md.\n";

/// Writes an edit of the skill with this entry, and returns the statements that put it in place of an improver's.
fn forging(scene: &Scene, path: &str, node: impl FnOnce(&Objects) -> Node) -> String {
    let objects = Objects::at(scene.path("forged"));
    let file = |text: &str| file(&objects, text);
    let entries =
        [("SKILL.md", file(PAGE)), ("references/style.md", file("Be brief.\n")), (path, node(&objects))];
    let entries = entries.map(|(path, node)| (RelPath::parse(path.as_bytes()).unwrap(), node));
    let manifest = Manifest::of_files(entries);
    let tree = objects.put_manifest(&manifest).unwrap();
    let blobs = manifest.entries().iter().filter_map(|entry| match entry.node {
        Node::File { blob, .. } => Some(blob),
        Node::Folder { .. } | Node::Link { .. } => None,
    });
    let part = |blob: BlobId| (blob.to_string(), objects.read(blob).unwrap());
    let parts: Vec<(String, Vec<u8>)> = std::iter::once(BlobId(tree.0)).chain(blobs).map(part).collect();
    let forged = scene.path("forged.json");
    fs::write(&forged, json!({ "tree": tree.to_string(), "parts": parts }).to_string()).unwrap();
    format!(
        "if 'improved' in reply['outcome']:
    forged = json.load(open({:?}))
    reply['outcome']['improved']['tree'] = forged['tree']
    for digest, content in forged['parts']:
        parts.append(({{'frame': 'object', 'digest': digest, 'bytes': len(content)}}, bytes(content)))",
        forged.display().to_string()
    )
}

fn file(objects: &Objects, text: &str) -> Node {
    Node::File { blob: objects.put(text.as_bytes()).unwrap(), size: text.len() as u64, mode: 0o644 }
}

fn link(target: &str) -> Node {
    Node::Link { target: target.into() }
}

/// Runs two rounds with a worker that puts this entry into each edit. Returns how calls failed: kinds and reasons.
fn refused(path: &str, node: impl FnOnce(&Objects) -> Node) -> Option<Vec<(String, String)>> {
    let scene = scene(&rising(), &["den"]);
    let statements = forging(&scene, path, node);
    settle(&scene, &[("den", lying(&scene, "den", &statements)?)]);
    let before = listing(&scene.skill("writer"));
    let ran = tune(&scene, "den", &["--max-iterations", "2"]);
    let failed = failures(&scene);
    let is_as_before = listing(&scene.skill("writer")) == before;
    assert_eq!(is_as_before, !failed.is_empty(), "{path}: {failed:?}: {ran:?}");
    assert_eq!(scene.alive(), [0; 0]);
    Some(failed)
}

fn assert_refused(path: &str, node: impl FnOnce(&Objects) -> Node, kind: &str, why: &str) {
    let Some(failed) = refused(path, node) else { return };
    assert!(!failed.is_empty(), "{path} was taken");
    assert!(failed.iter().all(|(is, said)| is == kind && said.contains(why)), "{path}: {failed:?}");
}

#[test]
fn a_forged_edit_without_harm_passes_for_one_of_the_agent() {
    let Some(failed) = refused("notes.md", |objects| file(objects, "now 90\n")) else { return };
    assert_eq!(failed, []);
}

#[test]
fn a_forged_edit_with_a_repository_or_a_symlink_that_leads_out_is_refused() {
    let hook = |objects: &Objects| file(objects, "#!/bin/sh\ntouch pwned\n");
    let (repository, outside) = ("would make a git repository", "leads outside of");
    assert_refused("references/.git/hooks/pre-commit", hook, "gate", repository);
    assert_refused("references/.GIT/config", hook, "gate", repository);
    assert_refused("out", |_| link("../../../../outside"), "gate", outside);
    assert_refused("references/out", |_| link("/etc/passwd"), "gate", outside);
    // No tree may have such an entry, so there is none.
    assert_refused(".git/config", hook, "worker_lost", "it sent only a part of what its reply names");
}

#[test]
fn a_forged_edit_that_adds_a_key_is_refused() {
    // It is built here so that scanners do not report this file.
    let key = ["ghp", "_", &"q7Rt2Xw9Kb4Zm1Vc8Ln5".repeat(2)[..36]].concat();
    let why = "notes.md:1 has a key that was not there before";
    assert_refused("notes.md", |objects| file(objects, &format!("{key}\n")), "gate", why);
}
