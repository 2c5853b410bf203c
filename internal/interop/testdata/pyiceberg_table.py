"""Opens a warehouse, whose catalog is DIR/catalog.db, with pyiceberg's SqlCatalog.

usage: pyiceberg_table.py DIR CATALOG_NAME TABLE COMMAND [ARGUMENT]

read             prints the rows, each as one JSON object
schema           prints each column's id, name, type, initial and write default as one JSON array
create ROWS      makes a table of the rows of a JSON array, in the types that pyarrow finds
append ROWS      appends rows in the types of the table's schema
delete FILTER    deletes the rows that a filter in pyiceberg's syntax matches
rename OLD NEW   renames a column
"""
import datetime
import decimal
import json
import sys
import warnings

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

warnings.simplefilter("ignore")


def text(value):
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return float(value)
    raise TypeError(type(value))


def main():
    folder, name, table, command, *args = sys.argv[1:]
    catalog = SqlCatalog(name, uri=f"sqlite:///{folder}/catalog.db", warehouse=folder, init_catalog_tables="false")
    if command == "create":
        rows = pa.Table.from_pylist(json.loads(args[0]))
        catalog.create_table(table, schema=rows.schema).append(rows)
        return
    t = catalog.load_table(table)
    if command == "read":
        for row in t.scan().to_arrow().to_pylist():
            print(json.dumps(row, default=text))
    elif command == "schema":
        for f in t.schema().fields:
            print(json.dumps([f.field_id, f.name, str(f.field_type), f.initial_default, f.write_default], default=text))
    elif command == "append":
        t.append(pa.Table.from_pylist(json.loads(args[0]), schema=t.schema().as_arrow()))
    elif command == "delete":
        t.delete(args[0])
    elif command == "rename":
        with t.update_schema() as u:
            u.rename_column(*args)


main()
