//! Free ports for the servers that programs of a call start. Two calls of this process never have the same one.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Mutex, MutexGuard, PoisonError};

use skilltune_phases::asking::order::{Needs, Order};

/// The system rarely returns a port that was just closed.
const TRIES: usize = 16;

/// The ports of the calls that are running.
#[derive(Debug, Default)]
pub struct Ports(Mutex<BTreeSet<u16>>);

/// A port that no other call gets meanwhile.
#[derive(Debug)]
pub(super) struct Port<'a> {
    number: u16,
    ports: &'a Ports,
}

impl Ports {
    /// Returns a port for the programs of a call; none if the call has no programs that may need one, or if no port is
    /// free.
    pub(super) fn of(&self, order: &Order) -> Option<Port<'_>> {
        let has_programs = match &order.command {
            Some(command) => command.needs == Needs::Toolchains,
            None => order.rights.has_shell(),
        };
        has_programs.then(|| self.take()).flatten()
    }

    fn take(&self) -> Option<Port<'_>> {
        let mut taken = self.taken();
        let number = (0..TRIES).find_map(|_| free().filter(|number| taken.insert(*number)))?;
        Some(Port { number, ports: self })
    }

    fn taken(&self) -> MutexGuard<'_, BTreeSet<u16>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Port<'_> {
    /// Returns the variable with the port, unless the environment has one.
    pub(super) fn variable(&self, env: &[(String, String)]) -> Option<(String, String)> {
        const NAME: &str = "PORT";
        let is_free = env.iter().all(|(name, _)| name != NAME);
        is_free.then(|| (NAME.to_owned(), self.number.to_string()))
    }
}

impl Drop for Port<'_> {
    fn drop(&mut self) {
        self.ports.taken().remove(&self.number);
    }
}

/// Returns a port on which nothing listens now.
fn free() -> Option<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
    listener.local_addr().ok().map(|address| address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_calls_have_the_same_port_and_a_setting_of_the_user_stays() {
        let ports = Ports::default();
        let held: Vec<_> = (0..32).map(|_| ports.take().unwrap()).collect();
        let numbers: BTreeSet<_> = held.iter().map(|port| port.number).collect();
        assert_eq!((numbers.len(), ports.taken().len()), (32, 32));
        let variable = held[0].variable(&[]).unwrap();
        assert_eq!(variable, ("PORT".to_owned(), held[0].number.to_string()));
        assert_eq!(held[1].variable(&[variable]), None);
        drop(held);
        assert!(ports.taken().is_empty());
    }
}
