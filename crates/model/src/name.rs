//! Keys and identifiers made from values, so that any client can compare its own.

use cairn_value::Key;
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};
use xxhash_rust::xxh32::xxh32;
use xxhash_rust::xxh64::xxh64;

use crate::contract::{Contract, HashRecipe, IdentifierKind, Template};
use crate::json::Json;
use cairn_value::suggest::closest;

/// Values by name, as `field=value` gives them.
pub type Values = [(String, String)];

fn value<'v>(values: &'v Values, name: &str) -> Option<&'v str> {
    values.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
}

/// Refuses values that nothing uses: they are typing errors.
fn refuse_unused(values: &Values, template: &Template) -> Result<(), String> {
    let names: Vec<&str> = template.components().map(|(name, _)| name).collect();
    for (field, _) in values {
        if !names.contains(&field.as_str()) {
            return Err(format!(
                "no component is called `{field}`; there are {}",
                names.join(", ")
            ));
        }
    }
    Ok(())
}

/// A record's key with what follows from it.
///
/// ```
/// use cairn_model::{Contract, examples, name};
/// let text = examples::example("sensor-readings").unwrap().text;
/// let contract = Contract::parse([("sensors.yaml", text)]).unwrap();
/// let values = [("sensor_id", "4910"), ("day", "2026-03-30")];
/// let values = values.map(|(field, value)| (field.to_owned(), value.to_owned()));
/// let key = name::key(&contract, "reading-day", &values).unwrap();
/// assert_eq!(key.get("key").unwrap().to_string(), "\"sensor:4910:2026-03-30\"");
/// ```
pub fn key(contract: &Contract, entity: &str, values: &Values) -> Result<Json, String> {
    let Some(found) = contract.entity(entity) else {
        return Err(unknown("entity", entity, contract.entities.iter().map(|e| e.name.as_str())));
    };
    let template = found.key.as_ref().ok_or_else(|| format!("`{entity}` declares no key"))?;
    refuse_unused(values, template)?;
    let text = template.render(|name| value(values, name))?;
    let key = Key::new(found.namespace.as_str(), found.set.as_str(), text.as_str())
        .map_err(|error| error.message.into_owned())?;
    Ok(Json::object([
        ("key", text.into()),
        ("digest", key.digest().to_string().into()),
        ("partition", u32::from(key.digest().partition().0).into()),
        ("namespace", found.namespace.as_str().into()),
        ("set", found.set.as_str().into()),
    ]))
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match closest(name, known.clone()) {
        Some(close) => format!("no {what} is called `{name}`; did you mean `{close}`?"),
        None => {
            let names: Vec<&str> = known.collect();
            format!("no {what} is called `{name}`; there are: {}", names.join(", "))
        }
    }
}

/// An identifier, with the text that was hashed.
pub fn id(contract: &Contract, name: &str, values: &Values) -> Result<Json, String> {
    let Some(id) = contract.identifier(name) else {
        return Err(unknown(
            "identifier",
            name,
            contract.identifiers.iter().map(|i| i.name.as_str()),
        ));
    };
    let template = match id.kind {
        IdentifierKind::Uuid => {
            return Err(format!("`{name}` is a UUID: it is drawn, not derived from values"));
        }
        IdentifierKind::Cleartext => id.template.as_ref().ok_or("it declares no template"),
        IdentifierKind::Hash => id.recipe.input.as_ref().ok_or("its recipe declares no input"),
    };
    let template = template.map_err(|why| format!("`{name}` cannot be made: {why}"))?;
    refuse_unused(values, template)?;
    let text = template.render(|field| value(values, field))?;
    let identifier = match id.kind {
        IdentifierKind::Hash => {
            hash(&id.recipe, &text).map_err(|why| format!("`{name}`: {why}"))?
        }
        _ => Json::from(text.as_str()),
    };
    Ok(Json::object([
        ("id", identifier),
        ("name", name.into()),
        ("kind", id.kind.name().into()),
        ("input", text.into()),
        ("algorithm", id.recipe.algorithm.clone().into()),
        ("seed", id.recipe.seed.into()),
    ]))
}

/// The hash of a text by a recipe.
fn hash(recipe: &HashRecipe, text: &str) -> Result<Json, String> {
    let bytes = if recipe.utf16 {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    } else {
        text.as_bytes().to_vec()
    };
    let missing = |what: &str| format!("the recipe lacks `{what}`");
    let seed = recipe.seed.ok_or_else(|| missing("seed"))?;
    let algorithm = recipe.algorithm.as_deref().ok_or_else(|| missing("algorithm"))?;
    let output = recipe.output.as_deref().ok_or_else(|| missing("output"))?;
    let (hash, digits) = match algorithm {
        "xxh32" => {
            let seed =
                u32::try_from(seed).map_err(|_| "the seed of xxh32 has 32 bits".to_owned())?;
            (u128::from(xxh32(&bytes, seed)), 8)
        }
        "xxh64" => (u128::from(xxh64(&bytes, seed)), 16),
        "xxh3-64" => (u128::from(xxh3_64_with_seed(&bytes, seed)), 16),
        "xxh3-128" => (xxh3_128_with_seed(&bytes, seed), 32),
        other => return Err(format!("algorithm `{other}` is not known")),
    };
    match (output, digits) {
        // Integer bins are signed.
        ("int", 8) => Ok(Json::Int(hash as i64)),
        ("int", 16) => Ok(Json::Int(hash as u64 as i64)),
        ("hex8", 8) | ("hex16", 16) | ("hex32", 32) => Ok(Json::from(format!("{hash:0digits$x}"))),
        _ => Err(format!(
            "{algorithm} makes {digits} hexadecimal digits, output `{output}` does not fit"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(algorithm: &str, output: &str, utf16: bool) -> HashRecipe {
        HashRecipe {
            algorithm: Some(algorithm.into()),
            seed: Some(0),
            output: Some(output.into()),
            utf16,
            ..HashRecipe::default()
        }
    }

    #[test]
    fn published_vectors_of_the_algorithms() {
        // Reference vectors of the xxHash specification for the empty input.
        assert_eq!(hash(&recipe("xxh32", "hex8", false), "").unwrap(), "02cc5d05".into());
        assert_eq!(hash(&recipe("xxh64", "hex16", false), "").unwrap(), "ef46db3751d8e999".into());
        assert_eq!(
            hash(&recipe("xxh3-64", "hex16", false), "").unwrap(),
            "2d06800538d394c2".into()
        );
        assert_eq!(
            hash(&recipe("xxh3-128", "hex32", false), "").unwrap(),
            "99aa06d3014798d86001c324468d497f".into()
        );
    }

    #[test]
    fn sorting_keys_hash_as_on_the_platform() {
        let utf16 = recipe("xxh64", "hex16", true);
        assert_eq!(hash(&utf16, "20180602").unwrap(), "4f4ae8f4ac0aef24".into());
        assert_eq!(hash(&utf16, "20180701").unwrap(), "a43fdebf795f9a59".into());
        let int = recipe("xxh64", "int", true);
        assert_eq!(hash(&int, "20180701").unwrap(), Json::Int(0xa43f_debf_795f_9a59_u64 as i64));
    }

    #[test]
    fn recipes_that_do_not_fit_are_refused() {
        assert!(hash(&recipe("xxh32", "hex16", false), "x").is_err());
        assert!(hash(&HashRecipe::default(), "x").unwrap_err().contains("seed"));
    }
}
