//! "Did you mean": the closest of some names.

/// Names that differ in more letters than this are no suggestion.
const DISTANCE_MAX: usize = 3;
/// Longer names are not compared: the work grows with the product of both lengths.
const LENGTH_MAX: usize = 64;

/// More names are not compared: a suggestion is a courtesy.
const NAMES_MAX: usize = 200;

/// The closest name, when one is close.
pub fn closest<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if asked.len() > LENGTH_MAX {
        return None;
    }
    let near = names.into_iter().take(NAMES_MAX).filter(|name| name.len() <= LENGTH_MAX);
    let (away, name) = near.map(|name| (distance(asked, name), name)).min()?;
    (away <= DISTANCE_MAX && away < asked.chars().count().max(2)).then_some(name)
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
    fn only_close_names_are_suggested() {
        assert_eq!(closest("mutabilty", ["type", "mutability"]), Some("mutability"));
        assert_eq!(closest("colour", ["type", "mutability"]), None);
    }
}
