"""Writes the JSON texts of a file, one a line, as a Parquet file with the Variant
column doc, shredded as DuckDB decides, in row groups of 2,048 rows.

usage: duckdb_variant.py LINES OUT
"""
import sys

import duckdb

lines, out = sys.argv[1:]
con = duckdb.connect()
con.execute(f"""
    copy (select json::variant as doc from read_ndjson_objects('{lines}', maximum_object_size=100000000))
    to '{out}' (format parquet, row_group_size 2048)""")
