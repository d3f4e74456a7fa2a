//! "Did you mean": the closest of some names.

use cairn_value::suggest;

/// A hint that names the closest name, or all of them when none is close.
pub(super) fn closest<'a>(asked: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    match suggest::closest(asked, names.clone()) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => format!("; there are {}", names.collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_away_names_bring_the_whole_list() {
        let names = ["alpha", "beta"];
        assert_eq!(closest("alhpa", names.into_iter()), "; did you mean `alpha`?");
        assert_eq!(closest("nothing", names.into_iter()), "; there are alpha, beta");
    }
}
