"""Commands and queries through the official Python client: suite.py HOST:PORT"""

import math
import sys
import time

import aerospike
from aerospike import exception as ex
from aerospike_helpers import cdt_ctx as cdt
from aerospike_helpers.batch import records as br
from aerospike_helpers.expressions import base as exp
from aerospike_helpers.operations import list_operations as lo
from aerospike_helpers.operations import map_operations as mo
from aerospike_helpers.operations import operations as op

import queries
from checks import Checks

NAMESPACE, SET = "test", "python"
checks = Checks()
check, raises, section = checks.check, checks.raises, checks.section


def key(name):
    return (NAMESPACE, SET, name)


@section
def values_come_back(client):
    """Every scalar type and nested collections, as a bin of their own."""
    values = [
        0, 1, -1, 127, 128, 255, 256, 65535, 65536, 2**31, 2**32, 2**63 - 1, -(2**63),
        0.0, -1.5, 1e300, math.inf, -math.inf,
        "", "text", "é漢字🙂", "x" * 300, "x" * 70_000,
        b"", b"\x00\xff", b"x" * 300, True, False,
        [], [1, "a", b"b", 1.5, None, True], [[], [[]], {}], list(range(40)), [-1, -33, 300, 70000],
        {}, {"a": 1}, {1: "x", "k": [1, 2], b"b": {"n": None}}, {i: str(i) for i in range(100)},
        {"deep": {"deeper": [{"deepest": [1.5, b"\x01"]}]}},
    ]
    for place, value in enumerate(values):
        name = f"value-{place}"
        client.put(key(name), {"v": value})
        _, meta, bins = client.get(key(name))
        check(f"value {value!r:.40}", bins == {"v": value} and type(bins["v"]) is type(value), bins)
        check(f"generation of value {place}", meta["gen"] == 1, meta)
    client.put(key("nan"), {"v": math.nan})
    check("NaN", math.isnan(client.get(key("nan"))[2]["v"]))


@section
def geojson_comes_back(client):
    point = aerospike.GeoJSON({"type": "Point", "coordinates": [-122.0, 37.5]})
    client.put(key("geo"), {"g": point})
    found = client.get(key("geo"))[2]["g"]
    check("GeoJSON point", found.unwrap() == point.unwrap(), found)
    bad = aerospike.GeoJSON({"type": "Nonsense"})
    raises("bad GeoJSON is refused", ex.InvalidGeoJSON, client.put, key("geo"), {"g": bad})


@section
def keys_of_every_type(client):
    names = ["k", "", "é", "x" * 1000, 0, 1, -1, 2**63 - 1, -(2**63)]
    names += [bytearray(b"\x00"), bytearray(b"k"), bytearray(range(256))]
    for place, name in enumerate(names):
        client.put(key(name), {"place": place})
    for place, name in enumerate(names):
        check(f"key {name!r:.40}", client.get(key(name))[2] == {"place": place})
    other = ("bar", SET, "k")
    client.put(other, {"place": "bar"})
    check("another namespace", client.get(other)[2] == {"place": "bar"})
    check("the same key elsewhere", client.get(key("k"))[2] == {"place": 0})
    client.put((NAMESPACE, None, "k"), {"place": "no set"})
    check("no set", client.get((NAMESPACE, None, "k"))[2] == {"place": "no set"})
    digest = aerospike.calc_digest(NAMESPACE, SET, "k")
    check("by digest", client.get((NAMESPACE, SET, None, digest))[2] == {"place": 0})


@section
def a_stored_key_is_verified(client):
    send = {"key": aerospike.POLICY_KEY_SEND}
    for name in ["sent", 7, bytearray(b"sent")]:
        client.put(key(name), {"a": 1}, policy=send)
        (_, _, found, _), _, bins = client.get(key(name), send)
        check(f"key {name!r} sent and found", found == name and bins == {"a": 1}, found)


