//! `[prices."MODEL"]`: what a million tokens of a model cost, in dollars.

use std::collections::BTreeMap;

use skilltune_phases::price::Price;

use crate::settings::error::SettingsError;
use crate::settings::origin::Origin;
use crate::settings::page::{Found, Page};
use crate::settings::range::Range;
use crate::settings::setting::{Setting, Slot as _};

/// A model's price, and the file that tells it.
#[derive(Clone, Debug)]
pub struct PriceEntry {
    pub price: Price,
    pub origin: Origin,
}

const DOLLARS: Range = Range { low: 0.0, high: 1_000_000.0 };
const KEYS: [&str; 3] = ["input", "output", "cached"];

pub fn read(
    prices: &Found<'_>,
    page: Page<'_>,
    origin: &Origin,
) -> Result<BTreeMap<String, PriceEntry>, SettingsError> {
    let table = prices.get_ref().as_table().into_iter().flatten();
    let entries = table.map(|(model, value)| {
        let price = price(&format!("prices.{}", model.get_ref()), value, page)?;
        Ok((model.get_ref().to_string(), PriceEntry { price, origin: origin.clone() }))
    });
    entries.collect()
}

fn price(key: &str, value: &Found<'_>, page: Page<'_>) -> Result<Price, SettingsError> {
    let table = value.get_ref().as_table();
    let table = table.ok_or_else(|| page.wrong(key, value, "a table with `input` and `output`"))?;
    if let Some(stranger) = table.keys().find(|name| !KEYS.contains(&name.get_ref().as_ref())) {
        let known = KEYS.map(|name| format!("{key}.{name}"));
        let unknown = format!("{key}.{}", stranger.get_ref());
        return Err(page.unknown(stranger, &unknown, known.iter().map(String::as_str)));
    }
    let dollars = |name: &str| {
        let mut dollars = Setting::within(DOLLARS, None::<f64>);
        if let Some(value) = table.get(name) {
            let read = dollars.read(value.get_ref(), &Origin::Default);
            read.map_err(|must| page.wrong(&format!("{key}.{name}"), value, must))?;
        }
        Ok::<_, SettingsError>(dollars.value)
    };
    let needed = |name: &str| {
        dollars(name)?.ok_or_else(|| page.wrong_secret(key, value, "a table with `input` and `output`"))
    };
    Ok(Price { input: needed("input")?, output: needed("output")?, cached: dollars("cached")? })
}

#[cfg(test)]
mod tests {
    use crate::settings::tests::{project, refusal};

    #[test]
    fn what_the_page_of_agents_shows_is_read() {
        let page = include_str!("../../../docs/agents.md");
        let blocks = page.split("```toml\n").skip(1).filter_map(|block| block.split("```").next());
        let shown: Vec<_> = blocks.filter(|block| block.contains("[prices.")).collect();
        let [shown] = shown[..] else { panic!("one block shows prices, not {}", shown.len()) };
        let settings = project(shown);
        assert_eq!(settings.prices.len(), 2);
        assert!(settings.prices.values().any(|entry| entry.price.cached.is_some()));
        let rows = settings.rows().into_iter().filter(|row| row.key.starts_with("prices."));
        assert!(rows.clone().count() == 6 && rows.clone().all(|row| row.origin == "project_file"));
    }

    #[test]
    fn a_price_that_is_none_is_refused_where_it_stands() {
        let refused = [
            "[prices]\nm = 3\n",
            "[prices.m]\ninput = 1\n",
            "[prices.m]\ninput = 1\noutput = -1\n",
            "[prices.m]\ninput = 1\noutput = \"2\"\n",
            "[prices.m]\ninput = 1\noutput = 2\ncache = 1\n",
        ];
        insta::assert_snapshot!(refused.map(refusal).join("\n"), @r#"
        error: /skilltune.toml:2: `prices.m` must be a table with `input` and `output`, not 3
        error: /skilltune.toml:1: `prices.m` must be a table with `input` and `output`
        error: /skilltune.toml:3: `prices.m.output` must be a number from 0 to 1000000, not -1
        error: /skilltune.toml:3: `prices.m.output` must be a number from 0 to 1000000, not "2"
        error: /skilltune.toml:4: unknown key `prices.m.cache`
        hint: did you mean `prices.m.cached`?
        "#);
    }
}
