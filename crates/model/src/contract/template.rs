//! Templates of keys and identifiers: text with `{components}`.

use crate::time::DateFormat;

/// Longest template.
const TEMPLATE_BYTES_MAX: usize = 512;

/// A template with the types of its components.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text that stands as it is.
    Literal(String),
    /// A component; its type is nothing where none was declared.
    Component {
        /// Its name.
        name: String,
        /// Its type.
        kind: Option<ComponentType>,
        /// Whether keys are meant to sort by it.
        sort: bool,
    },
}

/// Type of a component.
#[derive(Clone, Debug, PartialEq)]
pub enum ComponentType {
    /// An integer, padded with zeros to a width.
    Int {
        /// Digits at least.
        width: Option<usize>,
    },
    /// Letters, digits and underscores.
    Word,
    /// Any text.
    String {
        /// Bytes exactly.
        length: Option<usize>,
        /// Characters that it never has.
        excludes: String,
    },
    /// A UUID with hyphens.
    Uuid,
    /// So many hexadecimal digits.
    Hex(usize),
    /// A date or time.
    Date(DateFormat),
}

/// What types there are, for messages.
pub const EXPECTED: &str = "int, int:08, word, string, string:16, uuid, hex:16 or date:%Y-%m-%d";
/// Longest padded or fixed component.
const WIDTH_MAX: usize = 255;

impl ComponentType {
    /// Reads `type` or `type:format`.
    pub fn parse(text: &str, excludes: &str) -> Option<ComponentType> {
        let (name, format) = match text.split_once(':') {
            Some((name, format)) => (name, Some(format)),
            None => (text, None),
        };
        let width = |text: &str| text.parse().ok().filter(|width| (1..=WIDTH_MAX).contains(width));
        Some(match (name, format) {
            ("int", None) => ComponentType::Int { width: None },
            ("int", Some(format)) => ComponentType::Int { width: Some(width(format)?) },
            ("word", None) => ComponentType::Word,
            ("string", None) => {
                ComponentType::String { length: None, excludes: excludes.to_owned() }
            }
            ("string", Some(format)) => ComponentType::String {
                length: Some(width(format)?),
                excludes: excludes.to_owned(),
            },
            ("uuid", None) => ComponentType::Uuid,
            ("hex", Some(format)) => ComponentType::Hex(width(format)?),
            ("date", format) => {
                ComponentType::Date(DateFormat::parse(format.unwrap_or("%Y-%m-%d"))?)
            }
            _ => return None,
        })
    }

    /// As it is written in a contract.
    pub fn describe(&self) -> String {
        match self {
            ComponentType::Int { width: None } => "int".into(),
            ComponentType::Int { width: Some(width) } => format!("int:{width:02}"),
            ComponentType::Word => "word".into(),
            ComponentType::String { length: Some(length), .. } => format!("string:{length}"),
            ComponentType::String { excludes, .. } if !excludes.is_empty() => {
                format!("string without {excludes}")
            }
            ComponentType::String { .. } => "string".into(),
            ComponentType::Uuid => "uuid".into(),
            ComponentType::Hex(digits) => format!("hex:{digits}"),
            ComponentType::Date(format) => format!("date:{}", format.text()),
        }
    }

    /// Bytes, when they are always the same.
    pub fn fixed_len(&self) -> Option<usize> {
        match self {
            ComponentType::String { length, .. } => *length,
            ComponentType::Uuid => Some(36),
            ComponentType::Hex(digits) => Some(*digits),
            ComponentType::Date(format) => format.fixed_len(),
            ComponentType::Int { .. } | ComponentType::Word => None,
        }
    }

    /// Typical bytes, for sizes.
    pub fn typical_len(&self) -> usize {
        match self {
            ComponentType::Int { width } => width.unwrap_or(8),
            other => other.fixed_len().unwrap_or(12),
        }
    }

