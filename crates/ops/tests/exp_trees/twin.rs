//! The naive evaluation of a tree: plain recursion over values, wide integers that are cut at the
//! end, bit by bit where the store works on words.

use std::cmp::Ordering;

use cairn_value::Value;

use super::{Exp, World, kind_of};

impl Exp {
    /// The naive evaluation; `None` is unknown.
    pub fn evaluate(
        &self,
        world: &World<'_>,
        vars: &mut Vec<(String, Option<Value>)>,
    ) -> Option<Value> {
        match self {
            Exp::Literal(value) => Some(value.clone()),
            Exp::Bin(kind, name) => {
                world.bins?.get(name).filter(|value| kind_of(value) == *kind).cloned()
            }
            Exp::BinType(name) => {
                let kind = world.bins?.get(name).map_or(0, |value| value.kind().wire());
                Some(Value::Int(i64::from(kind)))
            }
            Exp::Loop(kind, part) => {
                let (key, value, index) = world.hand?;
                let part = match part {
                    0 => key?.clone(),
                    1 => value.clone(),
                    _ => Value::Int(index?),
                };
                (kind_of(&part) == *kind).then_some(part)
            }
            Exp::Var(name) => vars.iter().find(|var| var.0 == *name).unwrap().1.clone(),
            Exp::Let(defs, body) => {
                let outer = vars.len();
                for (name, value) in defs {
                    let value = value.evaluate(world, vars);
                    vars.push((name.clone(), value));
                }
                let result = body.evaluate(world, vars);
                vars.truncate(outer);
                result
            }
            Exp::Cond(args) => {
                for pair in args.chunks(2) {
                    let [condition, value] = pair else { return pair[0].evaluate(world, vars) };
                    match condition.evaluate(world, vars)? {
                        Value::Bool(true) => return value.evaluate(world, vars),
                        Value::Bool(false) => {}
                        _ => return None,
                    }
                }
                None
            }
            Exp::Apply(code, args) => {
                let args: Vec<Option<Value>> =
                    args.iter().map(|arg| arg.evaluate(world, vars)).collect();
                apply(*code, &args)
            }
        }
    }
}

fn wrap(value: i128) -> Value {
    Value::Int(value as i64)
}

