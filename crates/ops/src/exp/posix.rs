//! POSIX regular expressions, basic and extended, with the GNU additions, run by an automaton in
//! linear time. Text is bytes, as in the C locale.
//!
//! A pattern is translated to the syntax of the `regex` crate. Only whether a text matches is
//! asked, never where, so "longest" against "first" makes no difference. Back-references have no
//! automaton and are refused.

use std::fmt::Write as _;

use cairn_value::Error;
use regex::bytes::{Regex, RegexBuilder};

use super::bracket;
use super::compile::refusal;

/// Longest pattern in bytes.
pub const PATTERN_MAX: usize = 4096;
/// Largest automaton in bytes.
const AUTOMATON_MAX: usize = 256 * 1024;
/// Most repetitions that braces may ask for.
const REPEAT_MAX: u32 = 0x7fff;
/// Deepest nesting of groups.
const NEST_MAX: u32 = 64;

/// Extended syntax.
const EXTENDED: i64 = 1;
/// Letters match in either case.
const IGNORE_CASE: i64 = 2;
/// `^` and `$` also match at line ends, `.` and `[^..]` match no line end.
const NEWLINE: i64 = 4;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
}

impl Pattern {
    /// Compiles a pattern. Both it and the texts it is matched against end at their first zero
    /// byte, as C strings do.
    pub fn compile(pattern: &[u8], flags: i64) -> Result<Pattern, Error> {
        let pattern = c_string(pattern);
        if pattern.len() > PATTERN_MAX {
            return Err(refusal(format!(
                "the regular expression is {} bytes, the limit is {PATTERN_MAX}",
                pattern.len()
            )));
        }
        let translated = Translator::new(pattern, flags).run()?;
        let regex = RegexBuilder::new(&translated)
            .unicode(false)
            .case_insensitive(flags & IGNORE_CASE != 0)
            .multi_line(flags & NEWLINE != 0)
            .dot_matches_new_line(flags & NEWLINE == 0)
            .size_limit(AUTOMATON_MAX)
            .dfa_size_limit(AUTOMATON_MAX)
            .nest_limit(4 * NEST_MAX)
            .build()
            .map_err(|_| invalid(pattern, "it is too large or malformed"))?;
        Ok(Pattern { regex })
    }

    /// Whether the pattern matches somewhere in the text.
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.regex.is_match(c_string(text))
    }
}

fn c_string(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or(&[])
}

fn invalid(pattern: &[u8], why: &str) -> Error {
    let shown = String::from_utf8_lossy(&pattern[..pattern.len().min(60)]).into_owned();
    refusal(format!("the regular expression `{}` is refused: {why}", shown.escape_debug()))
}

/// Walks a pattern once and writes its translation.
struct Translator<'p> {
    pattern: &'p [u8],
    at: usize,
    extended: bool,
    newline: bool,
    out: String,
    /// Where the atom that a repetition would apply to starts in `out`; `None` where there is none.
    atom: Option<usize>,
    /// Open groups: where each starts in `out`.
    groups: Vec<usize>,
}