    /// Whether a value may hold this character.
    pub fn may_contain(&self, c: char) -> bool {
        match self {
            ComponentType::Int { .. } => c.is_ascii_digit(),
            ComponentType::Word => c.is_alphanumeric() || c == '_',
            ComponentType::String { excludes, .. } => !excludes.contains(c),
            ComponentType::Uuid => c.is_ascii_hexdigit() || c == '-',
            ComponentType::Hex(_) => c.is_ascii_hexdigit(),
            ComponentType::Date(_) => true,
        }
    }

    /// The value as it stands in a key, or what is wrong with it.
    pub fn render(&self, value: &str) -> Result<String, String> {
        let all = |fits: fn(char) -> bool| !value.is_empty() && value.chars().all(fits);
        let keep = |fits: bool, what: &str| {
            if fits { Ok(value.to_owned()) } else { Err(format!("`{value}` is not {what}")) }
        };
        match self {
            ComponentType::Int { width } => {
                let number: i64 =
                    value.parse().map_err(|_| format!("`{value}` is not an integer"))?;
                let width = width.unwrap_or(0);
                let text = format!("{number:0width$}");
                if width > 0 && (text.len() > width || number < 0) {
                    return Err(format!("`{value}` does not fit {width} digits"));
                }
                Ok(text)
            }
            ComponentType::Word => keep(
                all(|c| c.is_alphanumeric() || c == '_'),
                "letters, digits and underscores only",
            ),
            ComponentType::String { length: Some(length), .. } => {
                keep(value.len() == *length, &format!("{length} bytes long"))
            }
            ComponentType::String { excludes, .. } => {
                keep(!value.contains(|c| excludes.contains(c)), &format!("free of `{excludes}`"))
            }
            ComponentType::Uuid => {
                let hyphens = value.char_indices().all(|(at, c)| match at {
                    8 | 13 | 18 | 23 => c == '-',
                    _ => c.is_ascii_hexdigit(),
                });
                keep(value.len() == 36 && hyphens, "a UUID with hyphens")
            }
            ComponentType::Hex(digits) => keep(
                value.len() == *digits && all(|c| c.is_ascii_hexdigit()),
                &format!("{digits} hexadecimal digits"),
            ),
            ComponentType::Date(format) => format.normalise(value),
        }
    }
}

impl Template {
    /// Reads a template; `kind_of` knows the declared types.
    pub fn parse(
        text: &str,
        kind_of: impl Fn(&str) -> (Option<ComponentType>, bool),
    ) -> Result<Template, String> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(format!("the template is longer than {TEMPLATE_BYTES_MAX} bytes"));
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find(['{', '}']) {
            let (literal, behind) = rest.split_at(open);
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            let inner = behind.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let Some((name, behind)) = inner.filter(|(name, _)| is_name(name)) else {
                return Err(format!("`{text}` has a brace without its pair, or an empty name"));
            };
            let (kind, sort) = kind_of(name);
            parts.push(Part::Component { name: name.to_owned(), kind, sort });
            rest = behind;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        Ok(Template { text: text.to_owned(), parts })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its pieces.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Its components with their types.
    pub fn components(&self) -> impl Iterator<Item = (&str, Option<&ComponentType>)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Component { name, kind, .. } => Some((name.as_str(), kind.as_ref())),
            Part::Literal(_) => None,
        })
    }

    /// Fills in values.
    pub fn render<'v>(&self, value_of: impl Fn(&str) -> Option<&'v str>) -> Result<String, String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Component { name, kind, .. } => {
                    let value = value_of(name)
                        .ok_or_else(|| format!("`{}` needs {name}=VALUE", self.text))?;
                    match kind {
                        Some(kind) => {
                            let text =
                                kind.render(value).map_err(|why| format!("{name}: {why}"))?;
                            out.push_str(&text);
                        }
                        None => out.push_str(value),
                    }
                }
            }
        }
        Ok(out)
    }

    /// Typical bytes of what it makes.
    pub fn typical_len(&self) -> usize {
        let part_len = |part: &Part| match part {
            Part::Literal(text) => text.len(),
            Part::Component { kind, .. } => kind.as_ref().map_or(12, ComponentType::typical_len),
        };
        self.parts.iter().map(part_len).sum()
    }

    /// Why two different sets of values can make the same text, when they can.
    pub fn collision(&self) -> Option<String> {
        let mut free: Vec<&str> = Vec::new();
        let mut previous: Option<(&str, bool)> = None;
        for (at, part) in self.parts.iter().enumerate() {
            let Part::Component { name, kind, .. } = part else {
                previous = None;
                continue;
            };
            let fixed = kind.as_ref().is_some_and(|kind| kind.fixed_len().is_some());
            if let Some((other, false)) = previous
                && !fixed
            {
                return Some(format!(
                    "`{{{other}}}{{{name}}}` has nothing between its components: 1 and 23 make the \
                     same text as 12 and 3"
                ));
            }
            previous = Some((name, fixed));
            if !fixed && self.separators(at).any(|c| may_contain(name, kind.as_ref(), c)) {
                free.push(name);
            }
        }
        match free[..] {
            [first, .., last] => Some(format!(
                "both {{{first}}} and {{{last}}} may hold the separator, so different values can \
                 make the same text"
            )),
            _ => None,
        }
    }

    /// First characters of the literals that stand between components, other than at `part`.
    fn separators(&self, part: usize) -> impl Iterator<Item = char> {
        let is_component = |part: Option<&Part>| matches!(part, Some(Part::Component { .. }));
        (1..self.parts.len().saturating_sub(1)).filter_map(move |at| {
            let near = at + 1 == part || at == part + 1;
            match self.parts.get(at)? {
                Part::Literal(text)
                    if near
                        && is_component(self.parts.get(at - 1))
                        && is_component(self.parts.get(at + 1)) =>
                {
                    text.chars().next()
                }
                _ => None,
            }
        })
    }
}

