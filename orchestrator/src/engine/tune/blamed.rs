//! The lines that a run has changed, each with the round whose edit added or removed it.

use skilltune_phases::base::id::{CandidateId, TreeId};
use skilltune_phases::loops::tune::Run;
use skilltune_phases::skills::target::Place;

use crate::snapshot::{self, BlamedLine, Node, ObjectError, Objects, RelPath};

/// The most files, and the most lines of all of them and their bytes.
const MOST_FILES: usize = 200;
const MOST_LINES: usize = 2000;
const MOST_BYTES: usize = 128 << 10;

/// A file that differs between the start and the version that a run leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlamedFile {
    pub member: Place,
    pub path: RelPath,
    /// The changed lines and those around them; `None` for links, and if some version is large or binary.
    pub lines: Option<Vec<BlamedLine>>,
    /// The number of lines beyond the limit of all files.
    pub left_out: usize,
}

/// Returns the files that differ between the start and the champion; before the end, the newest kept version.
pub fn blamed_files(objects: &Objects, run: &Run) -> Result<Vec<BlamedFile>, ObjectError> {
    let left = run.state.shipment.as_ref().map_or_else(|| run.head(), |shipment| shipment.champion);
    let mut versions: Vec<(u32, CandidateId)> =
        run.lineage(left).map(|(made, origin)| (origin.round, made)).collect();
    versions.push((0, run.start()));
    versions.reverse();
    let mut files = Vec::new();
    for member in run.plan.places() {
        let tree = |id| run.candidate(id)?.trees.get(member.0).copied();
        let trees = versions.iter().filter_map(|(round, id)| Some((*round, tree(*id)?)));
        let mut trees: Vec<_> = trees.collect();
        trees.dedup_by_key(|(_, tree)| *tree);
        let room = MOST_FILES - files.len();
        files.extend(member_files(objects, member, &trees, room)?);
    }
    limit(&mut files);
    Ok(files)
}

/// Returns the files that differ between the first and the last tree of a member.
fn member_files(
    objects: &Objects,
    member: Place,
    trees: &[(u32, TreeId)],
    most: usize,
) -> Result<Vec<BlamedFile>, ObjectError> {
    let manifests = trees.iter().map(|(round, tree)| Ok((*round, objects.manifest(*tree)?)));
    let manifests = manifests.collect::<Result<Vec<_>, ObjectError>>()?;
    let [(_, first), .., (_, last)] = &*manifests else { return Ok(Vec::new()) };
    let mut files = Vec::new();
    for path in snapshot::changes(first, last).into_iter().map(|change| change.path) {
        if files.len() == most {
            break;
        }
        let is_leaf = |node: &Node| !node.is_folder();
        if [first, last].into_iter().any(|manifest| manifest.get(&path).is_some_and(is_leaf)) {
            let nodes = manifests.iter().map(|(round, manifest)| (*round, manifest.get(&path)));
            let lines = lines(objects, nodes)?;
            files.push(BlamedFile { member, path, lines, left_out: 0 });
        }
    }
    Ok(files)
}

fn lines<'a>(
    objects: &Objects,
    nodes: impl Iterator<Item = (u32, Option<&'a Node>)>,
) -> Result<Option<Vec<BlamedLine>>, ObjectError> {
    let mut texts: Vec<(u32, String)> = Vec::new();
    for (round, node) in nodes {
        let Some(text) = snapshot::readable(objects, node)? else { return Ok(None) };
        if texts.last().is_none_or(|(_, last)| *last != text) {
            texts.push((round, text));
        }
    }
    Ok(texts.split_first().map(|((_, start), versions)| snapshot::blame(start, versions)))
}

fn limit(files: &mut [BlamedFile]) {
    let (mut lines_left, mut bytes_left) = (MOST_LINES, MOST_BYTES);
    for BlamedFile { lines, left_out, .. } in files {
        let Some(lines) = lines else { continue };
        let fits = |line: &&BlamedLine| {
            let fits = lines_left > 0 && bytes_left >= line.text.len();
            lines_left = lines_left.saturating_sub(1);
            bytes_left = bytes_left.saturating_sub(line.text.len());
            fits
        };
        let fitting = lines.iter().take_while(fits).count();
        *left_out = lines.len() - fitting;
        lines.truncate(fitting);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn store(place: &Path) -> Objects {
        Objects::at(place.join("objects").as_path())
    }

    #[test]
    fn text_files_have_their_lines_and_other_files_none() {
        let place = tempfile::tempdir().unwrap();
        let objects = store(place.path());
        let large = &*"x\n".repeat(200_000);
        let tree = |files: &[(&str, &str)]| {
            let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
            objects.put_files(&files).unwrap()
        };
        let first = tree(&[("SKILL.md", "a\nb\n"), ("binary", "\0"), ("large", large), ("same", "s\n")]);
        let second = tree(&[("SKILL.md", "a\nB\n"), ("binary", "\0"), ("large", "y\n"), ("same", "s\n")]);
        let third = tree(&[("SKILL.md", "a\nB\n"), ("binary", "z"), ("new", "n\n"), ("same", "s\n")]);
        let files = member_files(&objects, Place(0), &[(0, first), (2, second), (4, third)], 9).unwrap();
        let shown = |file: &BlamedFile| {
            let rounds =
                file.lines.as_ref().map(|lines| lines.iter().map(|line| line.round).collect::<Vec<_>>());
            (file.path.to_string(), rounds)
        };
        let expected = [
            ("SKILL.md", Some(vec![None, Some(2), Some(2)])),
            ("binary", None),
            ("large", None),
            ("new", Some(vec![Some(4)])),
        ];
        let expected = expected.map(|(path, rounds)| (path.to_owned(), rounds));
        assert_eq!(files.iter().map(shown).collect::<Vec<_>>(), expected);
        assert!(member_files(&objects, Place(0), &[(0, first)], 9).unwrap().is_empty());
        let lost = store(Path::new("/nowhere"));
        assert!(member_files(&lost, Place(0), &[(0, first), (2, second)], 9).is_err());
    }

    #[test]
    fn lines_beyond_the_limit_are_counted() {
        let text = |line: &str, many: usize| snapshot::blame("", &[(1, line.repeat(many))]);
        let left_out = |each: [Vec<BlamedLine>; 2]| {
            let path = || RelPath::parse(b"a").unwrap();
            let file = |lines| BlamedFile { member: Place(0), path: path(), lines: Some(lines), left_out: 0 };
            let mut files = each.map(file);
            limit(&mut files);
            files.map(|file| (file.lines.unwrap().len(), file.left_out))
        };
        assert_eq!(left_out([text("a\n", 1500), text("b\n", 700)]), [(1500, 0), (500, 200)]);
        let long = format!("{}\n", "x".repeat(MOST_BYTES - 1));
        assert_eq!(left_out([text(&long, 1), text("b\n", 2)]), [(1, 0), (1, 1)]);
    }
}
