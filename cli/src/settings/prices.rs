//! `[prices."MODEL"]`: the price of a million tokens of a model, in dollars.
//!
//! A cost limit counts estimates at these prices, so they follow the rule of limits: an untrusted project can neither
//! lower a price nor add one.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use skilltune_phases::runs::price::Price;
use toml::de::DeValue;

use crate::settings::error::SettingsError;
use crate::settings::origin::Origin;
use crate::settings::page::{Found, SettingsPage};
use crate::settings::range::{ANY, Range};
use crate::settings::setting::{Readable, Setting, Slot as _, number};

/// The price of a model, if known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelPrice(pub Option<Price>);

const DOLLARS: Range = Range { low: 0.0, high: 1_000_000.0 };
pub const KEYS: [&str; 3] = ["input", "output", "cached"];

/// Overrides the known prices with those of a file.
pub fn apply(
    known: &mut BTreeMap<String, Setting<ModelPrice>>,
    prices: &Found<'_>,
    page: SettingsPage<'_>,
    origin: &Origin,
) -> Result<(), SettingsError> {
    for (model, value) in prices.get_ref().as_table().into_iter().flatten() {
        let key = format!("prices.{}", model.get_ref());
        refuse_unknown(&key, value, page)?;
        let price = known.entry(model.get_ref().to_string());
        let price = price.or_insert_with(|| Setting::reserved(ANY, ModelPrice(None)));
        price.read(value.get_ref(), origin).map_err(|must| page.wrong_secret(&key, value, must))?;
    }
    Ok(())
}

fn refuse_unknown(key: &str, value: &Found<'_>, page: SettingsPage<'_>) -> Result<(), SettingsError> {
    let names = value.get_ref().as_table().into_iter().flat_map(|table| table.keys());
    let Some(stranger) = names.into_iter().find(|name| !KEYS.contains(&name.get_ref().as_ref())) else {
        return Ok(());
    };
    let known = KEYS.map(|name| format!("{key}.{name}"));
    let unknown = format!("{key}.{}", stranger.get_ref());
    Err(page.unknown(stranger, &unknown, known.iter().map(String::as_str)))
}

impl Readable for ModelPrice {
    fn read(value: &DeValue<'_>, _: Range) -> Option<Self> {
        let table = value.as_table()?;
        let dollars = |name: &str| table.get(name).map(|value| number(value.get_ref(), DOLLARS));
        let (input, output) = (dollars("input")??, dollars("output")??);
        let cached = match dollars("cached") {
            Some(cached) => Some(cached?),
            None => None,
        };
        Some(Self(Some(Price { input, output, cached })))
    }

    fn must_be(_: Range) -> String {
        format!("a table with `input` and `output`, and maybe `cached`, each a number {DOLLARS}")
    }

    fn schema(_: Range) -> Json {
        let dollars = |about: &str| {
            let mut schema = DOLLARS.schema("number");
            schema["description"] = about.into();
            schema
        };
        json!({
            "type": "object",
            "required": ["input", "output"],
            "additionalProperties": false,
            "properties": {
                "input": dollars("Price of input."),
                "output": dollars("Price of output."),
                "cached": dollars("Price of input that the service had cached."),
            },
        })
    }

    fn json(&self) -> Json {
        let Some(Price { input, output, cached }) = self.0 else { return Json::Null };
        match cached {
            Some(cached) => json!({ "input": input, "output": output, "cached": cached }),
            None => json!({ "input": input, "output": output }),
        }
    }

    /// A lower price lets more calls fit below a limit, and without a price the run does not start.
    fn exceeds(&self, own: &Self) -> bool {
        self.0.is_some_and(|price| own.0.is_none_or(|own| price.is_below(&own)))
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::Files;
    use crate::settings::tests::refusal;
    use crate::trust::TrustStore;

    #[test]
    fn what_the_page_of_agents_shows_is_read() {
        let page = include_str!("../../../docs/agents.md");
        let blocks = page.split("```toml\n").skip(1).filter_map(|block| block.split("```").next());
        let shown: Vec<_> = blocks.filter(|block| block.contains("[prices.")).collect();
        let [shown] = shown[..] else { panic!("one block shows prices, not {}", shown.len()) };
        let settings = Files::new(shown, "").load();
        assert_eq!(settings.prices.len(), 2);
        assert!(settings.prices.values().any(|price| price.value.0.unwrap().cached.is_some()));
        let rows = settings.rows().into_iter().filter(|row| row.key.starts_with("prices."));
        assert!(rows.clone().count() == 6 && rows.clone().all(|row| row.origin == "user_file"));
    }

    #[test]
    fn a_project_raises_a_price_and_neither_lowers_nor_adds_one_until_it_is_trusted() {
        let price = |input: u32| format!("[prices.m]\ninput = {input}\noutput = 9\n");
        let seen = |files: &Files| {
            let settings = files.load();
            (settings.prices().get("m").map(|price| price.input), settings.overs().len())
        };
        assert_eq!(seen(&Files::new(&price(2), &price(3))), (Some(3.0), 0));
        let (lower, only) = (Files::new(&price(2), &price(1)), Files::new("", &price(1)));
        assert_eq!((seen(&lower), seen(&only)), ((Some(2.0), 1), (None, 1)));
        for files in [&lower, &only] {
            let file = files.load().project_file.unwrap();
            TrustStore::new(&files.env()).record(&file, &[]).unwrap();
        }
        assert_eq!((seen(&lower), seen(&only)), ((Some(1.0), 1), (Some(1.0), 0)));
    }

    #[test]
    fn each_price_is_shown_with_what_the_project_asks_for_in_its_place() {
        let files = Files::new("[prices.m]\ninput = 2\noutput = 9\n", "[prices.m]\ninput = 1\noutput = 9\n");
        let rows = files.load().rows().into_iter().filter(|row| row.key.starts_with("prices."));
        let text = |origin: String| origin.replace(files.env().config.to_str().unwrap(), "");
        let rows = rows.map(|row| format!("{} {}", row.key, text(row.origin_text)));
        let project = files.project().display().to_string();
        let shown = rows.collect::<Vec<_>>().join("\n").replace(&project, "");
        insta::assert_snapshot!(shown, @r"
        prices.m.input user file /skilltune.toml, a limit; project file /skilltune.toml asks for 1.0
        prices.m.output user file /skilltune.toml, a limit; project file /skilltune.toml asks for 9.0
        prices.m.cached user file /skilltune.toml
        ");
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
        error: /skilltune.toml:2: `prices.m` must be a table with `input` and `output`, and maybe `cached`, each a number from 0 to 1000000
        error: /skilltune.toml:1: `prices.m` must be a table with `input` and `output`, and maybe `cached`, each a number from 0 to 1000000
        error: /skilltune.toml:1: `prices.m` must be a table with `input` and `output`, and maybe `cached`, each a number from 0 to 1000000
        error: /skilltune.toml:1: `prices.m` must be a table with `input` and `output`, and maybe `cached`, each a number from 0 to 1000000
        error: /skilltune.toml:4: unknown key `prices.m.cache`
        hint: did you mean `prices.m.cached`?
        "#);
    }
}
