//! The files that the engine loads for a prompt: folders of a workspace, with the text of files small enough to show.

/// A larger text is only in the workspace; a prompt names its path.
pub const LARGEST_SHOWN: u64 = 48 << 10;

/// A folder in an agent's workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// Its path within the workspace, such as `skill/writer`.
    pub at: String,
    /// The files in the order in which prompts show them.
    pub files: Vec<Material>,
}

/// One file of a folder, by its path within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Material {
    pub path: String,
    pub body: Body,
}

/// The part of a file that a prompt can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Text(String),
    /// A text that is too large for a prompt.
    Large {
        bytes: u64,
    },
    Binary {
        bytes: u64,
    },
    Link {
        target: String,
    },
}

/// The folders of a workspace, by their path in it.
#[derive(Clone, Debug, Default)]
pub struct Folders(Vec<Folder>);

impl Folders {
    pub fn find(&self, at: &str) -> Option<&Folder> {
        self.0.iter().find(|folder| folder.at == at)
    }

    /// Returns a folder that the order itself has placed.
    pub fn placed(&self, at: &str) -> &Folder {
        self.find(at).expect("the engine loads each folder of an order")
    }
}

impl FromIterator<Folder> for Folders {
    fn from_iter<I: IntoIterator<Item = Folder>>(folders: I) -> Self {
        Self(folders.into_iter().collect())
    }
}

/// A folder that belongs to a member of the chain.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    pub name: &'a str,
    pub folder: &'a Folder,
}
