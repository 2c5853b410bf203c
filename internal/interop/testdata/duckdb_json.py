"""Prints each row of Parquet files as one JSON object, Variants as DuckDB's JSON.

usage: duckdb_json.py COLUMN FILE...

DuckDB 1.5 prints a decimal below one without its leading zero (`.50`, and `.`
for zero), which is no JSON; that is put right here.
"""
import json
import re
import sys

import duckdb

STRING_OR_BARE_FRACTION = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![0-9])\.([0-9]*)')


def repair(text):
    return STRING_OR_BARE_FRACTION.sub(lambda m: m[0] if m[0][0] == '"' else "0." + (m[1] or "0"), text)


column, files = sys.argv[1], sys.argv[2:]
con = duckdb.connect()
for f in files:
    query = f'select "{column}"::JSON from read_parquet(?, hive_partitioning=false, file_row_number=true) order by file_row_number'
    for (text,) in con.execute(query, [f]).fetchall():
        print(json.dumps({column: None}) if text is None else '{"%s":%s}' % (column, repair(text)))
