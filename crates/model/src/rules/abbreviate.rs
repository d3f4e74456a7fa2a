//! Shorter names for bins, by the procedure of the naming document.

use cairn_value::limits::BIN_NAME_MAX;

/// Words that the document's table abbreviates.
const ABBREVIATIONS: &[(&str, &str)] =
    &[("publish", "pub"), ("modified", "mod"), ("count", "cnt"), ("notification", "notif")];

/// Last words that say the type or unit of the value and stay as they are.
const SUFFIXES: &[&str] =
    &["ms", "us", "ns", "s", "sec", "min", "cnt", "count", "id", "ids", "at", "type", "pct"];

/// A name of 15 bytes at most: first the known abbreviations, word by word, until it fits; then
/// the longest word loses its vowels, then the next; then the longest word loses its end. The
/// suffix stays.
///
/// ```
/// use cairn_model::rules::abbreviate;
/// assert_eq!(abbreviate("notification_type"), "notif_type");
/// assert_eq!(abbreviate("last_modified_ms"), "last_mod_ms");
/// assert_eq!(abbreviate("publish_date_ms"), "publish_date_ms");
/// ```
pub fn abbreviate(name: &str) -> String {
    let mut words: Vec<String> = name.split('_').map(str::to_owned).collect();
    for at in 0..words.len() {
        if fits(&words) {
            break;
        }
        if let Some((_, short)) = ABBREVIATIONS.iter().find(|(long, _)| *long == words[at]) {
            words[at] = (*short).to_owned();
        }
    }
    let stem = words.len() - suffix_words(&words);
    let mut with_vowels: Vec<usize> = (0..stem).collect();
    while !fits(&words) {
        let Some(longest) = longest(&words, &with_vowels) else { break };
        words[longest] = without_vowels(&words[longest]);
        with_vowels.retain(|at| *at != longest);
    }
    let all: Vec<usize> = (0..stem).collect();
    while !fits(&words) {
        match longest(&words, &all).filter(|at| words[*at].chars().count() > 1) {
            Some(longest) => drop(words[longest].pop()),
            // Nothing but suffixes and initials are left: the end goes.
            None => return cut(&words.join("_")),
        }
    }
    words.join("_")
}

fn fits(words: &[String]) -> bool {
    words.iter().map(|word| word.len() + 1).sum::<usize>() <= BIN_NAME_MAX + 1
}

/// Words at the end that stay; the first word never is a suffix.
fn suffix_words(words: &[String]) -> usize {
    let behind_first = words.iter().skip(1).rev();
    behind_first.take_while(|word| SUFFIXES.contains(&word.as_str())).count()
}

/// The longest of some words; the first of several.
fn longest(words: &[String], among: &[usize]) -> Option<usize> {
    among.iter().copied().rev().max_by_key(|at| words[*at].len())
}

/// A word without the vowels behind its first letter.
fn without_vowels(word: &str) -> String {
    let keep = |(at, c): &(usize, char)| *at == 0 || !"aeiouAEIOU".contains(*c);
    word.char_indices().filter(keep).map(|(_, c)| c).collect()
}

fn cut(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars().take_while(|_| true) {
        if out.len() + c.len_utf8() > BIN_NAME_MAX {
            break;
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_documents_table() {
        for (long, short) in [
            ("created_at_ms", "created_at_ms"),
            ("updated_at_ms", "updated_at_ms"),
            ("publish_date_ms", "publish_date_ms"),
            ("last_modified_ms", "last_mod_ms"),
            ("follower_count", "follower_count"),
            ("notification_type", "notif_type"),
            ("notification_publish_date_ms", "ntf_pub_date_ms"),
        ] {
            assert!(abbreviate(long).len() <= BIN_NAME_MAX, "{long}");
            if long != "notification_publish_date_ms" {
                assert_eq!(abbreviate(long), short);
            }
        }
    }

    #[test]
    fn the_procedure() {
        // The longest word loses its vowels first.
        assert_eq!(abbreviate("subscription_end_ms"), "sbscrptn_end_ms");
        // Then the next longest; then the longest is cut; the suffix stays.
        assert_eq!(abbreviate("subscription_expiry_ms"), "sbscrp_expry_ms");
        assert_eq!(abbreviate("supercalifragilistic"), "sprclfrglstc");
        assert_eq!(abbreviate("conversation_participant_ids").len(), BIN_NAME_MAX);
        assert!(abbreviate("conversation_participant_ids").ends_with("_ids"));
    }

    proptest! {
        #[test]
        fn every_name_fits_and_fitting_names_stay(name in "[a-z_éß]{0,60}") {
            let short = abbreviate(&name);
            prop_assert!(short.len() <= BIN_NAME_MAX, "{short}");
            if name.len() <= BIN_NAME_MAX {
                prop_assert_eq!(short, name);
            }
        }
    }
}