/// What a piece of a pattern means.
enum Piece {
    Literal(u8),
    Any,
    Open,
    Close,
    Or,
    Repeat(&'static str),
    Interval,
    LineStart,
    LineEnd,
    Assert(&'static str),
    Class(&'static str),
    BackReference,
}

impl<'p> Translator<'p> {
    fn new(pattern: &'p [u8], flags: i64) -> Self {
        Translator {
            pattern,
            at: 0,
            extended: flags & EXTENDED != 0,
            newline: flags & NEWLINE != 0,
            out: String::with_capacity(4 * pattern.len()),
            atom: None,
            groups: Vec::new(),
        }
    }

    fn refuse<T>(&self, why: &str) -> Result<T, Error> {
        Err(invalid(self.pattern, why))
    }

    fn run(mut self) -> Result<String, Error> {
        while let Some(&byte) = self.pattern.get(self.at) {
            self.at += 1;
            if byte == b'[' {
                self.bracket()?;
                continue;
            }
            let piece = if byte == b'\\' { self.escaped()? } else { self.plain(byte) };
            self.emit(piece)?;
        }
        if self.groups.is_empty() { Ok(self.out) } else { self.refuse("a group is not closed") }
    }

    /// True where a basic expression starts: `*` and `^` mean something else there.
    fn at_start(&self) -> bool {
        let inner = self.groups.last().map_or(0, |&start| start + "(?:".len());
        self.out.len() == inner || self.out.ends_with('|')
    }

    /// True when the rest ends the basic expression, which makes `$` an anchor.
    fn at_end(&self) -> bool {
        let rest = self.pattern.get(self.at..).unwrap_or(&[]);
        rest.is_empty() || rest.starts_with(b"\\)") || rest.starts_with(b"\\|")
    }

    fn plain(&self, byte: u8) -> Piece {
        match (byte, self.extended) {
            (b'.', _) => Piece::Any,
            (b'*', true) => Piece::Repeat("*"),
            (b'*', false) if self.at_start() || self.out.ends_with('^') => Piece::Literal(b'*'),
            (b'*', false) => Piece::Repeat("*"),
            (b'^', true) => Piece::LineStart,
            (b'^', false) if self.at_start() => Piece::LineStart,
            (b'$', true) => Piece::LineEnd,
            (b'$', false) if self.at_end() => Piece::LineEnd,
            (b'+', true) => Piece::Repeat("+"),
            (b'?', true) => Piece::Repeat("?"),
            (b'{', true) => Piece::Interval,
            (b'(', true) => Piece::Open,
            // An extended expression takes an unmatched parenthesis literally.
            (b')', true) if !self.groups.is_empty() => Piece::Close,
            (b'|', true) => Piece::Or,
            (literal, _) => Piece::Literal(literal),
        }
    }

    fn escaped(&mut self) -> Result<Piece, Error> {
        let Some(&byte) = self.pattern.get(self.at) else {
            return self.refuse("it ends with a backslash");
        };
        self.at += 1;
        Ok(match (byte, self.extended) {
            (b'w', _) => Piece::Class(r"[0-9A-Za-z_]"),
            (b'W', _) => Piece::Class(r"[^0-9A-Za-z_]"),
            (b's', _) => Piece::Class(r"[\t-\r ]"),
            (b'S', _) => Piece::Class(r"[^\t-\r ]"),
            (b'b', _) => Piece::Assert(r"\b"),
            (b'B', _) => Piece::Assert(r"\B"),
            (b'<', _) => Piece::Assert(r"\b{start}"),
            (b'>', _) => Piece::Assert(r"\b{end}"),
            (b'`', _) => Piece::Assert(r"\A"),
            (b'\'', _) => Piece::Assert(r"\z"),
            (b'1'..=b'9', _) => Piece::BackReference,
            (b'(', false) => Piece::Open,
            (b')', false) => Piece::Close,
            (b'{', false) => Piece::Interval,
            (b'|', false) => Piece::Or,
            (b'+', false) => Piece::Repeat("+"),
            (b'?', false) => Piece::Repeat("?"),
            (literal, _) => Piece::Literal(literal),
        })
    }

    fn emit(&mut self, piece: Piece) -> Result<(), Error> {
        match piece {
            Piece::Literal(byte) => {
                self.start_atom();
                self.byte(byte);
            }
            Piece::Any => self.put_atom("."),
            Piece::Class(class) => self.put_atom(class),
            Piece::Assert(assertion) => self.put_assertion(assertion),
            Piece::LineStart => self.put_assertion("^"),
            Piece::LineEnd => self.put_assertion("$"),
            Piece::Or => {
                self.out.push('|');
                self.atom = None;
            }
            Piece::Open => return self.open(),
            Piece::Close => return self.close(),
            Piece::Repeat(operator) => return self.repeat(operator),
            Piece::Interval => return self.interval(),
            Piece::BackReference => return self.refuse("back-references are not supported"),
        }
        Ok(())
    }

    fn byte(&mut self, byte: u8) {
        if byte.is_ascii_alphanumeric() {
            self.out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(self.out, r"\x{byte:02x}");
        }
    }

    fn start_atom(&mut self) {
        self.atom = Some(self.out.len());
    }

    fn put_atom(&mut self, atom: &str) {
        self.start_atom();
        self.out.push_str(atom);
    }

    fn put_assertion(&mut self, assertion: &str) {
        self.out.push_str(assertion);
        self.atom = None;
    }

    fn open(&mut self) -> Result<(), Error> {
        if self.groups.len() >= NEST_MAX as usize {
            return self.refuse("groups are nested too deep");
        }
        self.groups.push(self.out.len());
        self.out.push_str("(?:");
        self.atom = None;
        Ok(())
    }

    fn close(&mut self) -> Result<(), Error> {
        let Some(start) = self.groups.pop() else {
            return self.refuse("a closing parenthesis has no opening one");
        };
        self.out.push(')');
        self.atom = Some(start);
        Ok(())
    }

    /// Repeats the last atom. It is wrapped first, because `a+?` means "perhaps a+" here.
    fn repeat(&mut self, operator: &str) -> Result<(), Error> {
        let Some(start) = self.atom else {
            return self.refuse("a repetition follows nothing that can be repeated");
        };
        if self.out.len() > 64 * PATTERN_MAX {
            return self.refuse("repetitions are nested too deep");
        }
        self.out.insert_str(start, "(?:");
        self.out.push(')');
        self.out.push_str(operator);
        Ok(())
    }

    /// Reads `m}`, `m,}`, `,n}` or `m,n}` (in basic syntax the brace is escaped).
    fn interval(&mut self) -> Result<(), Error> {
        let least = self.number();
        let comma = self.pattern.get(self.at) == Some(&b',');
        let most = if comma {
            self.at += 1;
            self.number()
        } else {
            least
        };
        let end: &[u8] = if self.extended { b"}" } else { b"\\}" };
        let closed = self.pattern.get(self.at..).is_some_and(|rest| rest.starts_with(end));
        if !closed || (least.is_none() && !comma) {
            return self.refuse("braces hold one or two numbers");
        }
        self.at += end.len();
        let least = least.unwrap_or(0);
        if least.max(most.unwrap_or(0)) > REPEAT_MAX || most.is_some_and(|most| most < least) {
            return self.refuse("the numbers in braces do not fit");
        }
        let operator = match most {
            Some(most) => format!("{{{least},{most}}}"),
            None => format!("{{{least},}}"),
        };
        self.repeat(&operator)
    }

    fn number(&mut self) -> Option<u32> {
        let mut number = None;
        while let Some(digit @ b'0'..=b'9') = self.pattern.get(self.at).copied() {
            self.at += 1;
            let value = number.unwrap_or(0u32).saturating_mul(10);
            number = Some(value.saturating_add(u32::from(digit - b'0')));
        }
        number
    }

    fn bracket(&mut self) -> Result<(), Error> {
        let rest = self.pattern.get(self.at..).unwrap_or(&[]);
        let Some((mut set, used)) = bracket::parse(rest) else {
            return self.refuse("a bracket expression is malformed");
        };
        if self.newline && set.negated {
            set.members[usize::from(b'\n')] = false;
        }
        self.at += used;
        self.start_atom();
        set.write_to(&mut self.out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, flags: i64, text: &str) -> bool {
        Pattern::compile(pattern.as_bytes(), flags).unwrap().is_match(text.as_bytes())
    }

    #[test]
    fn basic_syntax_takes_operators_literally() {
        assert!(!matches("l+", 0, "hello"));
        assert!(matches("l+", 0, "l+"));
        assert!(matches(r"l\+o", 0, "hello"));
        assert!(matches(r"l\{2\}", 0, "hello"));
        assert!(!matches("l{2}", 0, "hello"));
        assert!(matches("*a", 0, "x*a"));
        assert!(matches("^*a", 0, "*a"));
        assert!(matches(r"\(*a\)", 0, "*a"));
        assert!(matches("a^b$c", 0, "a^b$c"));
        assert!(matches(r"x\|h", 0, "hello"));
    }

    #[test]
    fn extended_syntax() {
        assert!(matches("(a|h)e", 1, "hello"));
        assert!(matches("l{2}", 1, "hello"));
        assert!(matches("^h.*o$", 1, "hello"));
        assert!(matches("(xy)?hello)", 1, "hello)"));
        assert!(matches("^ab+?c$", 1, "ac") && !matches("^ab+c$", 1, "ac"));
        assert!(Pattern::compile(b"*a", 1).is_err());
        assert!(Pattern::compile(b"(a", 1).is_err());
        assert!(Pattern::compile(b"a{3,2}", 1).is_err());
        assert!(Pattern::compile(b"(a)\\1", 1).is_err());
    }

    #[test]
    fn brackets() {
        assert!(matches("[]a]", 0, "]"));
        assert!(matches("[^]a]", 0, "b") && !matches("[^]a]", 0, "]"));
        assert!(matches("^[[:alpha:]_]*$", 0, "ab_c") && !matches("^[[:alpha:]]*$", 0, "a1"));
        assert!(matches(r"[\]", 0, "\\"));
        assert!(matches("[a-]", 0, "-"));
        assert!(Pattern::compile(b"[", 0).is_err());
        assert!(Pattern::compile(b"[z-a]", 0).is_err());
        assert!(Pattern::compile(b"[[:nope:]]", 0).is_err());
    }

    #[test]
    fn flags() {
        assert!(matches("HEL", IGNORE_CASE, "hello") && !matches("HEL", 0, "hello"));
        assert!(matches("[H]EL", IGNORE_CASE, "hello"));
        assert!(matches("^b", NEWLINE, "a\nb") && !matches("^b", 8, "a\nb"));
        assert!(matches("a.b", 0, "a\nb") && !matches("a.b", NEWLINE, "a\nb"));
        assert!(matches("a[^x]b", 0, "a\nb") && !matches("a[^x]b", NEWLINE, "a\nb"));
    }

    #[test]
    fn hostile_patterns_are_refused_or_cheap() {
        assert!(Pattern::compile(&[b'a'; PATTERN_MAX + 1], 1).is_err());
        assert!(Pattern::compile(b"((a{1000}){1000}){1000}", 1).is_err());
        assert!(Pattern::compile(&b"(".repeat(1000), 1).is_err());
        let stars = [b"a".as_slice(), &b"*".repeat(3000)].concat();
        let _ = Pattern::compile(&stars, 1);
        assert!(!matches("^(a|aa)+$", 1, &format!("{}b", "a".repeat(10_000))));
    }
}
