package trade

import "github.com/frazil/frazil/iceberg"

// The tables of the pipeline.
const (
	VectorsTable = "risk.trade_risk_vectors"
	SummaryTable = "risk.daily_risk_summary"
)

// mergeOnRead lets updates, deletes and merges write deletion vectors instead
// of new data files.
func mergeOnRead() map[string]string {
	return map[string]string{
		"write.delete.mode": "merge-on-read",
		"write.update.mode": "merge-on-read",
		"write.merge.mode":  "merge-on-read",
	}
}

// column defines a column by its type's name, which is a constant of this file.
func column(name, typ string) iceberg.Column {
	t, err := iceberg.ParseType(typ)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return iceberg.Column{Name: name, Type: t}
}

// withDefault gives a column its write default.
func withDefault(c iceberg.Column, value any) iceberg.Column {
	c.Default = value
	return c
}

// required makes a column one without nulls.
func required(c iceberg.Column) iceberg.Column {
	c.Required = true
	return c
}

// VectorsSpec defines the table of trades. Trades without an asset class, a
// region or a weight get the columns' defaults; var_contribution is left to
// the jobs that know it.
func VectorsSpec() iceberg.TableSpec {
	return iceberg.TableSpec{
		Columns: []iceberg.Column{
			column("trade_id", "string"),
			column("book_id", "string"),
			column("desk", "string"),
			withDefault(column("asset_class", "string"), "UNKNOWN"),
			column("execution_time", "string"),
			column("pricing_vector", "variant"),
			withDefault(column("var_contribution", "double"), 0.0),
			withDefault(column("risk_weight", "double"), 1.0),
			column("trade_date", "date"),
			withDefault(column("region", "string"), "EMEA"),
		},
		Partition:  []iceberg.PartitionField{{Source: "trade_date"}, {Source: "asset_class"}},
		Properties: mergeOnRead(),
	}
}

// SummarySpec defines the table of daily figures by desk and asset class:
// number of trades, sum and maximum of their 99 % value at risk, and the sums
// of two sensitivities.
func SummarySpec() iceberg.TableSpec {
	return iceberg.TableSpec{
		Columns: []iceberg.Column{
			required(column("trade_date", "date")),
			required(column("desk", "string")),
			required(column("asset_class", "string")),
			required(column("trade_count", "bigint")),
			required(column("total_var99", "double")),
			required(column("worst_var99", "double")),
			required(column("total_delta", "double")),
			required(column("total_dv01", "double")),
		},
		Properties: mergeOnRead(),
	}
}
