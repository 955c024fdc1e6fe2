//! How many calls of an agent are made at a time: an account may take no more, however many machines there are.

use std::collections::BTreeMap;

use skilltune_phases::base::role::Role;
use skilltune_phases::runs::plan::Roles;

/// The calls that are under way or about to begin, by agent.
pub(super) struct AtOnce<'a> {
    most: &'a BTreeMap<String, usize>,
    roles: &'a Roles,
    calls: BTreeMap<&'a str, usize>,
}

impl<'a> AtOnce<'a> {
    pub(super) fn of(most: &'a BTreeMap<String, usize>, roles: &'a Roles, under_way: &[Role]) -> Self {
        let mut calls = BTreeMap::new();
        for cast in under_way.iter().filter_map(|role| roles.get(role)) {
            *calls.entry(cast.agent.as_str()).or_default() += 1;
        }
        Self { most, roles, calls }
    }

    /// Whether one more call of this role may begin; if so, counts it. Steps without an agent always may.
    pub(super) fn lets(&mut self, role: Option<&Role>) -> bool {
        let Some(cast) = role.and_then(|role| self.roles.get(role)) else { return true };
        let calls = self.calls.entry(&cast.agent).or_default();
        let is_free = self.most.get(&cast.agent).is_none_or(|most| *calls < *most);
        *calls += usize::from(is_free);
        is_free
    }
}

#[cfg(test)]
mod tests {
    use skilltune_worlds::tune;

    use super::*;

    #[test]
    fn an_agent_in_two_roles_has_one_limit_and_another_agent_has_none() {
        let mut plan = tune::plan(1, 1);
        let agent = plan.roles.of(&Role::EXECUTOR).agent.clone();
        let mut other = plan.roles.of(&Role::EVALUATOR).clone();
        "another".clone_into(&mut other.agent);
        plan.roles = plan
            .roles
            .iter()
            .map(|(role, cast)| {
                let cast = if *role == Role::EVALUATOR { other.clone() } else { cast.clone() };
                (role.clone(), cast)
            })
            .collect();
        let most = BTreeMap::from([(agent, 2)]);
        let mut at_once = AtOnce::of(&most, &plan.roles, &[Role::IMPROVER]);
        assert!(at_once.lets(Some(&Role::EXECUTOR)));
        assert!(!at_once.lets(Some(&Role::EXECUTOR)) && !at_once.lets(Some(&Role::IMPROVER)));
        assert!((0..9).all(|_| at_once.lets(Some(&Role::EVALUATOR)) && at_once.lets(None)));
    }
}
