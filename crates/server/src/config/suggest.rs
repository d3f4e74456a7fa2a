//! "Did you mean": the closest of some names.

/// Names that differ in more letters than this are no suggestion.
const DISTANCE_MAX: usize = 3;

/// A hint that names the closest name, or all of them when none is close.
pub(super) fn closest<'a>(asked: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let ranked = names.clone().map(|name| (distance(asked, name), name)).min();
    match ranked {
        Some((away, name)) if away <= DISTANCE_MAX => format!("; did you mean `{name}`?"),
        _ => format!("; there are {}", names.collect::<Vec<_>>().join(", ")),
    }
}

/// Letters to insert, remove or change to make one text from the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("same", "same"), 0);
    }

    #[test]
    fn far_away_names_bring_the_whole_list() {
        let names = ["alpha", "beta"];
        assert_eq!(closest("alhpa", names.into_iter()), "; did you mean `alpha`?");
        assert_eq!(closest("nothing", names.into_iter()), "; there are alpha, beta");
    }
}
