//! One row per expression code: its number, name, arguments and result. The compiler's checks, its
//! errors and the documentation come from here.

use std::fmt;

use super::kind::Kind;

/// What an argument must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// An expression of this kind.
    Of(Kind),
    /// Integers or floats, the same for all arguments.
    Number,
    /// Any kind that has an order, the same for all arguments.
    Comparable,
    /// Anything.
    Anything,
}

/// The arguments of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Args {
    /// These, in this order.
    Fixed(&'static [Want]),
    /// So many or more of the same.
    Many(usize, Want),
    /// A shape of its own, described here and checked by a function of its own.
    Own(&'static str),
    /// Known by number only: a later level of the protocol, refused.
    Later,
}

/// What an expression yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// Always this kind.
    Of(Kind),
    /// The kind of its arguments.
    AsArguments,
}

/// One code.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Number on the wire.
    pub number: u8,
    /// Name in errors and documentation.
    pub name: &'static str,
    /// The code itself.
    pub code: Code,
    /// Arguments.
    pub args: Args,
    /// Result.
    pub yields: Yields,
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Want::Of(kind) => kind.name(),
            Want::Number => "number",
            Want::Comparable => "comparable",
            Want::Anything => "anything",
        })
    }
}

/// The signature, as errors and documentation show it.
///
/// ```
/// use cairn_ops::exp::table::row;
/// assert_eq!(row(36).unwrap().to_string(), "lshift(integer, integer) -> integer");
/// assert_eq!(row(16).unwrap().to_string(), "and(boolean, boolean, ..) -> boolean");
/// assert_eq!(row(81).unwrap().to_string(), "bin(type, name) -> any");
/// ```
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments = match self.args {
            Args::Fixed(wants) => wants.iter().map(Want::to_string).collect::<Vec<_>>().join(", "),
            Args::Many(least, want) => format!("{}..", format!("{want}, ").repeat(least)),
            Args::Own(shape) => shape.to_owned(),
            Args::Later => "..".to_owned(),
        };
        let result = match self.yields {
            Yields::Of(kind) => kind.name(),
            Yields::AsArguments => "number",
        };
        write!(f, "{}({arguments}) -> {result}", self.name)
    }
}

macro_rules! codes {
    ($($code:ident = $number:literal $name:literal, $args:expr, $yields:expr;)*) => {
        /// What an expression does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Code { $($code,)* }

        /// Every code in numeric order.
        pub const TABLE: &[Row] = &[$(
            Row { number: $number, name: $name, code: Code::$code, args: $args, yields: $yields },
        )*];
    };
}

use Args::{Fixed, Later, Many, Own};
use Want::{Anything, Comparable, Number};

const BOOL: Want = Want::Of(Kind::Bool);
const INT: Want = Want::Of(Kind::Int);
const FLOAT: Want = Want::Of(Kind::Float);
const GEO: Want = Want::Of(Kind::Geo);

const fn of(kind: Kind) -> Yields {
    Yields::Of(kind)
}

