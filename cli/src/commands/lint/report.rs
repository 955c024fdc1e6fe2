//! What was found in all skills together, before it is put into words.

use skilltune_phases::lint::{Finding, Listing, Mend, Reach, Repair, Rule, Severity};

#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    /// What has been mended already, as far as that could be.
    pub reach: Option<Reach>,
    pub skills: Vec<Linted>,
    pub shelves: Vec<Shelf>,
}

/// One skill.
#[derive(Clone, Debug)]
pub(super) struct Linted {
    pub name: String,
    /// Its folder, as it is named from here.
    pub shown: String,
    pub findings: Vec<Finding>,
    pub done: Vec<Repair>,
}

/// A folder that holds skills.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    pub shown: String,
    pub listing: Listing,
    pub finding: Option<Finding>,
}

impl Shelf {
    pub(super) fn new(shown: String, listing: Listing) -> Self {
        let finding = listing.finding(&shown);
        Self { shown, listing, finding }
    }
}

impl Linted {
    /// The path of a file, as it is named from here.
    pub(super) fn path(&self, below: &str) -> String {
        if self.shown == "." { below.to_owned() } else { format!("{}/{below}", self.shown) }
    }
}

impl Report {
    pub(super) fn findings(&self) -> impl Iterator<Item = &Finding> {
        let own = self.skills.iter().flat_map(|skill| &skill.findings);
        own.chain(self.shelves.iter().filter_map(|shelf| shelf.finding.as_ref()))
    }

    pub(super) fn count(&self, severity: Severity) -> usize {
        self.findings().filter(|finding| finding.rule.severity() == severity).count()
    }

    /// How a finding of a rule may be mended now.
    pub(super) fn mend(&self, rule: Rule) -> Mend {
        let is_done = self.reach.is_some_and(|reach| reach.covers(rule));
        if is_done { Mend::ByHand } else { rule.mend() }
    }

    /// Whether nothing was found that fails.
    pub(super) fn is_clean(&self, strict: bool) -> bool {
        self.count(Severity::Error) == 0 && (!strict || self.count(Severity::Warning) == 0)
    }
}