@section
def existence_and_removal(client):
    missing, there = key("missing"), key("there")
    check("absent", client.exists(missing)[1] is None)
    raises("get of an absent record", ex.RecordNotFound, client.get, missing)
    raises("select of an absent record", ex.RecordNotFound, client.select, missing, ["a"])
    raises("touch of an absent record", ex.RecordNotFound, client.touch, missing)
    raises("remove of an absent record", ex.RecordNotFound, client.remove, missing)
    client.put(there, {"a": 1, "b": 2})
    check("present", client.exists(there)[1]["gen"] == 1)
    check("some bins", client.select(there, ["b", "zz"])[2] == {"b": 2})
    client.remove(there)
    check("removed", client.exists(there)[1] is None)
    client.put(there, {"a": 1})
    check("a new life starts at generation 1", client.get(there)[1]["gen"] == 1)


@section
def bins_merge_and_go(client):
    record = key("merge")
    client.put(record, {"a": 1, "b": 2})
    client.put(record, {"b": 3, "c": 4})
    check("merged", client.get(record)[2] == {"a": 1, "b": 3, "c": 4})
    client.remove_bin(record, ["a"])
    check("bin removed", client.get(record)[2] == {"b": 3, "c": 4})
    client.put(record, {"b": aerospike.null()})
    check("bin set to nil", client.get(record)[2] == {"c": 4})
    client.put(record, {"c": aerospike.null()})
    check("the last bin takes the record along", client.exists(record)[1] is None)
    many = {f"bin{i}": i for i in range(300)}
    client.put(record, many)
    check("300 bins", client.get(record)[2] == many)
    client.put(record, {"fifteen.bytes.n": 1})
    raises("16 bytes of bin name", ex.BinNameError, client.put, record, {"sixteen.bytes.nm": 1})


@section
def scalar_operations(client):
    record = key("scalar")
    client.put(record, {"i": 5, "s": "mid", "b": bytearray(b"mid"), "f": 1.5})
    client.increment(record, "i", 3)
    client.increment(record, "i", -10)
    client.increment(record, "f", 0.25)
    client.append(record, "s", "-end")
    client.prepend(record, "s", "start-")
    client.append(record, "b", bytearray(b"\x01"))
    client.increment(record, "new", 7)
    client.append(record, "text", "born")
    bins = client.get(record)[2]
    expected = {"i": -2, "s": "start-mid-end", "b": b"mid\x01", "f": 1.75, "new": 7, "text": "born"}
    check("scalar operations", bins == expected, bins)
    raises("append to a number", ex.BinIncompatibleType, client.append, record, "i", "x")
    raises("increment of a text", ex.BinIncompatibleType, client.increment, record, "s", 1)
    client.put(record, {"i": 2**63 - 1})
    client.increment(record, "i", 1)
    check("integers wrap", client.get(record)[2]["i"] == -(2**63))


@section
def operations_in_one_command(client):
    record = key("operate")
    changes = [op.write("a", 1), op.increment("a", 4), op.append("s", "x"), op.prepend("s", "y")]
    _, meta, bins = client.operate(record, [*changes, op.read("a"), op.read("s")])
    check("read after write", bins == {"a": 5, "s": "yx"} and meta["gen"] == 1, (meta, bins))
    ordered = client.operate_ordered(record, [op.read("a"), op.write("a", 9), op.read("a")])[2]
    answers = [pair for pair in ordered if pair[1] is not None]
    check("ordered answers", answers == [("a", 5), ("a", 9)], ordered)
    failing = [op.write("n", 1), op.append("a", "x")]
    raises("one failure", ex.BinIncompatibleType, client.operate, record, failing)
    check("fails them all", client.get(record)[2] == {"a": 9, "s": "yx"})
    client.operate(record, [op.touch(), op.read("a")])
    check("touch in a command", client.get(record)[1]["gen"] == 3)
    bins = client.operate(record, [op.read("a"), op.delete()])[2]
    check("read and delete", bins == {"a": 9} and client.exists(record)[1] is None, bins)