fn apply(code: u8, args: &[Option<Value>]) -> Option<Value> {
    let bools = || {
        args.iter().map(|arg| match arg {
            Some(Value::Bool(value)) => Some(*value),
            _ => None,
        })
    };
    match code {
        16 if bools().any(|b| b == Some(false)) => return Some(Value::Bool(false)),
        17 if bools().any(|b| b == Some(true)) => return Some(Value::Bool(true)),
        _ => {}
    }
    let known: Vec<Value> = args.iter().cloned().collect::<Option<_>>()?;
    let ints = || {
        known.iter().map(|v| match v {
            Value::Int(i) => i128::from(*i),
            _ => unreachable!(),
        })
    };
    let is_int = matches!(known.first(), Some(Value::Int(_)));
    Some(match code {
        0 => return None,
        1..=6 => Value::Bool(compare(code, &known[0], &known[1])?),
        9 => {
            let Value::List { items, .. } = &known[1] else { return None };
            Value::Bool(items.iter().any(|item| item.order(&known[0]).is_eq()))
        }
        16 => Value::Bool(true),
        17 => Value::Bool(false),
        18 => Value::Bool(known[0] == Value::Bool(false)),
        19 => Value::Bool(known.iter().filter(|v| **v == Value::Bool(true)).count() == 1),
        20 | 21 | 22 | 23 | 50 | 51 if is_int => {
            let mut all = ints();
            let first = all.next()?;
            if known.len() == 1 {
                return match code {
                    21 => Some(wrap(-first)),
                    23 => Some(wrap(1i128.checked_div(first)?)),
                    _ => Some(wrap(first)),
                };
            }
            let mut sum = first;
            for next in all {
                sum = match code {
                    20 => sum + next,
                    21 => sum - next,
                    22 => sum * next,
                    23 => sum.checked_div(next)?,
                    50 => sum.min(next),
                    _ => sum.max(next),
                };
                sum = i128::from(sum as i64);
            }
            wrap(sum)
        }
        20 | 21 | 22 | 23 | 50 | 51 => float_fold(code, &known),
        26 => wrap({
            let all: Vec<i128> = ints().collect();
            all[0].checked_rem(all[1])?
        }),
        27 if is_int => wrap(ints().next()?.abs()),
        27 => Value::Double(float(&known[0]).abs()),
        28 => Value::Double(float(&known[0]).floor()),
        29 => Value::Double(float(&known[0]).ceil()),
        30 => {
            let x = float(&known[0]).trunc();
            let fits = x >= -(2f64.powi(63)) && x < 2f64.powi(63);
            if fits { wrap(x as i128) } else { Value::Int(i64::MIN) }
        }
        31 => Value::Double(ints().next()? as f64),
        32..=34 => {
            let bit = |place: u32| {
                let ones = ints().filter(|i| i >> place & 1 == 1).count();
                match code {
                    32 => ones == known.len(),
                    33 => ones > 0,
                    _ => ones % 2 == 1,
                }
            };
            Value::Int(
                (0..64).fold(0u64, |bits, place| bits | u64::from(bit(place)) << place) as i64
            )
        }
        35 => wrap(-ints().next()? - 1),
        36..=38 => {
            let all: Vec<i128> = ints().collect();
            let by = all[1].rem_euclid(64) as u32;
            match code {
                36 => wrap(all[0] * (1i128 << by)),
                37 => wrap(i128::from(all[0] as u64) / (1i128 << by)),
                _ => wrap(all[0].div_euclid(1i128 << by)),
            }
        }
        39 => wrap((0..64).filter(|place| ints().all(|i| i >> place & 1 == 1)).count() as i128),
        40 | 41 => {
            let Value::Bool(wanted) = known[1] else { return None };
            let bits = match &known[0] {
                Value::Int(i) => *i as u64,
                _ => return None,
            };
            let mut places = 0..64i64;
            let hit = |place: &i64| (bits >> (63 - place) & 1 == 1) == wanted;
            let found = if code == 40 { places.find(hit) } else { places.rfind(hit) };
            Value::Int(found.unwrap_or(-1))
        }
        101 | 102 => {
            let Value::Map { pairs, .. } = &known[0] else { return None };
            let half =
                |(key, value): &(Value, Value)| if code == 101 { key } else { value }.clone();
            Value::list(pairs.iter().map(half))
        }
        _ => unreachable!("code {code}"),
    })
}

fn float(value: &Value) -> f64 {
    match value {
        Value::Double(x) => *x,
        _ => unreachable!(),
    }
}

fn float_fold(code: u8, known: &[Value]) -> Value {
    let mut all = known.iter().map(float);
    let first = all.next().unwrap();
    if known.len() == 1 {
        return Value::Double(match code {
            21 => -first,
            23 => 1.0 / first,
            _ => first,
        });
    }
    Value::Double(all.fold(first, |sum, next| match code {
        20 => sum + next,
        21 => sum - next,
        22 => sum * next,
        23 => sum / next,
        50 => {
            if next < sum {
                next
            } else {
                sum
            }
        }
        _ => {
            if next > sum {
                next
            } else {
                sum
            }
        }
    }))
}

fn compare(code: u8, left: &Value, right: &Value) -> Option<bool> {
    let order = match (left, right) {
        (Value::Double(x), Value::Double(y)) => match x.partial_cmp(y) {
            Some(order) => order,
            None => return Some(code == 2),
        },
        (Value::Map { ordered: x, .. }, Value::Map { ordered: y, .. }) if !(*x && *y) => {
            return None;
        }
        _ => left.order(right),
    };
    Some(match code {
        1 => order == Ordering::Equal,
        2 => order != Ordering::Equal,
        3 => order == Ordering::Greater,
        4 => order != Ordering::Less,
        5 => order == Ordering::Less,
        _ => order != Ordering::Greater,
    })
}
