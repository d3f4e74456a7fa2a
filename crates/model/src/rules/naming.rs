//! Names of bins.

use cairn_value::limits::BIN_NAME_MAX;

use super::{Findings, abbreviate};
use crate::contract::validate::shorten;

/// Names that say nothing, beside single letters.
const AMBIGUOUS: &[&str] = &["ts", "val", "timestamp"];

pub(super) fn too_long(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in entity.bins.iter().filter(|bin| bin.name.len() > BIN_NAME_MAX) {
            let message = format!(
                "bin `{}` is {} bytes, the limit is {BIN_NAME_MAX}",
                shorten(&bin.name),
                bin.name.len()
            );
            let short = abbreviate(&bin.name);
            let fix = match entity.bin(&short) {
                None => Some(format!("call it `{short}`")),
                // The entity has that name already; a person must choose.
                Some(_) => None,
            };
            findings.report_bin(bin.place.name, [&entity.name, &bin.name], message, fix);
        }
    }
}

pub(super) fn is_ambiguous(name: &str) -> bool {
    name.chars().count() == 1 || AMBIGUOUS.contains(&name.to_ascii_lowercase().as_str())
}

pub(super) fn ambiguous(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            if is_ambiguous(&bin.name) {
                let message = format!("bin name `{}` does not say what the value is", bin.name);
                let fix = bin.is_time().then(|| {
                    "say which time it is, and its unit, as in `created_at_ms`".to_owned()
                });
                findings.report_bin(bin.place.name, [&entity.name, &bin.name], message, fix);
            }
        }
    }
}
