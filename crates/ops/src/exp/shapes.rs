//! The codes whose arguments have a shape of their own. Each function returns `None` when an
//! argument is not what the table says.

use cairn_value::limits::BIN_NAME_MAX;
use cairn_value::packed::{Reader, Token, check as check_packed};
use cairn_value::{Error, ResultCode};

use super::compile::{Compiler, refusal, span};
use super::kind::Kind;
use super::posix::Pattern;
use super::program::{Op, PATTERNS_MAX, Part, Span, VARIABLES_MAX};

type Shaped = Result<Option<Kind>, Error>;

impl<'p> Compiler<'p> {
    pub(super) fn regex(&mut self, reader: &mut Reader<'p>, depth_left: usize) -> Shaped {
        let (Token::Int(flags), Token::Bytes(pattern)) = (reader.token()?, reader.token()?) else {
            return Ok(None);
        };
        let place = self.program.patterns.len();
        if place >= PATTERNS_MAX {
            return Err(refusal(format!(
                "the expression has more than {PATTERNS_MAX} regular expressions"
            )));
        }
        self.program.patterns.push(Pattern::compile(pattern, flags)?);
        let at = self.open(Op::Regex(place as u32))?;
        let kind = self.expression(reader, depth_left)?;
        Ok(kind.unify(Kind::Str).map(|_| self.close(at, Kind::Bool)))
    }

    pub(super) fn digest_modulo(&mut self, reader: &mut Reader<'p>) -> Shaped {
        match reader.token()? {
            Token::Int(0) => Ok(None),
            Token::Int(modulus) => self.literal(Op::DigestModulo(modulus), Kind::Int).map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn key(&mut self, reader: &mut Reader<'p>) -> Shaped {
        match kind_number(reader)? {
            Some(kind @ (Kind::Int | Kind::Str | Kind::Blob)) => {
                self.literal(Op::Key, kind).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(super) fn bin(&mut self, reader: &mut Reader<'p>) -> Shaped {
        let Some(kind) = kind_number(reader)? else { return Ok(None) };
        let Some(name) = bin_name(reader)? else { return Ok(None) };
        self.program.needs_bins = true;
        self.literal(Op::Bin(name), kind).map(Some)
    }

    pub(super) fn bin_type(&mut self, reader: &mut Reader<'p>) -> Shaped {
        let Some(name) = bin_name(reader)? else { return Ok(None) };
        self.program.needs_bins = true;
        self.literal(Op::BinType(name), Kind::Int).map(Some)
    }

    pub(super) fn loop_var(&mut self, reader: &mut Reader<'p>) -> Shaped {
        let Some(kind) = kind_number(reader)? else { return Ok(None) };
        let part = match reader.token()? {
            Token::Int(0) => Part::Key,
            Token::Int(1) => Part::Value,
            Token::Int(2) => Part::Index,
            _ => return Ok(None),
        };
        self.literal(Op::LoopVar(part), kind).map(Some)
    }

    pub(super) fn quote(&mut self, reader: &mut Reader<'p>) -> Shaped {
        let start = reader.position();
        if !matches!(reader.peek()?, Token::List(_)) {
            return Ok(None);
        }
        check_packed(reader.skip()?)?;
        self.literal(Op::Packed(span(start, reader)), Kind::List).map(Some)
    }

    pub(super) fn var(&mut self, reader: &mut Reader<'p>) -> Shaped {
        let Some(name) = variable_name(reader)? else { return Ok(None) };
        let Some(place) = self.vars.iter().position(|var| var.0 == name) else { return Ok(None) };
        self.literal(Op::Var(place as u32), self.vars[place].1).map(Some)
    }

    pub(super) fn cond(
        &mut self,
        reader: &mut Reader<'p>,
        arg_count: usize,
        depth_left: usize,
    ) -> Shaped {
        let at = self.open(Op::Cond)?;
        let mut common = Kind::Any;
        for place in 0..arg_count {
            let kind = self.expression(reader, depth_left)?;
            let is_condition = place % 2 == 0 && place + 1 < arg_count;
            let fits = if is_condition {
                kind.unify(Kind::Bool).map(|_| common)
            } else {
                kind.unify(common)
            };
            let Some(fits) = fits else { return Ok(None) };
            common = fits;
        }
        Ok(Some(self.close(at, common)))
    }

    pub(super) fn r#let(
        &mut self,
        reader: &mut Reader<'p>,
        arg_count: usize,
        depth_left: usize,
    ) -> Shaped {
        let at = self.open(Op::Let)?;
        let outer = self.vars.len();
        for _ in 0..arg_count / 2 {
            let Some(name) = variable_name(reader)? else { return Ok(None) };
            if self.vars.iter().any(|var| var.0 == name) {
                return Ok(None);
            }
            if self.vars.len() >= VARIABLES_MAX {
                return Err(refusal(format!("more than {VARIABLES_MAX} variables at one place")));
            }
            let kind = self.expression(reader, depth_left)?;
            self.vars.push((name, kind));
        }
        let kind = self.expression(reader, depth_left)?;
        self.vars.truncate(outer);
        Ok(Some(self.close(at, kind)))
    }

    pub(super) fn call(&mut self, reader: &mut Reader<'p>, depth_left: usize) -> Shaped {
        let Some(kind) = kind_number(reader)? else { return Ok(None) };
        let Token::Int(system) = reader.token()? else { return Ok(None) };
        let place = self.program.calls.len();
        let at = self.open(Op::Call(place as u32))?;
        let Some((shape, accepts)) = super::call::shape(self, reader, system, depth_left)? else {
            return Ok(None);
        };
        // Calls among the arguments have taken places already.
        if let Some(node) = self.program.nodes.get_mut(at) {
            node.op = Op::Call(self.program.calls.len() as u32);
        }
        self.program.calls.push(shape);
        let base = self.expression(reader, depth_left)?;
        Ok(accepts(base).then(|| self.close(at, kind)))
    }
}

fn kind_number(reader: &mut Reader<'_>) -> Result<Option<Kind>, Error> {
    Ok(match reader.token()? {
        Token::Int(number) => Kind::from_wire(number),
        _ => None,
    })
}

fn bin_name(reader: &mut Reader<'_>) -> Result<Option<Span>, Error> {
    let Token::Bytes(name) = reader.token()? else { return Ok(None) };
    if name.len() > BIN_NAME_MAX || name.contains(&0) {
        return Err(Error::new(
            ResultCode::Parameter,
            format!("a bin name of {} bytes; the limit is {BIN_NAME_MAX}, none is 0", name.len()),
        ));
    }
    let end = reader.position();
    Ok(Some(Span { at: (end - name.len()) as u32, len: name.len() as u32 }))
}

/// The name of a variable. One that starts with a control byte is a text with a particle type, not
/// a name.
fn variable_name<'p>(reader: &mut Reader<'p>) -> Result<Option<&'p [u8]>, Error> {
    Ok(match reader.token()? {
        Token::Bytes(name) => name.first().filter(|&&byte| byte >= b' ').map(|_| name),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use crate::exp::table::{Args, Code, TABLE};

    #[test]
    fn every_own_shape_is_compiled_here() {
        let own: Vec<Code> = TABLE
            .iter()
            .filter(|row| matches!(row.args, Args::Own(_)))
            .map(|row| row.code)
            .collect();
        assert_eq!(own.len(), 11, "{own:?}");
    }
}
