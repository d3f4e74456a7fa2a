//! The naive twin of the list operations: trees instead of packed bytes, every element looked at.

use std::cmp::Ordering;

use cairn_value::{ResultCode, Value};

/// A list as a tree.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Twin {
    pub items: Vec<Value>,
    pub ordered: bool,
}

/// Which elements an operation means.
#[derive(Clone, Debug)]
pub(super) enum Selector {
    Index(i64, Option<i64>),
    Rank(i64, Option<i64>),
    Interval(Value, Option<Value>),
    Value(Value),
    Values(Vec<Value>),
    RelativeRank(Value, i64, Option<i64>),
}

impl Selector {
    /// Code of the reading operation.
    pub fn read_code(&self) -> i64 {
        match self {
            Selector::Value(_) => 22,
            Selector::Values(_) => 23,
            Selector::Index(..) => 24,
            Selector::Interval(..) => 25,
            Selector::Rank(..) => 26,
            Selector::RelativeRank(..) => 27,
        }
    }

    /// Code of the removing operation.
    pub fn remove_code(&self) -> i64 {
        self.read_code() + 13
    }

    pub fn arguments(&self) -> Vec<Value> {
        let optional = |count: &Option<i64>| count.map(Value::Int);
        match self {
            Selector::Index(at, count) | Selector::Rank(at, count) => {
                [Some(Value::Int(*at)), optional(count)].into_iter().flatten().collect()
            }
            Selector::Interval(begin, end) => {
                [Some(begin.clone()), end.clone()].into_iter().flatten().collect()
            }
            Selector::Value(value) => vec![value.clone()],
            Selector::Values(values) => vec![Value::list(values.clone())],
            Selector::RelativeRank(value, rank, count) => {
                let all = [Some(value.clone()), Some(Value::Int(*rank)), optional(count)];
                all.into_iter().flatten().collect()
            }
        }
    }
}

/// A selection: indexes, ascending; and whether equal elements leave it open which are meant.
pub(super) struct Selected {
    pub indexes: Vec<usize>,
    pub ambiguous: bool,
    /// The ranks, when the selection is a range of ranks.
    ranks: Option<(usize, usize)>,
}

fn range(start: i128, count: Option<i64>, len: usize) -> (usize, usize) {
    let count = count.filter(|&count| count >= 0).map_or(i128::from(i64::MAX), i128::from);
    let end = (start + count).clamp(0, len as i128);
    let start = start.clamp(0, len as i128);
    (start as usize, (end - start).max(0) as usize)
}

fn from_end(start: i64, len: usize) -> i128 {
    i128::from(start) + if start < 0 { len as i128 } else { 0 }
}

impl Twin {
    pub fn value(&self) -> Value {
        Value::List { items: self.items.clone(), ordered: self.ordered }
    }

    /// Indexes in the order of their values.
    fn sorted(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by(|&a, &b| self.items[a].order(&self.items[b]));
        order
    }

    fn below(&self, value: &Value) -> usize {
        self.items.iter().filter(|item| item.order(value) == Ordering::Less).count()
    }

    fn by_ranks(&self, start: usize, count: usize) -> Selected {
        let order = self.sorted();
        let mut indexes = order[start..start + count].to_vec();
        indexes.sort_unstable();
        let equal = |a: usize, b: usize| {
            self.items[order[a]].order(&self.items[order[b]]) == Ordering::Equal
        };
        let len = order.len();
        let ambiguous = count > 0
            && (start > 0 && equal(start - 1, start)
                || start + count < len && equal(start + count - 1, start + count));
        Selected { indexes, ambiguous, ranks: Some((start, count)) }
    }

