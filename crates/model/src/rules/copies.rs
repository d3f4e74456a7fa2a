//! Copies of values.

use super::Findings;
use crate::contract::Mutability;
use crate::quantity::span_text;

/// Staleness that every copy must tolerate.
const STALENESS_MIN_S: f64 = 300.0;

pub(super) fn too_fresh(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            let (Some(source), Some(staleness)) = (&bin.copy_of, bin.staleness_s) else { continue };
            let immutable = findings
                .contract
                .bin_at(source)
                .is_some_and(|(_, bin)| bin.mutability == Some(Mutability::Immutable));
            if staleness < STALENESS_MIN_S && !immutable {
                let message = format!(
                    "`{}` copies `{source}` and tolerates {} of staleness, less than 5 min",
                    bin.name,
                    span_text(staleness)
                );
                findings.report_bin(
                    bin.place.of("staleness"),
                    [&entity.name, &bin.name],
                    message,
                    None,
                );
            }
        }
    }
}

pub(super) fn critical(findings: &mut Findings<'_>) {
    for (entity, _) in findings.entities() {
        for bin in &entity.bins {
            let Some(source) = &bin.copy_of else { continue };
            let original = findings.contract.bin_at(source).and_then(|(_, bin)| bin.mutability);
            let mutability = original.max(bin.mutability);
            if let Some(mutability) = mutability.filter(|m| *m >= Mutability::FrequentlyChanging) {
                let message =
                    format!("`{}` copies `{source}`, which is {}", bin.name, mutability.name());
                findings.report_bin(
                    bin.place.of("copy-of"),
                    [&entity.name, &bin.name],
                    message,
                    None,
                );
            }
        }
    }
}
