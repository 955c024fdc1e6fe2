use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn paths(root: &Path) -> Vec<String> {
    let manifest = scan(root, None, Limits::default()).unwrap();
    manifest.entries().iter().map(|entry| entry.path.to_string()).collect()
}

#[test]
fn a_scan_gives_the_manifest_that_a_capture_stores() {
    let (root, store) = (folder(), folder());
    fs::create_dir(root.path().join("empty")).unwrap();
    fs::write(root.path().join("SKILL.md"), "text").unwrap();
    symlink("/nowhere", root.path().join("dangling")).unwrap();
    let objects = Objects::at(store.path());
    let captured = capture(&objects, root.path(), None, Limits::default()).unwrap();
    assert_eq!(captured.manifest, scan(root.path(), None, Limits::default()).unwrap());
    assert_eq!(objects.manifest(captured.tree).unwrap(), captured.manifest);
}

#[test]
fn what_is_reserved_or_skipped_at_the_top_is_left_out_and_so_are_our_leftovers() {
    let root = folder();
    for name in [".git", ".skilltune", "out", "d", "d/out", "d/.git"] {
        fs::create_dir(root.path().join(name)).unwrap();
    }
    let ours = Temporaries::of(root.path());
    for left_over in [ours.draft(1), ours.aside(1)] {
        fs::write(root.path().join("d").join(left_over), "left over").unwrap();
    }
    assert_eq!(paths(root.path()), ["d", "d/.git", "d/out", "out"]);
    let left = capture_left(&Objects::at(folder().path()), root.path(), "", &["out"], Limits::default());
    assert!(left.unwrap().manifest.get(&RelPath::parse(b"out").unwrap()).is_none());
}

#[test]
fn what_tools_added_to_an_edited_copy_is_left_out_and_what_was_there_before_is_not() {
    let (space, store) = (folder(), folder());
    let (objects, copy) = (Objects::at(store.path()), space.path().join("copy"));
    fs::create_dir_all(copy.join("scripts/__pycache__")).unwrap();
    fs::write(copy.join("scripts/__pycache__/old.pyc"), "old").unwrap();
    let start = capture(&objects, &copy, None, Limits::default()).unwrap().manifest;
    for name in LEFT_BY_TOOLS.iter().flat_map(|name| [(*name).to_owned(), format!("scripts/{name}")]) {
        if name.ends_with(".DS_Store") {
            fs::write(copy.join(name), "view").unwrap();
        } else {
            fs::create_dir_all(copy.join(&name).join("deep")).unwrap();
            fs::write(copy.join(&name).join("deep/new"), "new").unwrap();
        }
    }
    fs::write(copy.join("scripts/__pycache__/old.pyc"), "changed").unwrap();
    fs::write(copy.join("scripts/venv.md"), "written").unwrap();
    // It counts towards the limits only in the folder that is listed.
    let limits = Limits { files: 9, bytes: 14 };
    let edited = capture_edited(&objects, space.path(), "copy", (&start, None), limits).unwrap().manifest;
    let paths: Vec<String> = edited.entries().iter().map(|entry| entry.path.to_string()).collect();
    assert_eq!(paths, ["scripts", "scripts/__pycache__", "scripts/__pycache__/old.pyc", "scripts/venv.md"]);
    assert_ne!(edited.get(&start.entries()[2].path), Some(&start.entries()[2].node));
}

#[test]
fn a_link_to_a_folder_is_a_link() {
    let (root, outside) = (folder(), folder());
    fs::write(outside.path().join("secret"), "s").unwrap();
    symlink(outside.path(), root.path().join("out")).unwrap();
    assert_eq!(paths(root.path()), ["out"]);
}

#[test]
fn what_an_agent_has_left_is_reached_through_no_link() {
    let (space, elsewhere) = (folder(), folder());
    fs::create_dir_all(space.path().join("skill/a")).unwrap();
    fs::write(elsewhere.path().join("secret"), "s").unwrap();
    let left = |at| scan_left(space.path(), at, Limits::default()).map(|manifest| manifest.entries().len());
    assert_eq!((left("").unwrap(), left("skill/a").unwrap()), (2, 0));
    symlink(elsewhere.path(), space.path().join("skill/link")).unwrap();
    symlink("skill", space.path().join("led")).unwrap();
    fs::write(space.path().join("file"), "").unwrap();
    for at in ["skill/link", "led/a", "file", "nothing"] {
        assert!(
            matches!(left(at), Err(CaptureError::Replaced(path)) if path == space.path().join(at)),
            "{at}"
        );
    }
    let led = elsewhere.path().join("space");
    symlink(space.path(), &led).unwrap();
    assert!(matches!(scan_left(&led, "", Limits::default()), Err(CaptureError::Replaced(_))));
}

#[test]
fn a_fifo_is_an_error_with_its_path_and_does_not_block() {
    let root = folder();
    let fifo = root.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let error = scan(root.path(), None, Limits::default()).unwrap_err();
    assert!(matches!(error, CaptureError::Special(path) if path == fifo));
}

#[test]
fn a_flood_of_entries_of_bytes_or_of_levels_is_refused() {
    let root = folder();
    fs::write(root.path().join("a"), "12345").unwrap();
    fs::write(root.path().join("b"), "12345").unwrap();
    let scan = |files, bytes| scan(root.path(), None, Limits { files, bytes });
    assert!(scan(2, 10).is_ok());
    assert!(matches!(scan(1, 10), Err(CaptureError::TooLarge(_))));
    assert!(matches!(scan(2, 9), Err(CaptureError::TooLarge(_))));
    fs::create_dir_all(root.path().join("d/".repeat(DEEPEST))).unwrap();
    assert!(matches!(scan(1000, 1000), Err(CaptureError::TooDeep(_))));
}