@section
def generation_policies(client):
    record = key("generation")
    client.put(record, {"a": 1})
    client.put(record, {"a": 2})
    equal, greater = {"gen": aerospike.POLICY_GEN_EQ}, {"gen": aerospike.POLICY_GEN_GT}
    wrong = ex.RecordGenerationError
    raises("older generation", wrong, client.put, record, {"a": 3}, {"gen": 1}, equal)
    client.put(record, {"a": 3}, {"gen": 2}, equal)
    check("equal generation", client.get(record)[1]["gen"] == 3)
    raises("not greater", wrong, client.put, record, {"a": 4}, {"gen": 3}, greater)
    client.put(record, {"a": 4}, {"gen": 10}, greater)
    check("greater generation", client.get(record)[1]["gen"] == 4)
    raises("removal of another generation", wrong, client.remove, record, {"gen": 2}, equal)
    check("still there", client.get(record)[2] == {"a": 4})


@section
def existence_policies(client):
    record = key("exists")

    def put(bins, policy):
        client.put(record, bins, policy={"exists": policy})

    create, update = aerospike.POLICY_EXISTS_CREATE, aerospike.POLICY_EXISTS_UPDATE
    raises("update only, absent", ex.RecordNotFound, put, {"a": 1}, update)
    replace = aerospike.POLICY_EXISTS_REPLACE
    raises("replace only, absent", ex.RecordNotFound, put, {"a": 1}, replace)
    put({"a": 1, "b": 1}, create)
    raises("create only, present", ex.RecordExistsError, put, {"a": 2}, create)
    put({"a": 2}, update)
    check("update keeps the others", client.get(record)[2] == {"a": 2, "b": 1})
    put({"a": 3}, replace)
    check("replace only drops them", client.get(record)[2] == {"a": 3})
    put({"c": 4}, aerospike.POLICY_EXISTS_CREATE_OR_REPLACE)
    check("create or replace drops them", client.get(record)[2] == {"c": 4})
    check("generations count on", client.get(record)[1]["gen"] == 4)


@section
def times_to_live(client):
    record = key("ttl")
    never = 0xFFFFFFFF

    def ttl():
        return client.get(record)[1]["ttl"]

    client.put(record, {"a": 1})
    check("namespace default is never", ttl() == never, ttl())
    client.put(record, {"a": 1}, {"ttl": 100})
    check("seconds", 97 <= ttl() <= 100, ttl())
    client.put(record, {"a": 2}, {"ttl": aerospike.TTL_DONT_UPDATE})
    check("kept by a write", 90 <= ttl() <= 100, ttl())
    client.touch(record, 500)
    check("touch renews", 490 <= ttl() <= 500, ttl())
    check("touch counts as a write", client.get(record)[1]["gen"] == 4)
    client.put(record, {"a": 3}, {"ttl": aerospike.TTL_NEVER_EXPIRE})
    check("never", ttl() == never, ttl())
    client.put(record, {"a": 4}, {"ttl": 1})
    time.sleep(2.1)
    raises("expired", ex.RecordNotFound, client.get, record)
    check("expired for exists as well", client.exists(record)[1] is None)
    client.put(record, {"b": 1})
    check("an expired record leaves nothing behind", client.get(record)[2] == {"b": 1})


@section
def batches_answer_per_key(client):
    keys = [key(f"batch-{i}") for i in range(50)]
    records = [br.Write(record, [op.write("i", i)]) for i, record in enumerate(keys)]
    client.batch_write(br.BatchRecords(records))
    check("written", all(record.result == 0 for record in records))
    rows = client.batch_read([*keys, key("batch-missing")]).batch_records
    check("read", [row.record[2] for row in rows[:50]] == [{"i": i} for i in range(50)])
    check("a missing row", rows[50].result == 2, rows[50].result)
    rows = client.batch_operate(keys, [op.increment("i", 100), op.read("i")]).batch_records
    check("operated", [row.record[2]["i"] for row in rows] == [100 + i for i in range(50)])
    refused = br.Write(keys[2], [op.append("i", "x")])
    mixed = [br.Read(keys[0], [op.read("i")]), br.Remove(keys[1]), refused]
    client.batch_write(br.BatchRecords(mixed))
    check("mixed", [row.result for row in mixed] == [0, 0, 12], [row.result for row in mixed])
    client.batch_remove(keys[2:])
    left = [row.result for row in client.batch_read(keys).batch_records]
    check("removed", left == [0] + [2] * 49, left)


