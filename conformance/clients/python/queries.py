"""Secondary indexes and queries."""

import time

import aerospike
from aerospike import exception as ex
from aerospike import predicates as p
from aerospike_helpers import cdt_ctx as cdt
from aerospike_helpers.expressions import base as exp
from aerospike_helpers.expressions.arithmetic import Add
from aerospike_helpers.operations import list_operations as lo
from aerospike_helpers.operations import operations as op

NAMESPACE, SET = "test", "pythonq"
RECORDS = 100


def key(number):
    return (NAMESPACE, SET, number)


def fill(client):
    for n in range(RECORDS):
        client.put(key(n), {
            "n": n,
            "s": f"group-{n % 7}",
            "b": bytes([n % 5]),
            "l": [n, n + 1000, "x"],
            "m": {f"k{n % 3}": n, "all": n % 10},
            "nested": {"in": [n, n * 2]},
            "g": aerospike.GeoJSON({"type": "Point", "coordinates": [n / 10, n / 10]}),
            "r": aerospike.GeoJSON({"type": "AeroCircle", "coordinates": [[n, 0], 30_000]}),
        })


def wait_for_index(client, name):
    node = client.get_node_names()[0]["node_name"]
    command = f"sindex-stat:namespace={NAMESPACE};indexname={name}"
    for _ in range(1000):
        if "load_pct=100" in client.info_single_node(command, node):
            return
        time.sleep(0.01)
    raise TimeoutError(f"index {name} is not built")


def create(client, name, method, *arguments):
    getattr(client, method)(NAMESPACE, SET, *arguments, name, {})
    wait_for_index(client, name)


def numbers(query):
    return sorted(bins["n"] for _, _, bins in query.results())


def where(client, *predicate):
    query = client.query(NAMESPACE, SET)
    query.where(*predicate)
    return query