/// A component without a type is a number when its name ends in a unit, and may be any text
/// otherwise.
fn may_contain(name: &str, kind: Option<&ComponentType>, c: char) -> bool {
    match kind {
        Some(kind) => kind.may_contain(c),
        None => crate::time::name_and_unit(name).1.is_none() || c.is_ascii_digit(),
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
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
    fn a_template_is_filled_in() {
        let key = template("sensor:{id}:{day}", &[("id", "int"), ("day", "date:%Y-%m-%d")]);
        let value = |name: &str| match name {
            "id" => Some("4910"),
            _ => Some("2026-03-30"),
        };
        assert_eq!(key.render(value).unwrap(), "sensor:4910:2026-03-30");
        assert!(key.render(|_| None).unwrap_err().contains("id=VALUE"));
        assert!(key.render(|_| Some("x")).unwrap_err().contains("not an integer"));
    }

    #[test]
    fn padding_keeps_the_width() {
        let kind = ComponentType::parse("int:08", "").unwrap();
        assert_eq!(kind.render("420").unwrap(), "00000420");
        assert!(kind.render("123456789").is_err());
        assert!(kind.render("-1").is_err());
    }

    #[test]
    fn which_templates_can_collide() {
        let collides = |text, types| template(text, types).collision().is_some();
        assert!(collides("{a}{b}", &[("a", "int"), ("b", "int")]));
        assert!(collides("{a}:{b}", &[("a", "string"), ("b", "string")]));
        assert!(collides("{a}:{b}", &[]));
        assert!(!collides("{author}-{created_at_ms}", &[]));
        assert!(!collides("{a}:{b}", &[("a", "string"), ("b", "int")]));
        assert!(!collides("{a}:{b}", &[("a", "word"), ("b", "string")]));
        assert!(!collides("{a}{b}", &[("a", "uuid"), ("b", "int")]));
        assert!(!collides("u:{a}", &[("a", "string")]));
        assert!(!collides("tenant:{t}:order:{o}", &[("t", "word"), ("o", "int")]));
        assert!(collides("{a}:{n}:{b}", &[("a", "string"), ("n", "int"), ("b", "string")]));
    }

    #[test]
    fn broken_templates() {
        for text in ["{", "}", "{}", "a{b", "{a{b}}", "{a b}"] {
            assert!(Template::parse(text, |_| (None, false)).is_err(), "{text}");
        }
    }
}
