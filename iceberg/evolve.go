package iceberg
