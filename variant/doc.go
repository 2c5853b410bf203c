// Package variant reads and writes Variant values: JSON-like data in the binary
// form that Parquet, Iceberg and Spark share.
package variant