def register(checks):
    check, raises = checks.check, checks.raises

    @checks.section
    def queries_by_value(client):
        fill(client)
        create(client, "q_n", "index_integer_create", "n")
        create(client, "q_s", "index_string_create", "s")
        create(client, "q_b", "index_blob_create", "b")
        check("equals", numbers(where(client, p.equals("n", 42))) == [42])
        check("between", numbers(where(client, p.between("n", 10, 19))) == list(range(10, 20)))
        check("nothing there", numbers(where(client, p.equals("n", 1000))) == [])
        group = [n for n in range(RECORDS) if n % 7 == 3]
        check("text", numbers(where(client, p.equals("s", "group-3"))) == group)
        fives = [n for n in range(RECORDS) if n % 5 == 2]
        check("bytes", numbers(where(client, p.equals("b", b"\x02"))) == fives)
        by_name = client.query(NAMESPACE, SET)
        by_name.where_with_index_name("q_n", p.between("n", 1, 3))
        check("by the index's name", numbers(by_name) == [1, 2, 3])
        raises("no index", ex.IndexNotFound, numbers, where(client, p.equals("nowhere", 1)))

        client.put(key(42), {"n": 4242})
        client.remove(key(43))
        check("a moved record is found", numbers(where(client, p.equals("n", 4242))) == [4242])
        check("and only there", numbers(where(client, p.between("n", 42, 43))) == [])
        fill(client)

    @checks.section
    def queries_of_collections(client):
        create(client, "q_l", "index_list_create", "l", aerospike.INDEX_NUMERIC)
        create(client, "q_mk", "index_map_keys_create", "m", aerospike.INDEX_STRING)
        create(client, "q_mv", "index_map_values_create", "m", aerospike.INDEX_NUMERIC)
        context = [cdt.cdt_ctx_map_key("in"), cdt.cdt_ctx_list_index(1)]
        client.index_cdt_create(
            NAMESPACE, SET, "nested", aerospike.INDEX_TYPE_DEFAULT, aerospike.INDEX_NUMERIC,
            "q_ctx", context, {},
        )
        wait_for_index(client, "q_ctx")
        listed = where(client, p.contains("l", aerospike.INDEX_TYPE_LIST, 1050))
        check("list element", numbers(listed) == [50])
        listed = where(client, p.range("l", aerospike.INDEX_TYPE_LIST, 1000, 1009))
        check("range of list elements", numbers(listed) == list(range(10)))
        keys = where(client, p.contains("m", aerospike.INDEX_TYPE_MAPKEYS, "k1"))
        check("map key", numbers(keys) == list(range(1, RECORDS, 3)))
        values = where(client, p.range("m", aerospike.INDEX_TYPE_MAPVALUES, 0, RECORDS))
        check("a record with several matches comes once", numbers(values) == list(range(RECORDS)))
        nested = where(client, p.between("nested", 20, 25), context)
        check("context", numbers(nested) == [10, 11, 12])

    @checks.section
    def queries_of_expressions_and_places(client):
        expression = Add(exp.IntBin("n"), 1).compile()
        client.index_expr_create(
            NAMESPACE, SET, aerospike.INDEX_TYPE_DEFAULT, aerospike.INDEX_NUMERIC, expression,
            "q_exp", {},
        )
        wait_for_index(client, "q_exp")
        query = client.query(NAMESPACE, SET)
        query.where_with_expr(expression, p.between(None, 5, 6))
        check("expression", numbers(query) == [4, 5])
        create(client, "q_g", "index_geo2dsphere_create", "g")
        create(client, "q_r", "index_geo2dsphere_create", "r")
        inside = where(client, p.geo_within_radius("g", 1.0, 1.0, 20_000))
        check("points around a place", numbers(inside) == [9, 10, 11])
        square = '{"type":"Polygon","coordinates":[[[0,0],[0.55,0],[0.55,0.55],[0,0.55],[0,0]]]}'
        inside = where(client, p.geo_within_geojson_region("g", square))
        check("points in a polygon", numbers(inside)[-1] == 5 and len(numbers(inside)) >= 5)
        around = where(client, p.geo_contains_point("r", 7.1, 0.1))
        check("regions around a point", numbers(around) == [7])

    @checks.section
    def queries_in_pages_with_operations_and_in_the_background(client):
        query = where(client, p.between("n", 0, 59))
        query.max_records = 7
        query.paginate()
        found, pages = [], 0
        while not query.is_done():
            found += numbers(query)
            pages += 1
        check("pages give every record once", sorted(found) == list(range(60)), (pages, found))
        check("several pages", pages > 5, pages)
        filtered = where(client, p.between("n", 0, 59))
        policy = {"expressions": exp.GE(exp.IntBin("n"), 50).compile()}
        kept = sorted(bins["n"] for _, _, bins in filtered.results(policy))
        check("filter expression", kept == list(range(50, 60)))
        projected = where(client, p.equals("n", 5))
        projected.add_ops([op.read("n"), lo.list_size("l")])
        check("operations", [bins for _, _, bins in projected.results()] == [{"n": 5, "l": 3}])

        background = where(client, p.between("n", 0, 9))
        background.add_ops([op.increment("n", 5), op.write("done", 1)])
        task = background.execute_background()
        for _ in range(1000):
            if client.job_info(task, aerospike.JOB_QUERY)["status"] != aerospike.JOB_STATUS_INPROGRESS:
                break
            time.sleep(0.01)
        changed = sorted(
            bins["n"] for _, _, bins in client.scan(NAMESPACE, SET).results() if "done" in bins
        )
        check("each changed once", changed == list(range(5, 15)), changed)
        slow = where(client, p.between("n", 50, 59))
        slow.records_per_second = 20
        started = time.time()
        check("paced", numbers(slow) == list(range(50, 60)))
        check("pace", time.time() - started > 0.3)

    @checks.section
    def set_indexes_and_index_management(client):
        client.index_set_create(NAMESPACE, SET, "q_set", {})
        wait_for_index(client, "q_set")
        check("scan of an indexed set", len(client.scan(NAMESPACE, SET).results()) == RECORDS)
        client.index_integer_create(NAMESPACE, SET, "n", "q_n", {})
        raises(
            "a name in use", ex.IndexFoundError,
            client.index_integer_create, NAMESPACE, SET, "other", "q_n", {},
        )
        for name in "q_n q_s q_b q_l q_mk q_mv q_ctx q_exp q_g q_r q_set".split():
            client.index_remove(NAMESPACE, name, {})
        raises("gone", ex.IndexNotFound, numbers, where(client, p.equals("n", 1)))