    pub fn select(&self, selector: &Selector) -> Selected {
        let len = self.items.len();
        let matching = |matches: &dyn Fn(&Value) -> bool| {
            (0..len).filter(|&i| matches(&self.items[i])).collect::<Vec<_>>()
        };
        match selector {
            Selector::Index(at, count) => {
                let (start, count) = range(from_end(*at, len), *count, len);
                let indexes = (start..start + count).collect();
                Selected { indexes, ambiguous: false, ranks: None }
            }
            Selector::Rank(at, count) => {
                let (start, count) = range(from_end(*at, len), *count, len);
                self.by_ranks(start, count)
            }
            Selector::RelativeRank(value, rank, count) => {
                let start = self.below(value) as i128 + i128::from(*rank);
                let (start, count) = range(start, *count, len);
                self.by_ranks(start, count)
            }
            Selector::Interval(begin, end) => {
                let indexes = matching(&|item| {
                    item.order(begin) != Ordering::Less
                        && end.as_ref().is_none_or(|end| item.order(end) == Ordering::Less)
                });
                let ranks = Some((self.below(begin), indexes.len()));
                Selected { indexes, ambiguous: false, ranks }
            }
            Selector::Value(value) => {
                let indexes = matching(&|item| item.order(value) == Ordering::Equal);
                let ranks = Some((self.below(value), indexes.len()));
                Selected { indexes, ambiguous: false, ranks }
            }
            Selector::Values(values) => {
                let any = |item: &Value| values.iter().any(|v| v.order(item) == Ordering::Equal);
                Selected { indexes: matching(&any), ambiguous: false, ranks: None }
            }
        }
    }

    /// What a selection answers with return type `want` (0 to 7 or 13).
    pub fn answer(&self, selector: &Selector, inverted: bool, want: i64) -> Option<Value> {
        let selected = self.select(selector);
        let len = self.items.len();
        let picked: Vec<usize> = if inverted {
            (0..len).filter(|i| !selected.indexes.contains(i)).collect()
        } else {
            selected.indexes.clone()
        };
        let each_value = matches!(selector, Selector::Values(_));
        // An ordered list answers a list of values one by one.
        let repeated = if let Selector::Values(values) = selector
            && self.ordered
            && !inverted
        {
            Some(values.iter().map(|value| self.select(&Selector::Value(value.clone())).indexes))
        } else {
            None
        };
        let repeated: Option<Vec<Vec<usize>>> = repeated.map(|runs| runs.collect());
        let listed: Vec<usize> = match &repeated {
            Some(runs) => runs.concat(),
            None => picked.clone(),
        };
        let by_rank = matches!(selector, Selector::Rank(..) | Selector::RelativeRank(..));
        let scattered = !self.ordered && !matches!(selector, Selector::Index(..));
        Some(match want {
            0 => return None,
            1 => numbers(listed),
            2 if scattered || each_value && inverted => {
                numbers(listed.into_iter().map(|i| len - 1 - i))
            }
            2 => numbers(reverse_runs(&repeated.unwrap_or_else(|| runs(&picked)), len)),
            3 | 4 => self.rank_answer(selector, &selected, &picked, repeated, inverted, want == 4),
            5 => Value::Int(listed.len() as i64),
            13 if scattered && !each_value => Value::Bool(!selected.indexes.is_empty() ^ inverted),
            13 => Value::Bool(!picked.is_empty()),
            _ if by_rank && scattered && !inverted => {
                let (start, count) = selected.ranks.unwrap_or_default();
                let mut order = self.sorted()[start..start + count].to_vec();
                if start <= len - start - count {
                    order.reverse();
                }
                Value::list(order.into_iter().map(|i| self.items[i].clone()))
            }
            _ => Value::list(listed.into_iter().map(|i| self.items[i].clone())),
        })
    }

