//! What the engine loads for a prompt: folders of a workspace, with the text of what is small enough to show.

/// A folder as an agent finds it in its workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    /// Its path within the workspace, such as `skill/writer`.
    pub at: String,
    /// In the order in which they are to be shown.
    pub files: Vec<Material>,
}

/// One file of a folder, by its path within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Material {
    pub path: String,
    pub body: Body,
}

/// What a prompt can show of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Text(String),
    /// Text, but too much of it for a prompt.
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

    /// One that the order itself has placed.
    pub fn placed(&self, at: &str) -> &Folder {
        self.find(at).expect("whoever carries out an order loads each of its folders")
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
