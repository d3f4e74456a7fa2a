//! Identifiers.

use super::Findings;
use crate::contract::{ComponentType, Identifier, IdentifierKind};
use crate::quantity::{Bytes, grouped};

/// Nested repetitions from which a fixed size pays.
const REPEATED_A_LOT: f64 = 1000.0;
/// Nested repetitions up to which a readable form is better.
const REPEATED_HARDLY: f64 = 10.0;
/// Bytes of a 64-bit hash in hexadecimal.
const HEX16: f64 = 16.0;

pub(super) fn recipe(findings: &mut Findings<'_>) {
    let hashes = findings.contract.identifiers.iter();
    for id in hashes.filter(|id| id.kind == IdentifierKind::Hash) {
        let recipe = &id.recipe;
        let parts = [
            ("algorithm", recipe.algorithm.is_none()),
            ("seed", recipe.seed.is_none()),
            ("input", recipe.input.is_none()),
            ("output", recipe.output.is_none()),
            ("on-collision", recipe.on_collision.is_none()),
        ];
        let missing: Vec<&str> =
            parts.iter().filter(|(_, lacks)| *lacks).map(|(name, _)| *name).collect();
        if !missing.is_empty() {
            let message = format!("the recipe of `{}` lacks {}", id.name, missing.join(", "));
            let fix = Some(format!("declare {}", missing.join(", ")));
            findings.report(id.place.name, &id.name, message, fix);
        } else if let Some(message) = mismatch(id) {
            findings.report(id.place.of("output"), &id.name, message, None);
        }
    }
}

/// An output that the algorithm cannot fill.
fn mismatch(id: &Identifier) -> Option<String> {
    let digits = match id.recipe.algorithm.as_deref()? {
        "xxh32" => 8,
        "xxh3-128" => 32,
        _ => 16,
    };
    let wanted = match id.recipe.output.as_deref()? {
        "hex8" => 8,
        "hex32" => 32,
        "int" => digits.min(16),
        _ => 16,
    };
    (wanted != digits).then(|| {
        format!("`{}` makes {digits} hexadecimal digits, its output wants {wanted}", id.name)
    })
}

pub(super) fn format(findings: &mut Findings<'_>) {
    for id in &findings.contract.identifiers {
        let Some(repeated) = id.repeated else { continue };
        let bytes = id.bytes.or_else(|| {
            let types = id.template.as_ref()?;
            // A length is only known where every component has a type.
            let typed = types.components().all(|(_, kind)| kind.is_some_and(is_measurable));
            typed.then(|| types.typical_len() as f64)
        });
        match (id.kind, bytes) {
            (IdentifierKind::Cleartext, Some(bytes))
                if repeated >= REPEATED_A_LOT && bytes > HEX16 =>
            {
                let message = format!(
                    "`{}` is about {bytes:.0} bytes and stands in {} records",
                    id.name,
                    grouped(repeated)
                );
                let fix = format!(
                    "a 64-bit hash in 16 digits saves {} there",
                    Bytes((bytes - HEX16) * repeated)
                );
                findings.report(id.place.of("kind"), &id.name, message, Some(fix));
            }
            (IdentifierKind::Uuid, _) if repeated >= REPEATED_A_LOT => {
                let message = format!(
                    "`{}` is 36 bytes and stands in {} records",
                    id.name,
                    grouped(repeated)
                );
                let fix =
                    format!("a 64-bit hash in 16 digits saves {} there", Bytes(20.0 * repeated));
                findings.report(id.place.of("kind"), &id.name, message, Some(fix));
            }
            (IdentifierKind::Hash, _) if repeated <= REPEATED_HARDLY => {
                let message = format!("`{}` is hashed but hardly repeated", id.name);
                let fix = "a readable composite is easier to build and to debug".to_owned();
                findings.report(id.place.of("kind"), &id.name, message, Some(fix));
            }
            _ => {}
        }
    }
}

fn is_measurable(kind: &ComponentType) -> bool {
    !matches!(kind, ComponentType::Word | ComponentType::String { length: None, .. })
}