    fn rank_answer(
        &self,
        selector: &Selector,
        selected: &Selected,
        picked: &[usize],
        repeated: Option<Vec<Vec<usize>>>,
        inverted: bool,
        reverse: bool,
    ) -> Value {
        let len = self.items.len();
        if self.ordered {
            let each = matches!(selector, Selector::Values(_)) && inverted;
            let listed = repeated.unwrap_or_else(|| runs(picked));
            return match (reverse, each) {
                (false, _) => numbers(listed.concat()),
                (true, true) => numbers(listed.concat().into_iter().map(|i| len - 1 - i)),
                (true, false) => numbers(reverse_runs(&listed, len)),
            };
        }
        let one = |rank: usize| if reverse { len - 1 - rank } else { rank };
        match (selector, selected.ranks) {
            (Selector::Values(values), _) => {
                let mut ranks = Vec::new();
                let mut seen: Vec<&Value> = Vec::new();
                for value in values {
                    if seen.iter().any(|s| s.order(value) == Ordering::Equal) {
                        continue;
                    }
                    seen.push(value);
                    let first = self.below(value);
                    let count = self.select(&Selector::Value(value.clone())).indexes.len();
                    ranks.extend(first..first + count);
                }
                if !inverted {
                    return numbers(ranks.into_iter().map(one));
                }
                let left: Vec<usize> = (0..len).filter(|rank| !ranks.contains(rank)).collect();
                if reverse { numbers(reverse_runs(&runs(&left), len)) } else { numbers(left) }
            }
            (_, Some((start, count))) => {
                let inside = |rank: &usize| (start..start + count).contains(rank);
                let ranks: Vec<usize> = (0..len).filter(|rank| inside(rank) != inverted).collect();
                if reverse { numbers(reverse_runs(&runs(&ranks), len)) } else { numbers(ranks) }
            }
            _ => numbers(picked.iter().map(|&i| one(self.below(&self.items[i])))),
        }
    }

    pub fn remove(&mut self, indexes: &[usize]) {
        let mut at = 0;
        self.items.retain(|_| {
            at += 1;
            !indexes.contains(&(at - 1))
        });
    }

    pub fn sort(&mut self) {
        self.items.sort_by(Value::order);
    }

    fn holds(&self, value: &Value) -> bool {
        self.items.iter().any(|item| item.order(value) == Ordering::Equal)
    }

    /// Adds values under write flags; `at` is an index of an unordered list, or the end.
    pub fn add(
        &mut self,
        at: Option<i64>,
        values: &[Value],
        flags: i64,
    ) -> Result<Value, ResultCode> {
        let (unique, bounded, no_fail, partial) =
            (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0, flags & 8 != 0);
        let len = self.items.len();
        let size = |twin: &Twin| Ok(Value::Int(twin.items.len() as i64));
        if at.is_some() && self.ordered {
            return Err(ResultCode::OpNotApplicable);
        }
        if at.is_some() && values.is_empty() {
            return size(self);
        }
        let place = at.map_or(len as i128, |at| from_end(at, len));
        if place < 0 {
            return Err(ResultCode::OpNotApplicable);
        }
        let place = place as usize;
        if place > len && bounded {
            return if no_fail { size(self) } else { Err(ResultCode::OpNotApplicable) };
        }
        let mut added: Vec<Value> = Vec::new();
        for value in values {
            let double = self.holds(value) || added.iter().any(|a| a.order(value).is_eq());
            match (unique && double, no_fail, partial) {
                (false, _, _) => added.push(value.clone()),
                (true, false, _) => return Err(ResultCode::ElementExists),
                (true, true, true) => {}
                (true, true, false) => return size(self),
            }
        }
        if place > len {
            self.items.resize(place, Value::Nil);
        }
        self.items.splice(place..place, added);
        if self.ordered {
            self.sort();
        }
        size(self)
    }
}

fn numbers(numbers: impl IntoIterator<Item = usize>) -> Value {
    Value::list(numbers.into_iter().map(|number| Value::Int(number as i64)))
}

/// Runs of neighbouring numbers.
fn runs(numbers: &[usize]) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some(run) if run.last() == Some(&(number.wrapping_sub(1))) => run.push(number),
            _ => runs.push(vec![number]),
        }
    }
    runs
}

/// The runs counted from the end, each upwards.
fn reverse_runs(runs: &[Vec<usize>], len: usize) -> Vec<usize> {
    runs.iter().flat_map(|run| run.iter().rev().map(move |number| len - 1 - number)).collect()
}
