"""A Spark session that answers one JSON request a line.

usage: spark_session.py CATALOG_DB WAREHOUSE CATALOG_NAME JAR,JAR

request  {"sql": "..."}      -> {"rows": ["<JSON text of a row>", ...]} in the order of the query
         {"ddl": "..."}      -> {"rows": []}
         {"call": "refresh", "table": "risk.t"}
An error is {"error": "<first line>"}. Rows are made by Spark's own to_json, so that dates, decimals and Variants look as Spark shows them.
"""
import json
import os
import sys

from pyspark.sql import SparkSession


def session(db, warehouse, name, jars):
    prefix = f"spark.sql.catalog.{name}"
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .config("spark.jars", jars)
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
        .config(prefix, "org.apache.iceberg.spark.SparkCatalog")
        .config(f"{prefix}.type", "jdbc")
        .config(f"{prefix}.uri", f"jdbc:sqlite:file:{db}?busy_timeout=10000")
        .config(f"{prefix}.jdbc.schema-version", "V1")
        .config(f"{prefix}.warehouse", warehouse)
        .config(f"{prefix}.cache-enabled", "false")
        .config("spark.sql.defaultCatalog", name)
        .config("spark.sql.jsonGenerator.ignoreNullFields", "false")
        .getOrCreate()
    )


def answer(spark, request):
    if "ddl" in request:
        spark.sql(request["ddl"]).collect()
        return {"rows": []}
    return {"rows": list(spark.sql(request["sql"]).toJSON().collect())}


def main():
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever the JVM prints goes to stderr
    spark = session(*sys.argv[1:5])
    spark.sparkContext.setLogLevel("ERROR")
    print(json.dumps({"ready": spark.version}), file=out)
    for line in sys.stdin:
        try:
            result = answer(spark, json.loads(line))
        except Exception as e:  # the test that asked reports it
            result = {"error": str(e).strip().splitlines()[0] if str(e).strip() else repr(e)}
        print(json.dumps(result), file=out)
    spark.stop()


main()
