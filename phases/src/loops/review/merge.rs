//! Makes one finding of those that several reviewers report.

use super::finding::Finding;

/// A fault, as one or more reviewers report it.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The worst report, and of equally bad ones the first.
    pub finding: Finding,
    /// The short names of the reviewers, each once.
    pub by: Vec<Box<str>>,
    /// The other reports.
    pub also: Vec<Finding>,
}

/// Groups the findings about the same fault, each by its number among all.
pub(super) fn groups<'a>(reviewed: &[(&str, &'a [Finding])]) -> Vec<Vec<usize>> {
    let of = |(review, (_, findings)): (usize, &(&'_ str, &'a [Finding]))| {
        findings.iter().map(move |finding| (review, finding))
    };
    let all: Vec<(usize, &Finding)> = reviewed.iter().enumerate().flat_map(of).collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, (review, finding)) in all.iter().enumerate() {
        // A reviewer that reports two faults in one answer means two.
        let is_same = |group: &Vec<usize>| {
            all[group[0]].1.is_like(finding) && group.iter().all(|other| all[*other].0 != *review)
        };
        match groups.iter_mut().find(|group| is_same(group)) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups
}

/// Makes the findings of groups. The groups may come from the journal of another person.
pub(super) fn merged(reviewed: &[(&str, &[Finding])], groups: &[Vec<usize>]) -> Vec<Merged> {
    let by = |(by, findings): &(&'_ str, &'_ [Finding])| -> Vec<(Box<str>, Finding)> {
        findings.iter().map(|finding| ((*by).into(), finding.clone())).collect()
    };
    let all: Vec<(Box<str>, Finding)> = reviewed.iter().flat_map(by).collect();
    groups.iter().filter_map(|group| one(group.iter().filter_map(|at| all.get(*at)))).collect()
}

fn one<'a>(reports: impl Iterator<Item = &'a (Box<str>, Finding)>) -> Option<Merged> {
    let mut reports: Vec<&(Box<str>, Finding)> = reports.collect();
    let mut by: Vec<Box<str>> = Vec::new();
    for (name, _) in &reports {
        if !by.contains(name) {
            by.push(name.clone());
        }
    }
    // The sort is stable: of equally bad reports the first one stays first.
    reports.sort_by_key(|(_, finding)| std::cmp::Reverse(finding.severity));
    let mut findings = reports.into_iter().map(|(_, finding)| finding.clone());
    let worst = findings.next()?;
    let also: Vec<Finding> = findings.collect();
    // Another reviewer may be the one that knows how to mend it.
    let fixed = worst.fixed.or_else(|| also.iter().find_map(|finding| finding.fixed));
    let suggestions = std::iter::once(&worst).chain(&also).map(|finding| &finding.suggestion);
    let suggestion = suggestions.into_iter().find(|text| !text.is_empty()).cloned().unwrap_or_default();
    Some(Merged { finding: Finding { suggestion, fixed, ..worst }, by, also })
}