codes! {
    Unknown = 0 "unknown", Fixed(&[]), of(Kind::Any);
    Eq = 1 "eq", Fixed(&[Comparable, Comparable]), of(Kind::Bool);
    Ne = 2 "ne", Fixed(&[Comparable, Comparable]), of(Kind::Bool);
    Gt = 3 "gt", Fixed(&[Comparable, Comparable]), of(Kind::Bool);
    Ge = 4 "ge", Fixed(&[Comparable, Comparable]), of(Kind::Bool);
    Lt = 5 "lt", Fixed(&[Comparable, Comparable]), of(Kind::Bool);
    Le = 6 "le", Fixed(&[Comparable, Comparable]), of(Kind::Bool);
    Regex = 7 "regex", Own("flags, pattern, string"), of(Kind::Bool);
    Geo = 8 "geo", Fixed(&[GEO, GEO]), of(Kind::Bool);
    InList = 9 "in_list", Fixed(&[Anything, Anything]), of(Kind::Bool);
    And = 16 "and", Many(2, BOOL), of(Kind::Bool);
    Or = 17 "or", Many(2, BOOL), of(Kind::Bool);
    Not = 18 "not", Fixed(&[BOOL]), of(Kind::Bool);
    Exclusive = 19 "exclusive", Many(2, BOOL), of(Kind::Bool);
    Add = 20 "add", Many(1, Number), Yields::AsArguments;
    Sub = 21 "sub", Many(1, Number), Yields::AsArguments;
    Mul = 22 "mul", Many(1, Number), Yields::AsArguments;
    Div = 23 "div", Many(1, Number), Yields::AsArguments;
    Pow = 24 "pow", Fixed(&[FLOAT, FLOAT]), of(Kind::Float);
    Log = 25 "log", Fixed(&[FLOAT, FLOAT]), of(Kind::Float);
    Mod = 26 "mod", Fixed(&[INT, INT]), of(Kind::Int);
    Abs = 27 "abs", Fixed(&[Number]), Yields::AsArguments;
    Floor = 28 "floor", Fixed(&[FLOAT]), of(Kind::Float);
    Ceil = 29 "ceil", Fixed(&[FLOAT]), of(Kind::Float);
    ToInt = 30 "to_int", Fixed(&[FLOAT]), of(Kind::Int);
    ToFloat = 31 "to_float", Fixed(&[INT]), of(Kind::Float);
    IntAnd = 32 "int_and", Many(1, INT), of(Kind::Int);
    IntOr = 33 "int_or", Many(1, INT), of(Kind::Int);
    IntXor = 34 "int_xor", Many(1, INT), of(Kind::Int);
    IntNot = 35 "int_not", Fixed(&[INT]), of(Kind::Int);
    LeftShift = 36 "lshift", Fixed(&[INT, INT]), of(Kind::Int);
    RightShift = 37 "rshift", Fixed(&[INT, INT]), of(Kind::Int);
    ArithmeticRightShift = 38 "arshift", Fixed(&[INT, INT]), of(Kind::Int);
    Count = 39 "count", Fixed(&[INT]), of(Kind::Int);
    LeftScan = 40 "lscan", Fixed(&[INT, BOOL]), of(Kind::Int);
    RightScan = 41 "rscan", Fixed(&[INT, BOOL]), of(Kind::Int);
    Min = 50 "min", Many(1, Number), Yields::AsArguments;
    Max = 51 "max", Many(1, Number), Yields::AsArguments;
    DigestModulo = 64 "digest_modulo", Own("a literal integer other than 0"), of(Kind::Int);
    DeviceSize = 65 "device_size", Fixed(&[]), of(Kind::Int);
    LastUpdate = 66 "last_update", Fixed(&[]), of(Kind::Int);
    SinceUpdate = 67 "since_update", Fixed(&[]), of(Kind::Int);
    VoidTime = 68 "void_time", Fixed(&[]), of(Kind::Int);
    Ttl = 69 "ttl", Fixed(&[]), of(Kind::Int);
    SetName = 70 "set_name", Fixed(&[]), of(Kind::Str);
    KeyExists = 71 "key_exists", Fixed(&[]), of(Kind::Bool);
    IsTombstone = 72 "is_tombstone", Fixed(&[]), of(Kind::Bool);
    MemorySize = 73 "memory_size", Fixed(&[]), of(Kind::Int);
    RecordSize = 74 "record_size", Fixed(&[]), of(Kind::Int);
    Key = 80 "key", Own("type 2, 3 or 6"), of(Kind::Any);
    Bin = 81 "bin", Own("type, name"), of(Kind::Any);
    BinType = 82 "bin_type", Own("name"), of(Kind::Int);
    ToString = 99 "to_string", Later, of(Kind::Any);
    RemoveResult = 100 "remove_result", Fixed(&[]), of(Kind::Remove);
    MapKeys = 101 "map_keys", Fixed(&[Anything]), of(Kind::List);
    MapValues = 102 "map_values", Fixed(&[Anything]), of(Kind::List);
    LoopVar = 122 "loop_var", Own("type, part (0 key, 1 value, 2 index)"), of(Kind::Any);
    Cond = 123 "cond", Own("condition, value, .., default"), of(Kind::Any);
    Var = 124 "var", Own("name of a variable of an enclosing let"), of(Kind::Any);
    Let = 125 "let", Own("name, value, .., body"), of(Kind::Any);
    Quote = 126 "quote", Own("a list"), of(Kind::List);
    Call = 127 "call", Own("type, system, operation, value"), of(Kind::Any);
    Ael = 128 "ael", Later, of(Kind::Any);
}

/// The row of a wire number.
pub fn row(number: i64) -> Option<&'static Row> {
    let number = u8::try_from(number).ok()?;
    let place = TABLE.binary_search_by_key(&number, |row| row.number).ok()?;
    TABLE.get(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_ascend_so_that_they_can_be_searched() {
        assert!(TABLE.windows(2).all(|pair| pair[0].number < pair[1].number));
        assert!(TABLE.iter().all(|r| row(i64::from(r.number)).map(|x| x.code) == Some(r.code)));
        assert!(row(200).is_none() && row(-1).is_none() && row(1 << 40).is_none());
    }
}
