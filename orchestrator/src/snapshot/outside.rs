//! The symlinks of a folder that lead out of it.

use super::manifest::{Entry, Manifest, Node};
use super::path::RelPath;

/// The number of symlinks that the kernel follows in one path.
const MOST_FOLLOWED: usize = 40;

impl Manifest {
    /// Returns the symlinks that lead out of the folder. Our copies omit them: an agent in a copy could reach their
    /// targets.
    pub fn links_outside(&self) -> impl Iterator<Item = &Entry> {
        self.entries().iter().filter(|entry| self.leads_outside(entry))
    }

    /// Follows a symlink like the kernel and returns true if the path leaves the folder. A missing name is treated as a
    /// folder, and an endless path as one that leads out.
    pub(crate) fn leads_outside(&self, Entry { path, node }: &Entry) -> bool {
        let Node::Link { target } = node else { return false };
        if target.starts_with(b"/") {
            return true;
        }
        let mut here: Vec<&[u8]> = names(path.as_bytes()).collect();
        here.pop();
        let mut due: Vec<&[u8]> = names(target).rev().collect();
        let mut followed = 0;
        while let Some(name) = due.pop() {
            match name {
                b".." if here.pop().is_none() => return true,
                b"" | b"." | b".." => continue,
                name => here.push(name),
            }
            if let Some(next) = self.link_at(&here) {
                followed += 1;
                if next.starts_with(b"/") || followed == MOST_FOLLOWED {
                    return true;
                }
                here.pop();
                due.extend(names(next).rev());
            }
        }
        false
    }

    fn link_at(&self, names: &[&[u8]]) -> Option<&[u8]> {
        match self.get(&RelPath::parse(&names.join(&b'/')).ok()?) {
            Some(Node::Link { target }) => Some(target),
            Some(Node::File { .. } | Node::Folder { .. }) | None => None,
        }
    }
}

fn names(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the symlinks that lead out of a folder with these symlinks and the folders `a` and `a/b`.
    fn outside(links: &[(&str, &str)]) -> Vec<String> {
        let path = |path: &str| RelPath::parse(path.as_bytes()).unwrap();
        let folders = ["a", "a/b"].map(|name| Entry { path: path(name), node: Node::Folder { mode: 0o755 } });
        let link = |(name, target): &(&str, &str)| Entry {
            path: path(name),
            node: Node::Link { target: target.as_bytes().to_vec() },
        };
        let manifest = Manifest::new(folders.into_iter().chain(links.iter().map(link)).collect()).unwrap();
        manifest.links_outside().map(|entry| entry.path.to_string()).collect()
    }

    #[test]
    fn a_link_leads_outside_when_it_is_absolute_or_climbs_above_the_folder() {
        for inside in ["../x", "other", "./b/../../x", "..", "b/missing/..", "."] {
            assert_eq!(outside(&[("a/link", inside)]), [""; 0], "{inside}");
        }
        for target in ["/etc/passwd", "../../x", "b/../../../x", "../../a", "/"] {
            assert_eq!(outside(&[("a/link", target)]), ["a/link"], "{target}");
        }
    }

    #[test]
    fn a_link_is_followed_through_other_links() {
        let led = |second| outside(&[("a/b/x", "../.."), ("z", second)]);
        assert_eq!(led("a/b/x/SKILL.md"), [""; 0]);
        assert_eq!(led("a/b/x/../h"), ["z"], "`x` has led to the top, and `..` leaves it");
        assert_eq!(led("a/b/../../h"), [""; 0]);
        assert_eq!(outside(&[("out", "/usr/share"), ("z", "out/doc")]), ["out", "z"]);
        assert_eq!(outside(&[("a/up", ".."), ("z", "a/up//a/up/./a")]), [""; 0]);
        assert_eq!(outside(&[("one", "two"), ("two", "one")]), ["one", "two"], "a circle has no end");
    }
}