@section
def lists_from_inside(client):
    record = key("lists")
    client.operate(record, [lo.list_append_items("l", [5, 3, 9, 3])])
    page = lo.list_get_by_index_range("l", 1, aerospike.LIST_RETURN_VALUE, 2)
    check("page", client.operate(record, [page])[2]["l"] == [3, 9])
    check("size", client.operate(record, [lo.list_size("l")])[2]["l"] == 4)
    remove = lo.list_remove_by_value("l", 3, aerospike.LIST_RETURN_NONE)
    client.operate(record, [lo.list_sort("l"), remove])
    check("sorted, removed", client.get(record)[2]["l"] == [5, 9])
    unique = {"list_order": aerospike.LIST_ORDERED, "write_flags": aerospike.LIST_WRITE_ADD_UNIQUE}
    for value in [7, 1, 4]:
        client.operate(record, [lo.list_append("o", value, unique)])
    check("ordered", client.get(record)[2]["o"] == [1, 4, 7])
    twice = [lo.list_append("o", 4, unique)]
    raises("no value twice", ex.ElementExistsError, client.operate, record, twice)
    inner = [cdt.cdt_ctx_list_index(-1)]
    client.operate(record, [lo.list_append("l", []), lo.list_append("l", "deep", ctx=inner)])
    check("nested", client.get(record)[2]["l"] == [5, 9, ["deep"]])


@section
def maps_from_inside(client):
    record = key("maps")
    ordered = {"map_order": aerospike.MAP_KEY_ORDERED}
    client.operate(record, [mo.map_put_items("m", {"b": 2, "a": 1, "c": 3}, ordered)])
    by_key = mo.map_get_by_key("m", "b", aerospike.MAP_RETURN_VALUE)
    check("by key", client.operate(record, [by_key])[2]["m"] == 2)
    by_list = mo.map_get_by_key_list("m", ["a", "c", "zz"], aerospike.MAP_RETURN_VALUE)
    check("by keys", client.operate(record, [by_list])[2]["m"] == [1, 3])
    top = mo.map_get_by_rank_range("m", -2, 2, aerospike.MAP_RETURN_KEY)
    check("by rank", client.operate(record, [top])[2]["m"] == ["b", "c"])
    client.operate(record, [mo.map_increment("m", "a", 10), mo.map_remove_by_key("m", "b", 0)])
    check("changed", client.get(record)[2]["m"] == {"a": 11, "c": 3})


@section
def filters(client):
    record = key("filter")
    client.put(record, {"age": 30})
    adult = exp.GE(exp.IntBin("age"), 18).compile()
    child = exp.LT(exp.IntBin("age"), 18).compile()
    check("true", client.get(record, {"expressions": adult})[2] == {"age": 30})
    raises("false", ex.FilteredOut, client.get, record, {"expressions": child})
    raises("on a write", ex.FilteredOut, client.put, record, {"age": 1}, {}, {"expressions": child})
    check("nothing was written", client.get(record)[2] == {"age": 30})


@section
def refusals(client):
    raises("unknown namespace", ex.AerospikeError, client.put, ("nowhere", SET, "k"), {"a": 1})
    big = bytearray(2 * 1024 * 1024)
    raises("2 MiB in a record of 1 MiB", ex.RecordTooBig, client.put, key("big"), {"a": big})
    check("nothing was written", client.exists(key("big"))[1] is None)
    fits = bytearray(1000 * 1024)
    client.put(key("big"), {"a": fits})
    check("1000 KiB fit", client.get(key("big"))[2]["a"] == bytes(fits))


queries.register(checks)


def main():
    host, port = sys.argv[1].rsplit(":", 1)
    client = aerospike.client({"hosts": [(host, int(port))], "policies": {"total_timeout": 10_000}})
    client.connect()
    try:
        return checks.run(client)
    finally:
        client.close()


if __name__ == "__main__":
    sys.exit(main())
