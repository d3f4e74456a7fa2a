//! Whether a key is one that a template makes.

use crate::contract::{ComponentType, Part, Template};

/// Longer keys are not looked at and do not fit.
const KEY_BYTES_MAX: usize = 1024;

/// Whether `text` could have been made by the template, or is a shard of such a key.
pub fn fits(template: &Template, text: &str, has_shards: bool) -> bool {
    if matches(template, text) {
        return true;
    }
    // {key}:{shard}, where a shard is a number or a date.
    has_shards
        && text.rsplit_once(':').is_some_and(|(key, shard)| {
            let is_shard =
                !shard.is_empty() && shard.bytes().all(|b| b.is_ascii_digit() || b == b'-');
            is_shard && matches(template, key)
        })
}

fn matches(template: &Template, text: &str) -> bool {
    if text.len() > KEY_BYTES_MAX {
        return false;
    }
    // Offsets that the parts so far can end at; nearly always one.
    let mut reached = vec![0];
    for part in template.parts() {
        let mut next = Vec::new();
        for &from in &reached {
            let rest = &text[from..];
            match part {
                Part::Literal(literal) => {
                    if rest.starts_with(literal.as_str()) {
                        next.push(from + literal.len());
                    }
                }
                Part::Component { kind, .. } => {
                    ends(kind.as_ref(), rest, |len| next.push(from + len))
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        if next.is_empty() {
            return false;
        }
        reached = next;
    }
    reached.contains(&text.len())
}

/// Calls `end` with every length at which a value of this type can end.
fn ends(kind: Option<&ComponentType>, rest: &str, mut end: impl FnMut(usize)) {
    let Some(kind) = kind else {
        return rest.char_indices().for_each(|(at, c)| end(at + c.len_utf8()));
    };
    if let Some(len) = kind.fixed_len() {
        let value = rest.get(..len);
        if value.is_some_and(|value| kind.render(value).is_ok_and(|text| text == value)) {
            end(len);
        }
        return;
    }
    let negative = matches!(kind, ComponentType::Int { width: None }) && rest.starts_with('-');
    let start = usize::from(negative);
    for (at, c) in rest[start..].char_indices() {
        if !kind.may_contain(c) {
            break;
        }
        let len = start + at + c.len_utf8();
        match kind {
            ComponentType::Int { width: Some(width) } if len != *width => {}
            _ => end(len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(text: &str, types: &[(&str, &str)]) -> Template {
        Template::parse(text, |name| {
            let found = types.iter().find(|(other, _)| *other == name);
            (found.map(|(_, kind)| ComponentType::parse(kind, "").unwrap()), false)
        })
        .unwrap()
    }

    #[test]
    fn keys_that_fit_and_keys_that_do_not() {
        let sensor = template("sensor:{id}:{day}", &[("id", "int"), ("day", "date:%Y-%m-%d")]);
        assert!(fits(&sensor, "sensor:4910:2026-03-30", false));
        for wrong in [
            "",
            "sensor:",
            "sensor:x:2026-03-30",
            "sensor:1:2026-3-30",
            "sensor:1:2026-03-30:4",
            "Sensor:1:2026-03-30",
        ] {
            assert!(!fits(&sensor, wrong, false), "{wrong}");
        }
        assert!(fits(&sensor, "sensor:1:2026-03-30:4", true), "a hash shard");
        assert!(fits(&sensor, "sensor:1:2026-03-30:2026-03-30-07", true), "a shard by hour");
        let order = template("tenant:{t}:order:{o}", &[("t", "word"), ("o", "int:08")]);
        assert!(fits(&order, "tenant:acme:order:00000042", false));
        assert!(!fits(&order, "tenant:acme:order:42", false));
        let free = template("{a}-{b}", &[("a", "string"), ("b", "int")]);
        assert!(fits(&free, "a-b-c-5", false));
        assert!(!fits(&free, &"-5".repeat(600), false), "too long");
    }
}
