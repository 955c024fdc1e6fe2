//! Estimates the cost of a call whose agent reports tokens but no money, with the prices in the settings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::runs::event::Spent;

/// Dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// The price of cached input, by default that of other input.
    pub cached: Option<f64>,
}

/// Prices by model name.
pub type Prices = BTreeMap<String, Price>;

impl Spent {
    /// Adds an estimate if the agent reported tokens but no money, and its model has a price.
    #[must_use]
    pub fn priced(self, price: Option<&Price>) -> Self {
        match (self.usd, price.and_then(|price| price.of(&self))) {
            (None, Some(usd)) => Self { usd: Some(usd), estimated: true, ..self },
            (Some(_), _) | (None, None) => self,
        }
    }
}

impl Price {
    /// Returns whether any kind of token is cheaper than at the other price, so that the same calls count less.
    pub fn is_below(&self, other: &Self) -> bool {
        self.input < other.input || self.output < other.output || self.cached() < other.cached()
    }

    fn cached(&self) -> f64 {
        self.cached.unwrap_or(self.input)
    }

    fn of(&self, spent: &Spent) -> Option<f64> {
        const MILLION: f64 = 1e6;
        let (input, output) = (spent.input_tokens?, spent.output_tokens?);
        let cached = spent.cached_input_tokens.unwrap_or(0).min(input);
        let count = |tokens: u64| f64::from(u32::try_from(tokens).unwrap_or(u32::MAX));
        let dollars =
            count(input - cached) * self.input + count(cached) * self.cached() + count(output) * self.output;
        Some(dollars / MILLION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price { input: 1.0, output: 10.0, cached: Some(0.25) };

    fn spent(input: u64, cached: Option<u64>, output: u64) -> Spent {
        Spent {
            input_tokens: Some(input),
            cached_input_tokens: cached,
            output_tokens: Some(output),
            ..Spent::default()
        }
    }

    fn dollars(spent: Spent, price: Price) -> f64 {
        spent.priced(Some(&price)).usd.unwrap()
    }

    #[test]
    fn cached_tokens_are_part_of_the_input_and_have_their_own_price() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(dollars(spent(1_000_000, None, 0), PRICE), 1.0);
        close(dollars(spent(1_000_000, Some(400_000), 50_000), PRICE), 0.6 + 0.1 + 0.5);
        close(dollars(spent(1_000_000, Some(400_000), 0), Price { cached: None, ..PRICE }), 1.0);
        close(dollars(spent(10, Some(1_000_000), 0), PRICE), 10.0 * 0.25 / 1e6);
    }

    #[test]
    fn a_price_is_below_another_if_any_kind_of_token_costs_less() {
        let with = |input, output, cached| Price { input, output, cached };
        assert!(!PRICE.is_below(&PRICE));
        assert!(with(0.9, 99.0, Some(9.0)).is_below(&PRICE));
        assert!(with(9.0, 9.9, Some(9.0)).is_below(&PRICE));
        assert!(with(9.0, 99.0, Some(0.2)).is_below(&PRICE));
        assert!(!with(1.0, 10.0, None).is_below(&PRICE), "cached input then costs as much as other input");
        assert!(PRICE.is_below(&with(1.0, 10.0, None)));
    }

    #[test]
    fn only_what_told_tokens_and_no_money_is_estimated_and_says_so() {
        assert!(spent(1, None, 1).priced(Some(&PRICE)).estimated);
        let priced = Spent { usd: Some(0.5), ..spent(1, None, 1) };
        assert_eq!(priced.priced(Some(&PRICE)), priced);
        let half = Spent { output_tokens: None, ..spent(1, None, 1) };
        assert_eq!(half.priced(Some(&PRICE)), half);
        assert_eq!(spent(1, None, 1).priced(None), spent(1, None, 1));
    }
}
