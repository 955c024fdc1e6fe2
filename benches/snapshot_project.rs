//! A project of 50,000 small files, as `evolve` has it: a capture, copies compared with `cp -a`, and the merge of three
//! works of one file each.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use skilltune_orchestrator::snapshot::{
    Indexes, Limits, Manifest, Node, Objects, Work, WorkResult, integrate, place,
};
use skilltune_phases::base::id::TreeId;

use crate::snapshot_rivals::copy;
use crate::snapshot_tree::Tree;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const FILES: usize = 50_000;
const BYTES: usize = 1_000;
const WORKS: usize = 3;
const ROUNDS: usize = 5;

pub(crate) fn measure(root: &Path, stores: &Path, settled: Duration) -> Result<()> {
    let tree = Tree::grow(root.to_path_buf(), FILES, BYTES)?;
    std::thread::sleep(settled);
    let indexes = Indexes::at(&stores.join("indexes"));
    // A command has a store of its own.
    let store = || Objects::at(stores.join("objects").as_path());
    let capture = || indexes.capture(&store(), root, None, Limits::default());
    let began = Instant::now();
    let captured = capture()?;
    println!("\n{FILES} files of {BYTES} bytes        median");
    row("a first capture", &mut [began.elapsed()]);
    let works = works(&store(), captured.tree, &captured.manifest)?;
    let (mut walk, mut unchanged, mut copied, mut cp) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut read, mut first, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        walk.push(took(|| tree.look().map(drop))?);
        unchanged.push(took(|| Ok(capture().map(drop)?))?);
        let [ours, theirs] = ["ours", "cp"].map(|name| stores.join(format!("{name}-{round}")));
        copied.push(took(|| Ok(place(&store(), &captured.manifest, &ours, |_| {})?))?);
        cp.push(took(|| copy(root, &theirs))?);
        fs::remove_dir_all(ours)?;
        fs::remove_dir_all(theirs)?;
        let objects = store();
        read.push(took(|| Ok(objects.manifest(captured.tree).map(drop)?))?);
        for took_merging in [&mut first, &mut again] {
            took_merging.push(took(|| {
                let merged = integrate(&objects, captured.tree, &works, &[])?;
                let all = merged.works.iter().all(|work| matches!(work, WorkResult::Accepted(_)));
                if all { Ok(()) } else { Err("a work was refused".into()) }
            })?);
        }
    }
    row("a walk that only looks", &mut walk);
    row("ours, unchanged", &mut unchanged);
    row("ours, a copy", &mut copied);
    row("cp -a", &mut cp);
    row("reading the manifest", &mut read);
    row("merging three works", &mut first);
    row("merging them again", &mut again);
    Ok(())
}

/// Stores a change of one file for each work.
fn works(objects: &Objects, from: TreeId, manifest: &Manifest) -> Result<Vec<Work>> {
    let mut works = Vec::new();
    for task in 0..WORKS {
        let mut entries = manifest.entries().to_vec();
        let text = format!("The text of task {task}.\n");
        let nth = entries.len() / WORKS * task;
        let files = &mut entries[nth..];
        let file = files.iter_mut().find(|entry| matches!(entry.node, Node::File { .. })).ok_or("no file")?;
        file.node = Node::File { blob: objects.put(text.as_bytes())?, size: text.len() as u64, mode: 0o644 };
        let made = objects.put_manifest(&Manifest::new(entries)?)?;
        works.push(Work { task, from, made, replaces: Vec::new() });
    }
    Ok(works)
}

fn took(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}

fn row(name: &str, took: &mut [Duration]) {
    took.sort_unstable();
    println!("{name:<26} {:>9.1} ms", took[took.len() / 2].as_secs_f64() * 1e3);
}
