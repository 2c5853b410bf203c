"""Installs DuckDB's iceberg extension, and prints each row of a table, given by its metadata file, as one JSON object.

usage: duckdb_iceberg.py [METADATA]
"""
import sys

import duckdb

con = duckdb.connect()
con.execute("install iceberg; load iceberg")
for metadata in sys.argv[1:]:
    for (text,) in con.execute("select to_json(t)::varchar from iceberg_scan(?) t", [metadata]).fetchall():
        print(text)
