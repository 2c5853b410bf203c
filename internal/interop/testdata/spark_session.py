"""Spark, which answers one JSON request a line.

usage: spark_session.py JAR,JAR

request  {"open": DIR, "catalog": NAME}    -> {"rows": []}
         {"open": DIR, "sql": STATEMENT}   -> {"rows": ["<JSON text of a row>", ...]} in the order of the query
         {"open": DIR, "ddl": STATEMENT}   -> {"rows": []}

open names a warehouse, whose catalog is DIR/catalog.db; each has a session of its own, in which it is the catalog NAME. An error is
{"error": "<first line>"}. Rows are made by Spark's own to_json, so that dates, decimals and Variants look as Spark shows them.
"""
import json
import os
import sys
from statistics import NormalDist

from pyspark.sql import SparkSession
from pyspark.sql.types import DoubleType

WORD = (1 << 64) - 1


def var_tail(seed, trade_id):
    """The standard normal move of the reported scenario of examples/trades/internal/risk: the 11th smallest of 1,000."""
    h = seed ^ 0xCBF29CE484222325
    for c in trade_id.encode():
        h = (h ^ c) * 0x100000001B3 & WORD
    for _ in range(2):
        h = (h ^ h >> 32) * 0xD1B54A32D192ED03 & WORD
    state, draws = h ^ h >> 29, []
    for _ in range(500):
        state = state + 0x9E3779B97F4A7C15 & WORD
        product = state * (state ^ 0xD1B54A32D192ED03)
        x = product >> 64 ^ product & WORD
        draws += [x >> 32, x & 0xFFFFFFFF]
    return NormalDist().inv_cdf((sorted(draws)[10] + 0.5) / (1 << 32))


def start(jars):
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
        .config("spark.sql.jsonGenerator.ignoreNullFields", "false")
        .getOrCreate()
    )


def open_warehouse(spark, folder, name):
    session = spark.newSession()
    prefix = f"spark.sql.catalog.{name}"
    session.conf.set(prefix, "org.apache.iceberg.spark.SparkCatalog")
    session.conf.set(f"{prefix}.type", "jdbc")
    session.conf.set(f"{prefix}.uri", f"jdbc:sqlite:file:{folder}/catalog.db?busy_timeout=10000")
    session.conf.set(f"{prefix}.jdbc.schema-version", "V1")
    session.conf.set(f"{prefix}.warehouse", folder)
    session.conf.set(f"{prefix}.cache-enabled", "false")
    session.sql(f"use {name}")
    session.udf.register("var_tail", var_tail, DoubleType())
    return session


def answer(spark, sessions, request):
    folder = request["open"]
    if "catalog" in request:
        sessions[folder] = open_warehouse(spark, folder, request["catalog"])
        return {"rows": []}
    if "ddl" in request:
        sessions[folder].sql(request["ddl"]).collect()
        return {"rows": []}
    return {"rows": list(sessions[folder].sql(request["sql"]).toJSON().collect())}


def main():
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever the JVM prints goes to stderr
    spark = start(sys.argv[1])
    spark.sparkContext.setLogLevel("ERROR")
    print(json.dumps({"rows": [spark.version]}), file=out)
    sessions = {}
    for line in sys.stdin:
        try:
            result = answer(spark, sessions, json.loads(line))
        except Exception as e:  # the test that asked reports it
            result = {"error": str(e).strip().splitlines()[0] if str(e).strip() else repr(e)}
        print(json.dumps(result), file=out)
    spark.stop()


main()
