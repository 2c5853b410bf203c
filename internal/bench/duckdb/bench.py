"""The DuckDB side of internal/bench: casts between JSON text and VARIANT.

usage: bench.py DOCS VALUES COPIES

DOCS holds JSON texts, each ended by byte 0x1E; VALUES is not used. Each line of
standard input names a job; the answer is the CPU time of one query over COPIES
times all documents, in nanoseconds, or "error" with the reason. Queries run on
one thread over tables in memory, and count their results, so that none are
stored. The job "text PATH" writes the JSON of its values instead and answers 0.
"""
import sys
import time

import duckdb

GET = """
    select count(v.greeks.delta), count(v.scenarios[1].breakdown.by_region."EMEA"),
        count(v.model_params.calibration.fit_error), count(v.dv01), count(v.model)
    from variants"""
QUERIES = {
    "parse": "select count(x::json::variant) from texts",
    "parse-checked": "select count(j::variant) from checked",
    "print": "select count(v::json) from variants",
    "scan": "select count(variant_typeof(v)) from variants",
    "get": GET,
}


def load(docs, copies):
    with open(docs, encoding="utf-8", newline="") as f:
        rows = f.read().split("\x1e")[:-1]
    con = duckdb.connect()
    con.execute("set threads = 1")
    con.execute("create table texts (x varchar)")
    for _ in range(copies):
        for start in range(0, len(rows), 1000):
            con.execute("insert into texts select unnest(?::varchar[])", [rows[start : start + 1000]])
    con.execute("create table checked as select x::json as j from texts")
    con.execute("create table variants as select x::json::variant as v from texts")
    return con


def cpu_time(con, query):
    start = time.process_time_ns()
    con.execute(query).fetchall()
    return time.process_time_ns() - start


def write_texts(con, path):
    with open(path, "w", encoding="utf-8", newline="") as f:
        for (text,) in con.execute("select v::json::varchar from variants").fetchall():
            f.write(text + "\x1e")
    return 0


def run(con, job, argument):
    if job == "text":
        return write_texts(con, argument)
    return cpu_time(con, QUERIES[job])


def main():
    docs, _, copies = sys.argv[1:]
    con = load(docs, int(copies))
    print("ready", flush=True)
    for line in sys.stdin:
        job, _, argument = line.strip().partition(" ")
        try:
            print(run(con, job, argument), flush=True)
        except (duckdb.Error, KeyError) as e:
            print("error", " ".join(str(e).split()), flush=True)


main()
