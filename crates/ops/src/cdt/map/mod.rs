//! Map operations.
//!
//! Every map is stored sorted by key, whatever its order flag says, so a pair's index is its place
//! in the bytes, and a key is found by binary search. A pair's rank is its place when pairs are
//! sorted by value, equal values by key.

mod order;
mod pick;
mod put;
mod ranking;
mod select;
mod single;

#[cfg(test)]
mod tests;

use super::row::{Access, Kind, Row};

use Access::{Create, Read, Remove};
use Kind::{Int, List, Map, Value};

const RANGE: &[Kind] = &[Int, Int, Int];
const INTERVAL: &[Kind] = &[Int, Value, Value];
const RELATIVE: &[Kind] = &[Int, Value, Int, Int];

/// Every map operation.
pub const TABLE: &[Row] = &[
    Row::new(64, "set_type", &[Int], 1, Create, order::set_type),
    Row::new(65, "add", &[Value, Value, Int], 2, Create, put::add),
    Row::new(66, "add_items", &[Map, Int], 1, Create, put::add_items),
    Row::new(67, "put", &[Value, Value, Int, Int], 2, Create, put::put),
    Row::new(68, "put_items", &[Map, Int, Int], 1, Create, put::put_items),
    Row::new(69, "replace", &[Value, Value], 2, Create, put::replace),
    Row::new(70, "replace_items", &[Map], 1, Create, put::replace_items),
    Row::new(73, "increment", &[Value, Value, Int], 1, Create, put::increment),
    Row::new(74, "decrement", &[Value, Value, Int], 1, Create, put::decrement),
    Row::new(75, "clear", &[], 0, Remove, order::clear).lenient(),
    Row::new(76, "remove_by_key", &[Int, Value], 2, Remove, single::remove_by_key),
    Row::new(77, "remove_by_index", &[Int, Int], 2, Remove, single::remove_by_index),
    Row::new(78, "remove_by_value", &[Int, Value], 2, Remove, single::remove_by_value),
    Row::new(79, "remove_by_rank", &[Int, Int], 2, Remove, single::remove_by_rank),
    Row::new(81, "remove_by_key_list", &[Int, List], 2, Remove, select::remove_by_key_list),
    Row::new(82, "remove_all_by_value", &[Int, Value], 2, Remove, select::remove_by_value),
    Row::new(83, "remove_by_value_list", &[Int, List], 2, Remove, select::remove_by_value_list),
    Row::new(84, "remove_by_key_interval", INTERVAL, 2, Remove, select::remove_by_key_interval),
    Row::new(85, "remove_by_index_range", RANGE, 2, Remove, select::remove_by_index_range),
    Row::new(86, "remove_by_value_interval", INTERVAL, 2, Remove, select::remove_by_interval),
    Row::new(87, "remove_by_rank_range", RANGE, 2, Remove, select::remove_by_rank_range),
    Row::new(
        88,
        "remove_by_key_rel_index_range",
        RELATIVE,
        3,
        Remove,
        select::remove_by_relative_index,
    ),
    Row::new(
        89,
        "remove_by_value_rel_rank_range",
        RELATIVE,
        3,
        Remove,
        select::remove_by_relative_rank,
    ),
    Row::new(96, "size", &[], 0, Read, single::size).lenient(),
    Row::new(97, "get_by_key", &[Int, Value], 2, Read, single::by_key),
    Row::new(98, "get_by_index", &[Int, Int], 2, Read, single::by_index),
    Row::new(99, "get_by_value", &[Int, Value], 2, Read, single::by_value),
    Row::new(100, "get_by_rank", &[Int, Int], 2, Read, single::by_rank),
    Row::new(102, "get_all_by_value", &[Int, Value], 2, Read, select::by_value),
    Row::new(103, "get_by_key_interval", INTERVAL, 2, Read, select::by_key_interval),
    Row::new(104, "get_by_index_range", RANGE, 2, Read, select::by_index_range),
    Row::new(105, "get_by_value_interval", INTERVAL, 2, Read, select::by_interval),
    Row::new(106, "get_by_rank_range", RANGE, 2, Read, select::by_rank_range),
    Row::new(107, "get_by_key_list", &[Int, List], 2, Read, select::by_key_list),
    Row::new(108, "get_by_value_list", &[Int, List], 2, Read, select::by_value_list),
    Row::new(109, "get_by_key_rel_index_range", RELATIVE, 3, Read, select::by_relative_index),
    Row::new(110, "get_by_value_rel_rank_range", RELATIVE, 3, Read, select::by_relative_rank),
];
