//! List operations.

mod order;
mod picked;
mod select;
mod single;
mod write;

use super::row::{Access, Kind, Row};

use Access::{Create, Existing, Read, Remove};
use Kind::{Int, List, Value};

/// Every list operation.
pub const TABLE: &[Row] = &[
    Row::new(0, "set_type", &[Int], 1, Create, order::set_type),
    Row::new(1, "append", &[Value, Int, Int], 1, Create, write::append),
    Row::new(2, "append_items", &[List, Int, Int], 1, Create, write::append_items),
    Row::new(3, "insert", &[Int, Value, Int], 2, Create, write::insert),
    Row::new(4, "insert_items", &[Int, List, Int], 2, Create, write::insert_items),
    Row::new(5, "pop", &[Int], 1, Remove, single::pop),
    Row::new(6, "pop_range", &[Int, Int], 1, Remove, select::pop_range),
    Row::new(7, "remove", &[Int], 1, Remove, single::remove),
    Row::new(8, "remove_range", &[Int, Int], 1, Remove, select::remove_range),
    Row::new(9, "set", &[Int, Value, Int], 2, Create, write::set),
    Row::new(10, "trim", &[Int, Int], 2, Remove, select::trim),
    Row::new(11, "clear", &[], 0, Remove, order::clear).lenient(),
    Row::new(12, "increment", &[Int, Value, Int, Int], 1, Create, write::increment),
    Row::new(13, "sort", &[Int], 0, Existing, order::sort),
    Row::new(16, "size", &[], 0, Read, single::size).lenient(),
    Row::new(17, "get", &[Int], 1, Read, single::get),
    Row::new(18, "get_range", &[Int, Int], 1, Read, select::get_range),
    Row::new(19, "get_by_index", &[Int, Int], 2, Read, single::by_index),
    Row::new(20, "get_by_value", &[Int, Value], 2, Read, single::by_value),
    Row::new(21, "get_by_rank", &[Int, Int], 2, Read, single::by_rank),
    Row::new(22, "get_all_by_value", &[Int, Value], 2, Read, select::by_value),
    Row::new(23, "get_by_value_list", &[Int, List], 2, Read, select::by_value_list),
    Row::new(24, "get_by_index_range", &[Int, Int, Int], 2, Read, select::by_index_range),
    Row::new(25, "get_by_value_interval", &[Int, Value, Value], 2, Read, select::by_interval),
    Row::new(26, "get_by_rank_range", &[Int, Int, Int], 2, Read, select::by_rank_range),
    Row::new(
        27,
        "get_by_value_rel_rank_range",
        &[Int, Value, Int, Int],
        3,
        Read,
        select::by_relative_rank,
    ),
    Row::new(32, "remove_by_index", &[Int, Int], 2, Remove, single::remove_by_index),
    Row::new(33, "remove_by_value", &[Int, Value], 2, Remove, single::remove_by_value),
    Row::new(34, "remove_by_rank", &[Int, Int], 2, Remove, single::remove_by_rank),
    Row::new(35, "remove_all_by_value", &[Int, Value], 2, Remove, select::remove_by_value),
    Row::new(36, "remove_by_value_list", &[Int, List], 2, Remove, select::remove_by_value_list),
    Row::new(
        37,
        "remove_by_index_range",
        &[Int, Int, Int],
        2,
        Remove,
        select::remove_by_index_range,
    ),
    Row::new(
        38,
        "remove_by_value_interval",
        &[Int, Value, Value],
        2,
        Remove,
        select::remove_by_interval,
    ),
    Row::new(39, "remove_by_rank_range", &[Int, Int, Int], 2, Remove, select::remove_by_rank_range),
    Row::new(
        40,
        "remove_by_value_rel_rank_range",
        &[Int, Value, Int, Int],
        3,
        Remove,
        select::remove_by_relative_rank,
    ),
];
